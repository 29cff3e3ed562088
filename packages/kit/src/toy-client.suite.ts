/**
 * A tiny collection server behind the whole Client port, for tests that need faults a real server does not give on
 * demand: lost watches, forgotten history, stale lists, refused streaming lists, writes whose outcome is unknown.
 *
 * It keeps objects of any kind by (plural, key), counts versions like a real server, and delivers watch events by
 * microtask. It validates nothing; selectors are not supported.
 */
import {
  alreadyExists,
  type AnyObject,
  apiVersionOf,
  conflict,
  failure,
  formatKey,
  isJsonObject,
  type Json,
  keyOf,
  type KubeList,
  type KubeObject,
  type New,
  notFound,
  type ObjectKey,
  Refused,
  type Resource,
  STALE_VERSION,
  type WatchEvent,
} from "@lifeboat/api";
import { type Clock, deepFreeze, formatTime } from "@lifeboat/base";
import {
  type Client,
  type ListOptions,
  NotSent,
  OutcomeUnknown,
  type Patch,
  type Watch,
  type WatchEnd,
  type WatchOptions,
  type WatchSink,
} from "./client.ts";

interface Change {
  readonly plural: string;
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: AnyObject;
}

interface OpenWatch {
  readonly plural: string;
  readonly sink: WatchSink;
  open: boolean;
}

export type WriteFault = "not sent" | "lost before" | "lost after";

