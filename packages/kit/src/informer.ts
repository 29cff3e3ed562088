/**
 * An informer keeps a copy of one collection, follows its changes and calls its handlers.
 *
 * It reads the collection once (a consistent list in pages, or a streaming list where asked for), then watches from the
 * version of that list. A watch that ends is resumed from the last version seen; only when the server no longer knows
 * that version (410) is the collection read again, and what vanished meanwhile is reported as gone.
 *
 * 1. Handlers see every object's states in order, never a state twice, and never one older than the last.
 * 2. After a complete read the copy holds exactly what the server held at that version.
 * 3. The copy never goes back in time: a list older than what was seen is not taken in but asked for again. A server that
 *    answers nothing newer for a whole minute was set up from scratch, or gave out versions that it did not have: then its
 *    list counts.
 * 4. The informer owns its index; the objects are shared and frozen.
 * 5. `synced` turns true after the first complete read and stays true; a broken connection leaves the copy as it is.
 *
 * 6. Servers are not trusted to answer sensibly: what is no list and no object is a failure like any other, and so is more
 *    than `limits` allow. The copy then stays as it is.
 * 7. A server that does not know the version of a watch need not report it: one that was set up from scratch, or that gave
 *    out versions which it did not have, sends nothing, or older versions. So a watch that brought an older one, or nothing
 *    at all for longer than bookmarks take, is followed by a list; and one after a failure ends soon enough to find that
 *    out.
 * 8. A server that takes a streaming list for an ordinary watch never ends it: it is listed in pages.
 *
 * Pauses after failures: base 100 ms, cap 30 s, jitter from Random; a Retry-After of the server is kept to.
 */
import {
  formatKey,
  keyOf,
  type KubeList,
  type KubeObject,
  type ObjectKey,
  qualifiedName,
  Refused,
  type Resource,
  type Status,
  type WatchEvent,
} from "@lifeboat/api";
import { type Cancel, deepFreeze, sleep, unreachable } from "@lifeboat/base";
import { Backoff } from "./backoff.ts";
import {
  type Client,
  excessIn,
  ExcessiveResponse,
  NotSent,
  type Selection,
  type Watch,
  type WatchEnd,
} from "./client.ts";
import { informerLists, informerObjects } from "./kit-metrics.ts";
import type { Counter, Gauge } from "./metrics.ts";
import { type IndexFunction, ObjectIndex } from "./object-index.ts";
import type { KitPorts, Service } from "./ports.ts";

/** How much a server that is not trusted may put into the copy. */
export interface CollectionLimits {
  readonly maxObjects: number;
  /** Of all objects together, as estimated by `sizeOf`; absent: not counted. */
  readonly maxBytes?: number;
  /** Objects per page of a list; pages become smaller while they are too large for the client. */
  readonly pageSize: number;
  /** Called when the collection exceeds these limits. */
  tell(excess: ExcessiveResponse): void;
}

export interface InformerOptions<T extends KubeObject> extends Selection {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Makes objects smaller before they are kept. It must keep kind, apiVersion and the identity in metadata. */
  readonly transform?: (object: T) => T;
  /** Ask for a streaming list first; a server that refuses it is listed in pages. */
  readonly streamingList?: boolean;
  /** Objects per page of a list. */
  readonly pageSize?: number;
  /** Absent: the server is trusted. */
  readonly limits?: CollectionLimits;
}

/** Called after the copy changed. `old` is absent for an object that is new, `now` for one that is gone. */
export type ChangeHandler<T extends KubeObject> = (old: T | undefined, now: T | undefined) => void;

const BACKOFF = { baseMs: 100, capMs: 30_000 };
const PAGE_SIZE = 1000;
/** The smallest page that is tried: some of the largest objects that Kubernetes stores. */
const SMALLEST_PAGE = 4;
/** What an empty page counts as: there may be some, but a list of many has no end. */
const EMPTY_PAGE = 10;
/** A watch is renewed after a random time between these, so that servers can be drained and load spreads. */
const SHORTEST_WATCH_S = 300;
const LONGEST_WATCH_S = 600;
/** A watch after a failure; servers send a bookmark about every minute. */
const DOUBTED_WATCH_S = 100;
const SILENT_MS = 90_000;
/** A watch that lived this long was a working one: the next pause is short again. */
const STEADY_MS = 10_000;
/** A watch that ended in order sooner than this without an event is taken for a failing server. */
const TOO_SHORT_MS = 1000;

/** A streaming list that brings nothing for so long, or has no end after so long, comes from a server that sends changes alone. */
const SILENT_STREAM_MS = 5000;
const LONGEST_STREAM_MS = 60_000;

/** After so long a server that answers older states than were seen is believed. */
const SET_UP_ANEW_MS = 60_000;

/** The server answered something that cannot be taken in. */
class Nonsense extends Error {}

/** What to do after a read or a watch has ended. */
type Next = { readonly kind: "resume" | "relist"; readonly pauseMs: number };

export class Informer<T extends KubeObject> implements Service {
  readonly name: string;
  readonly resource: Resource<T>;
  readonly #ports: KitPorts;
  readonly #client: Client;
  readonly #options: InformerOptions<T>;
  readonly #selection: Selection;
  readonly #index: ObjectIndex<T>;
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #backoff: Backoff;
  readonly #lists: Counter<"resource">;
  readonly #objects: Gauge<"resource">;
  #streaming: boolean;
  #pageSize: number;
  /** The size of each object, where it is limited. */
  readonly #sizes = new Map<string, number>();
  #bytes = 0;
  /** The version up to which everything was taken in; undefined: read the collection first. */
  #version: string | undefined;
  /** The newest version ever taken in, which outlives the loss of `#version`. */
  #newest = "0";
  /** Since when every list has been older than that, in monotonic time. */
  #olderSince: number | undefined;
  /** Whether nothing has come since a failure. */
  #isDoubted = false;
  #synced = false;
  #onSynced: (() => void)[] = [];

  constructor(
    ports: KitPorts,
    client: Client,
    resource: Resource<T>,
    options: InformerOptions<T> = {},
  ) {
    this.#ports = ports;
    this.#client = client;
    this.resource = resource;
    this.name = `informer ${qualifiedName(resource)}`;
    this.#options = options;
    this.#selection = selectionOf(options);
    this.#index = new ObjectIndex(options.indexes ?? {});
    this.#streaming = options.streamingList ?? false;
    this.#pageSize = options.limits?.pageSize ?? options.pageSize ?? PAGE_SIZE;
    this.#backoff = new Backoff(ports.random.fork(this.name), BACKOFF);
    this.#lists = ports.metrics.counter(informerLists);
    this.#objects = ports.metrics.gauge(informerObjects);
  }

  /** Whether the copy was complete once. */
  get synced(): boolean {
    return this.#synced;
  }

  /** The version up to which the copy is complete; undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.#synced ? this.#newest : undefined;
  }

  get size(): number {
    return this.#index.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#index.get(formatKey(key));
  }

  list(): readonly T[] {
    return this.#index.list();
  }

  /** The objects for which the declared index function gave this value. */
  byIndex(name: string, value: string): readonly T[] {
    return this.#index.byIndex(name, value);
  }