export class ToyClient implements Client {
  readonly #clock: Clock;
  readonly #tables = new Map<string, Map<string, AnyObject>>();
  readonly #watches = new Set<OpenWatch>();
  #history: Change[] = [];
  #version = 100;
  #uids = 0;
  /** Every call, as `verb plural key`, in order. */
  readonly calls: string[] = [];
  /** For how many seconds each watch was asked for. */
  readonly timeouts: (number | undefined)[] = [];
  /** While set, streaming lists are refused with 400. */
  refuseStreaming = false;
  /** While set, streaming lists are taken for watches of what changes from now on. */
  ignoreStreaming = false;
  /** While set, streaming lists have no end of their own: `endInitialEvents` ends them. */
  holdInitialEvents = false;
  /** While set, all calls and watches fail. */
  down = false;
  /** Faults of the next writes, first in first out; undefined: no fault. */
  readonly writeFaults: (WriteFault | undefined)[] = [];
  /** The next lists answer these refusals. */
  readonly listRefusals: Refused[] = [];
  /** While set, lists answer the state of this snapshot. */
  stale:
    | { readonly version: number; readonly tables: Map<string, Map<string, AnyObject>> }
    | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get version(): string {
    return String(this.#version);
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Watches that resume from before now get 410. */
  forgetHistory(): void {
    this.#history = [];
  }

  /** Ends all watches. */
  endWatches(why: WatchEnd): void {
    for (const watch of this.#watches) this.#end(watch, why);
  }

  /** Ends the streaming lists that were held. */
  endInitialEvents(): void {
    this.repeat({ type: "BOOKMARK", resourceVersion: this.version, initialEventsEnd: true });
  }

  /** What `stale` may be set to. */
  snapshot(): { readonly version: number; readonly tables: Map<string, Map<string, AnyObject>> } {
    const tables = new Map([...this.#tables].map(([name, table]) => [name, new Map(table)]));
    return { version: this.#version, tables };
  }

  /** Sends every open watch this event once more. */
  repeat(event: WatchEvent): void {
    for (const watch of this.#watches) this.#deliver(watch, event);
  }

  async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T> {
    this.#called("get", resource, key);
    return this.#must(resource, key) as unknown as T;
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<KubeList<T>> {
    this.#called("list", resource, { namespace: "", name: "" });
    const refusal = this.listRefusals.shift();
    if (refusal !== undefined) throw refusal;
    const from = this.stale ?? { version: this.#version, tables: this.#tables };
    const all = [...(from.tables.get(resource.plural) ?? new Map<string, AnyObject>()).values()];
    const start = Number(options.continue ?? 0);
    const end = start + (options.limit ?? all.length);
    const metadata = {
      resourceVersion: String(from.version),
      ...(end < all.length ? { continue: String(end) } : {}),
    };
    const items = all.slice(start, end) as unknown as T[];
    return { apiVersion: apiVersionOf(resource), kind: `${resource.kind}List`, metadata, items };
  }

  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    sink: WatchSink<T>,
  ): Watch {
    this.calls.push(`watch ${resource.plural} ${options.resourceVersion ?? ""}`);
    this.timeouts.push(options.timeoutSeconds);
    const watch: OpenWatch = {
      plural: resource.plural,
      sink: sink as unknown as WatchSink,
      open: true,
    };
    this.#watches.add(watch);
    queueMicrotask(() => this.#begin(watch, options));
    return { stop: () => this.#end(watch, { kind: "closed" }) };
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: New<T>): Promise<T> {
    const key = keyOf(object);
    this.#called("create", resource, key);
    return this.#faulty(() => {
      if (this.#table(resource).has(formatKey(key))) throw alreadyExists(resource, key.name);
      const metadata = {
        ...object.metadata,
        uid: `uid-${++this.#uids}`,
        creationTimestamp: formatTime(this.#clock.now()),
      };
      return this.#store(resource, "ADDED", { ...object, metadata } as unknown as AnyObject);
    });
  }

  async update<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
    const key = keyOf(object);
    this.#called("update", resource, key);
    return this.#faulty(() => {
      const old = this.#must(resource, key);
      const expected = object.metadata.resourceVersion as string | undefined;
      if (expected !== undefined && expected !== old.metadata.resourceVersion)
        throw conflict(resource, key.name, STALE_VERSION);
      return this.#store(resource, "MODIFIED", object as unknown as AnyObject);
    });
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
  ): Promise<T> {
    this.#called("patch", resource, key);
    if (patch.type !== "merge")
      throw new Refused(failure(415, "UnsupportedMediaType", "merge only"));
    return this.#faulty(() => {
      const merged = merge(this.#must(resource, key) as unknown as Json, patch.body);
      return this.#store(resource, "MODIFIED", merged as unknown as AnyObject);
    });
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
  ): Promise<T | undefined> {
    this.#called("delete", resource, key);
    await this.#faulty(() => this.#store(resource, "DELETED", this.#must(resource, key)));
    return undefined;
  }

  async deleteCollection<T extends KubeObject>(resource: Resource<T>): Promise<KubeList<T>> {
    const list = await this.list(resource);
    for (const item of list.items) await this.delete(resource, keyOf(item));
    return list;
  }

  async read(path: string): Promise<Json> {
    this.calls.push(`read ${path}`);
    throw new Refused(failure(404, "NotFound", "404 page not found"));
  }

  #called(verb: string, resource: Resource<KubeObject>, key: ObjectKey): void {
    this.calls.push(`${verb} ${resource.plural} ${formatKey(key)}`);
    if (this.down) throw new NotSent("the server is down");
  }

  async #faulty<T extends KubeObject>(write: () => AnyObject): Promise<T> {
    const fault = this.writeFaults.shift();
    if (fault === "not sent") throw new NotSent("the network is gone");
    if (fault === "lost before") throw new OutcomeUnknown("the connection broke");
    const object = write();
    if (fault === "lost after") throw new OutcomeUnknown("the connection broke");
    return object as unknown as T;
  }

  #table(resource: Resource<KubeObject>): Map<string, AnyObject> {
    let table = this.#tables.get(resource.plural);
    if (table === undefined) this.#tables.set(resource.plural, (table = new Map()));
    return table;
  }

  #must(resource: Resource<KubeObject>, key: ObjectKey): AnyObject {
    const object = this.#table(resource).get(formatKey(key));
    if (object === undefined) throw notFound(resource, key.name);
    return object;
  }

  #store(resource: Resource<KubeObject>, type: Change["type"], object: AnyObject): AnyObject {
    this.#version += 1;
    const stored = deepFreeze({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(this.#version) },
    });
    const key = formatKey(keyOf(stored));
    if (type === "DELETED") this.#table(resource).delete(key);
    else this.#table(resource).set(key, stored);
    this.#history.push({ plural: resource.plural, version: this.#version, type, object: stored });
    for (const watch of this.#watches)
      if (watch.plural === resource.plural) this.#deliver(watch, { type, object: stored });
    return stored;
  }

  #begin(watch: OpenWatch, options: WatchOptions): void {
    if (!watch.open) return;
    if (this.down) {
      this.#end(watch, { kind: "lost", error: new Error("the server is down") });
      return;
    }
    if (options.sendInitialEvents === true && this.refuseStreaming) {
      this.#end(watch, { kind: "refused", status: failure(400, "BadRequest", "no streaming") });
      return;
    }
    const from = options.resourceVersion;
    if (options.sendInitialEvents === true && this.ignoreStreaming) return;
    if (from === undefined) {
      const objects = this.#tables.get(watch.plural)?.values() ?? [];
      for (const object of objects) watch.sink.event({ type: "ADDED", object });
      const resourceVersion = this.version;
      if (options.sendInitialEvents === true && !this.holdInitialEvents)
        watch.sink.event({ type: "BOOKMARK", resourceVersion, initialEventsEnd: true });
      return;
    }
    if (Number(from) < (this.#history[0]?.version ?? this.#version + 1) - 1) {
      this.#end(watch, { kind: "refused", status: failure(410, "Expired", "too old") });
      return;
    }
    for (const { plural, version, type, object } of this.#history)
      if (plural === watch.plural && version > Number(from)) watch.sink.event({ type, object });
  }

  #deliver(watch: OpenWatch, event: WatchEvent): void {
    queueMicrotask(() => {
      if (watch.open) watch.sink.event(event);
    });
  }

  #end(watch: OpenWatch, why: WatchEnd): void {
    if (!watch.open) return;
    watch.open = false;
    this.#watches.delete(watch);
    queueMicrotask(() => watch.sink.end(why));
  }
}

function merge(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, Json | undefined> = { ...(isJsonObject(target) ? target : {}) };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else if (value !== undefined) result[field] = merge(result[field] ?? {}, value);
  }
  return result;
}