  /** Reports what the copy holds now (as new), then every change. The answer ends it. A handler must not throw. */
  onChange(handler: ChangeHandler<T>): () => void {
    for (const object of this.#index.list()) handler(undefined, object);
    this.#handlers.add(handler);
    return () => {
      this.#handlers.delete(handler);
    };
  }

  /** Resolves true when the copy is complete, false when the signal aborts first. */
  whenSynced(signal: AbortSignal): Promise<boolean> {
    if (this.#synced) return Promise.resolve(true);
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const onAbort = (): void => {
        resolve(false);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#onSynced.push(() => {
        signal.removeEventListener("abort", onAbort);
        resolve(true);
      });
    });
  }

  /** Follows the collection until the signal aborts. Rejects only when a handler threw. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = await this.#step(signal);
      if (next.kind === "relist") this.#version = undefined;
      if (next.pauseMs > 0) await sleep(this.#ports.clock, next.pauseMs, signal);
    }
  }

  /** Reads the collection when that is due, else watches it until the watch ends. */
  async #step(signal: AbortSignal): Promise<Next> {
    try {
      if (this.#version !== undefined) return await this.#watch(this.#version, signal);
      if (this.#streaming) return await this.#watch(undefined, signal);
      return await this.#readPages(signal);
    } catch (error) {
      if (signal.aborted) return { kind: "resume", pauseMs: 0 };
      if (error instanceof Refused) return this.#refused(error.status);
      if (excessIn(error)?.kind === "ResponseTooLarge")
        this.#pageSize = Math.max(SMALLEST_PAGE, Math.ceil(this.#pageSize / 4));
      if (error instanceof NotSent || error instanceof Nonsense || excessIn(error) !== undefined)
        return this.#failed("listing", error as Error);
      throw error;
    }
  }

  async #readPages(signal: AbortSignal): Promise<Next> {
    const items = new Map<string, T>();
    const limit = this.#pageSize;
    let listed = 0;
    let bytes = 0;
    let page = await this.#client.list(this.resource, { ...this.#selection, limit, signal });
    for (;;) {
      const found = itemsOf(page);
      for (const item of found) {
        const object = this.#shape(item);
        bytes += this.#sizeOf(object);
        items.set(formatKey(keyOf(item)), object);
      }
      listed += found.length || EMPTY_PAGE;
      this.#checkLimits(listed, bytes);
      const token = page.metadata.continue ?? "";
      if (token === "") break;
      page = await this.#client.list(this.resource, {
        ...this.#selection,
        limit,
        continue: token,
        signal,
      });
    }
    return this.#replace(items, page.metadata.resourceVersion);
  }

  #sizeOf(object: T): number {
    return this.#options.limits?.maxBytes === undefined ? 0 : sizeOf(object);
  }

  /** Throws, and reports it, when there is more than the server may put into the copy. */
  #checkLimits(objects: number, bytes: number): void {
    const { limits } = this.#options;
    if (limits === undefined) return;
    const { maxObjects, maxBytes = Infinity } = limits;
    if (objects <= maxObjects && bytes <= maxBytes) return;
    const excess =
      objects > maxObjects
        ? new ExcessiveResponse("TooManyItems", `a collection has more than ${maxObjects} objects`)
        : new ExcessiveResponse(
            "ResponseTooLarge",
            `the objects of a collection have more than ${maxBytes} bytes`,
          );
    limits.tell(excess);
    throw excess;
  }

  /** Takes in a complete read, unless it is older than what is here already. */
  #replace(items: ReadonlyMap<string, T>, version: string): Next {
    if (compareVersions(version, this.#newest) < 0 && this.#isTooEarlyToBelieve()) {
      this.#ports.log.warn("the server answered an older state than was seen, asking again", {
        resource: qualifiedName(this.resource),
        seen: this.#newest,
        answered: version,
      });
      return { kind: "relist", pauseMs: this.#backoff.next() };
    }
    this.#olderSince = undefined;
    this.#isDoubted = false;
    for (const key of this.#index.keys()) if (!items.has(key)) this.#remove(key);
    for (const [key, object] of items) this.#put(key, object);
    this.#advance(version);
    this.#lists.add(1, { resource: qualifiedName(this.resource) });
    this.#objects.set(this.#index.size, { resource: qualifiedName(this.resource) });
    if (!this.#synced) this.#announceSynced();
    return { kind: "resume", pauseMs: 0 };
  }

  #isTooEarlyToBelieve(): boolean {
    const now = this.#ports.clock.monotonic();
    this.#olderSince ??= now;
    return now - this.#olderSince < SET_UP_ANEW_MS;
  }

  #announceSynced(): void {
    this.#synced = true;
    const waiting = this.#onSynced;
    this.#onSynced = [];
    for (const resolve of waiting) resolve();
  }

  /** Watches from `version`; without one, as a streaming list that replaces the copy at its end. */
  #watch(version: string | undefined, signal: AbortSignal): Promise<Next> {
    const started = this.#ports.clock.monotonic();
    let initial: Map<string, T> | undefined = version === undefined ? new Map() : undefined;
    let events = 0;
    return new Promise((resolve, reject) => {
      let watch: Watch | undefined;
      let failed = false;
      /** Set by a streaming list that was too old, to override the end that stopping it brings. */
      let overridden: Next | undefined;
      const { clock } = this.#ports;
      let lastAt = started;
      let stopWaiting: Cancel = () => undefined;
      const awaitInitial = (): void => {
        const until = Math.min(lastAt + SILENT_STREAM_MS, started + LONGEST_STREAM_MS);
        if (initial === undefined || overridden !== undefined) return;
        if (until > clock.monotonic()) {
          stopWaiting = clock.after(until - clock.monotonic(), awaitInitial);
          return;
        }
        overridden = this.#listInPages();
        watch?.stop();
      };
      awaitInitial();
      const onAbort = (): void => watch?.stop();
      const fail = (error: unknown): void => {
        failed = true;
        watch?.stop();
        // oxlint-disable-next-line prefer-promise-reject-errors -- what a handler threw is passed on as it is
        reject(error);
      };
      const event = (event: WatchEvent<T>): void => {
        if (failed || overridden !== undefined || signal.aborted) return;
        try {
          events += 1;
          lastAt = clock.monotonic();
          if (initial === undefined && isOlder(event, version)) {
            overridden = this.#unknownVersion();
            watch?.stop();
          } else if (initial === undefined) this.#take(event);
          else if (event.type === "DELETED")
            initial.delete(formatKey(keyOf(objectOf(event.object))));
          else if (event.type !== "BOOKMARK") {
            this.#checkLimits(initial.size + 1, 0);
            initial.set(formatKey(keyOf(objectOf(event.object))), this.#shape(event.object));
          } else if (event.initialEventsEnd) {
            const next = this.#replace(initial, event.resourceVersion);
            initial = undefined;
            if (next.kind === "relist") {
              overridden = next;
              watch?.stop();
            }
          }
        } catch (error) {
          const excess = excessIn(error);
          if (excess !== undefined) {
            // Only a list shows whether it is still too much.
            overridden = { kind: "relist", pauseMs: this.#failed("watching", excess).pauseMs };
            watch?.stop();
            return;
          }
          if (!(error instanceof Nonsense)) return fail(error);
          // What it was about is not known: only a list shows what the copy lacks now.
          overridden = { kind: "relist", pauseMs: this.#failed("watching", error).pauseMs };
          watch?.stop();
        }
      };
      const end = (why: WatchEnd): void => {
        stopWaiting();
        signal.removeEventListener("abort", onAbort);
        if (overridden !== undefined) resolve(overridden);
        else if (signal.aborted) resolve({ kind: "resume", pauseMs: 0 });
        else resolve(this.#ended(why, this.#ports.clock.monotonic() - started, events));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      watch = this.#client.watch(this.resource, this.#watchOptions(version), { event, end });
      if (signal.aborted || failed) watch.stop();
    });
  }

  #watchOptions(version: string | undefined) {
    const spread = this.#ports.random.below(LONGEST_WATCH_S - SHORTEST_WATCH_S);
    const common = {
      ...this.#selection,
      allowWatchBookmarks: true,
      timeoutSeconds: this.#isDoubted ? DOUBTED_WATCH_S : SHORTEST_WATCH_S + spread,
    };
    return version === undefined
      ? { ...common, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" as const }
      : { ...common, resourceVersion: version };
  }

  #take(event: WatchEvent<T>): void {
    const version = versionIn(event);
    // A repeated event brings nothing new, and an old one would take the copy back in time.
    if (compareVersions(version, this.#newest) <= 0) return;
    if (event.type !== "BOOKMARK") {
      const key = formatKey(keyOf(event.object));
      if (event.type === "DELETED") this.#remove(key);
      else {
        const object = this.#shape(event.object);
        this.#checkRoom(key, object);
        this.#put(key, object);
      }
    }
    this.#advance(version);
  }

  #ended(why: WatchEnd, livedMs: number, events: number): Next {
    if (livedMs >= STEADY_MS) this.#backoff.reset();
    this.#objects.set(this.#index.size, { resource: qualifiedName(this.resource) });
    switch (why.kind) {
      case "refused":
        return this.#refused(why.status);
      case "lost":
        return this.#failed("watching", why.error);
      case "closed":
        if (events === 0 && livedMs < TOO_SHORT_MS)
          return this.#failed("watching", new Error("the watch ended at once"));
        if (events === 0 && livedMs >= SILENT_MS) return this.#unknownVersion();
        this.#isDoubted = false;
        return { kind: "resume", pauseMs: 0 };
      default:
        return unreachable(why);
    }
  }

  #unknownVersion(): Next {
    this.#ports.log.info(
      "the server does not seem to know the version to resume from, listing again",
      {
        resource: qualifiedName(this.resource),
      },
    );
    return { kind: "relist", pauseMs: this.#backoff.next() };
  }

  #refused(status: Status): Next {
    const { code, reason, message } = status;
    const fields = { resource: qualifiedName(this.resource), code, reason, message };
    if (code === 410) {
      this.#ports.log.info("the version to resume from is gone, listing again", fields);
      return { kind: "relist", pauseMs: this.#backoff.next() };
    }
    if (
      this.#version === undefined &&
      this.#streaming &&
      code >= 400 &&
      code < 500 &&
      code !== 429
    ) {
      return this.#listInPages(fields);
    }
    this.#ports.log.warn("the server refuses to list or watch", fields);
    this.#isDoubted = true;
    const asked = (status.details?.retryAfterSeconds ?? 0) * 1000;
    // 400 and 504 mean that the server cannot make sense of the version; everything else leaves it good.
    const kind = code === 400 || code === 504 ? "relist" : "resume";
    return { kind, pauseMs: Math.max(asked, this.#backoff.next()) };
  }

  #listInPages(
    fields: Readonly<Record<string, unknown>> = { resource: qualifiedName(this.resource) },
  ): Next {
    this.#ports.log.info("the server gives no streaming list, listing in pages", fields);
    this.#streaming = false;
    return { kind: "relist", pauseMs: 0 };
  }

  #failed(doing: string, error: Error): Next {
    const pauseMs = this.#backoff.next();
    this.#isDoubted = true;
    this.#ports.log.debug("lost the server", {
      resource: qualifiedName(this.resource),
      doing,
      pauseMs,
      error: error.message,
    });
    return { kind: "resume", pauseMs };
  }

  #shape(object: T): T {
    const { transform } = this.#options;
    if (transform === undefined) return object;
    try {
      return deepFreeze(transform(object));
    } catch (error) {
      throw new Nonsense(`an object cannot be read: ${String(error)}`);
    }
  }

  #put(key: string, object: T): void {
    const old = this.#index.get(key);
    if (old === undefined) {
      this.#resize(key, this.#sizeOf(object));
      this.#index.put(key, object);
      this.#tell(undefined, object);
      return;
    }
    if (old.metadata.uid !== object.metadata.uid) {
      // Deleted and created again without an event in between: two changes, not one.
      this.#remove(key);
      this.#put(key, object);
      return;
    }
    if (old.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#resize(key, this.#sizeOf(object));
    this.#index.put(key, object);
    this.#tell(old, object);
  }

  /** Throws when the limits have no room for an object. */
  #checkRoom(key: string, object: T): void {
    if (this.#options.limits === undefined) return;
    const isNew = this.#index.get(key) === undefined;
    const bytes = this.#bytes + this.#sizeOf(object) - (this.#sizes.get(key) ?? 0);
    this.#checkLimits(this.#index.size + (isNew ? 1 : 0), bytes);
  }

  #resize(key: string, size: number): void {
    if (this.#options.limits?.maxBytes === undefined) return;
    this.#bytes += size - (this.#sizes.get(key) ?? 0);
    if (size === 0) this.#sizes.delete(key);
    else this.#sizes.set(key, size);
  }

  #remove(key: string): void {
    const old = this.#index.get(key);
    if (old === undefined) return;
    this.#index.remove(key);
    this.#resize(key, 0);
    this.#tell(old, undefined);
  }

  #tell(old: T | undefined, now: T | undefined): void {
    for (const handler of this.#handlers) handler(old, now);
  }

  #advance(version: string): void {
    this.#version = version;
    this.#newest = version;
  }
}

/** What a value that holds nothing, or the marks around what it holds, takes at most. */
const MARKS = 8;

/** About what a value takes as JSON. Values that come from a Client are not nested without end. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + MARKS;
  if (typeof value !== "object" || value === null) return MARKS;
  let size = MARKS;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item);
  else
    for (const key in value)
      size += key.length + MARKS + sizeOf((value as Readonly<Record<string, unknown>>)[key]);
  return size;
}

/**
 * Orders two resourceVersions of one server. They are decimal integers without leading zeros on every server whose
 * versions may be compared at all; among others, a longer text counts as newer, which errs on the side of taking it in.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

function versionIn<T extends KubeObject>(event: WatchEvent<T>): string {
  return event.type === "BOOKMARK"
    ? event.resourceVersion
    : objectOf(event.object).metadata.resourceVersion;
}

/** Whether a watch from this version cannot have had such an event. */
function isOlder<T extends KubeObject>(event: WatchEvent<T>, version: string | undefined): boolean {
  return version !== undefined && compareVersions(versionIn(event), version) < 0;
}

/** The items of a page, each of which is an object; throws Nonsense. */
function itemsOf<T extends KubeObject>(page: KubeList<T>): readonly T[] {
  const { items, metadata } = (page ?? {}) as Partial<KubeList<T>>;
  if (!Array.isArray(items) || typeof metadata?.resourceVersion !== "string")
    throw new Nonsense("the server answered something that is no list");
  return items.map(objectOf);
}

/** The object itself when it has what everything here relies on; throws Nonsense. */
function objectOf<T extends KubeObject>(object: T): T {
  const { metadata } = (object ?? {}) as Partial<KubeObject>;
  const { name, uid, resourceVersion, namespace = "", labels = {} } = metadata ?? {};
  const areTexts = [name, uid, resourceVersion, namespace].every((x) => typeof x === "string");
  if (areTexts && name !== "" && typeof labels === "object") return object;
  throw new Nonsense("the server answered something that is no object");
}

function selectionOf(options: Selection): Selection {
  return {
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
    ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
  };
}
