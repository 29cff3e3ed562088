/**
 * A member that lies: what it answers to the control plane is not what it holds.
 *
 *   healthy       workloads say that all they ask for is there and ready
 *   unready       workloads say that nothing is ready
 *   garbage       statuses hold wrong types, impossible numbers, hostile texts and keys
 *   oversize      statuses are hundreds of kilobytes long, or nested without end
 *   nonsense      answers are no objects: no metadata, no versions, no lists
 *   empty         it has nothing, whatever it has
 *   old           every object is as it was when it was first asked for
 *   foreign-uids  objects are others than those that are there
 *   flood         watches tell of objects that change many times a second
 *
 * 1. Only answers are false: what is written is written, and the disk holds the truth.
 * 2. Its versions are far ahead of the true ones, so that every lie is news; who comes with one of them is understood. When
 *    the lie ends, versions seem to go back.
 * 3. Who watches a liar has to list again when the lie begins, and when it ends; that is for the caller to see to.
 * 4. Probes are answered: a member that does not is out of reach, which is another fault.
 */
import {
  type AnyObject,
  failure,
  type KubeList,
  type KubeObject,
  Refused,
  type WatchEvent,
} from "@lifeboat/api";
import type { Cancel, Clock, Random } from "@lifeboat/base";
import type { Client, WatchSink } from "@lifeboat/kit";

export const lies = [
  "healthy",
  "unready",
  "garbage",
  "oversize",
  "nonsense",
  "empty",
  "old",
  "foreign-uids",
  "flood",
] as const;

export type Lie = (typeof lies)[number];

/** How often a flood tells of an object. */
const FLOOD_MS = 100;

/** What was true when something else was said. */
const truths = new WeakMap<object, object>();

/** The answer that a member would have given if it did not lie; every other answer as it is. */
export function truthBehind(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null ? (truths.get(answer) ?? answer) : answer;
}

interface LiarPorts {
  readonly clock: Clock;
  readonly random: Random;
}

/** Who answers in the place of a member for as long as it lies. */
export class Liar {
  readonly #how: Lie;
  readonly #ports: LiarPorts;
  /** By kind and key: what was first answered. */
  readonly #first = new Map<string, AnyObject>();
  /** Two looks at one object find the same lie. */
  readonly #told = new WeakMap<AnyObject, AnyObject>();

  constructor(how: Lie, ports: LiarPorts) {
    this.#how = how;
    this.#ports = ports;
  }

  /** What callers hold instead of the member's own client. */
  over(member: Client): Client {
    const tell = async <T>(call: Promise<T>): Promise<T> => this.#say(await call);
    return {
      get: (...given) => tell(member.get(...given).then((found) => this.#unlessHidden(found))),
      list: async (...given) => this.#listOf(await member.list(...given)),
      create: (...given) => tell(member.create(...given)),
      update: (resource, object, options) => tell(member.update(resource, asHeld(object), options)),
      patch: (...given) => tell(member.patch(...given)),
      delete: (...given) => tell(member.delete(...given)),
      deleteCollection: (...given) => member.deleteCollection(...given),
      read: (...given) => member.read(...given),
      watch: (resource, options, sink) => {
        const toldTo = this.#sinkOf(sink as unknown as WatchSink);
        const { resourceVersion, ...rest } = options;
        const from =
          resourceVersion === undefined ? {} : { resourceVersion: held(resourceVersion) };
        const watch = member.watch(resource, { ...rest, ...from }, toldTo.sink as never);
        if (this.#how === "flood") void this.#begin(member.list(resource, rest), toldTo.sink);
        return {
          stop: () => {
            toldTo.stop();
            watch.stop();
          },
        };
      },
    };
  }

  #unlessHidden<T>(found: T): T {
    if (this.#how === "empty") throw new Refused(failure(404, "NotFound", "it is not there"));
    return found;
  }

  #listOf<T extends KubeObject>(list: KubeList<T>): KubeList<T> {
    const { resourceVersion, ...rest } = list.metadata;
    const metadata = { ...rest, resourceVersion: told(resourceVersion) };
    if (this.#how === "empty") return { ...list, metadata, items: [] };
    if (this.#how === "nonsense" && this.#ports.random.below(4) === 0)
      return NO_LISTS[this.#ports.random.below(NO_LISTS.length)] as KubeList<T>;
    return { ...list, metadata, items: list.items.map((item) => this.#say(item)) };
  }

  #sinkOf(sink: WatchSink): { readonly sink: WatchSink; readonly stop: () => void } {
    if (this.#how === "flood") return this.#floodOf(sink);
    const event = (event: WatchEvent): void => {
      if (event.type === "BOOKMARK")
        sink.event({ ...event, resourceVersion: told(event.resourceVersion) });
      else if (this.#how !== "empty") sink.event({ ...event, object: this.#say(event.object) });
    };
    return { sink: { event, end: (why) => sink.end(why) }, stop: () => undefined };
  }

  /** Tells of something, so that there is something to repeat. */
  async #begin(listing: Promise<KubeList<KubeObject>>, sink: WatchSink): Promise<void> {
    const listed = await listing.catch(() => {
      // A member that cannot list has nothing to repeat.
      return undefined;
    });
    const [object] = listed?.items ?? [];
    if (object !== undefined) sink.event({ type: "MODIFIED", object: object as AnyObject });
  }

  /** Repeats the last object that changed, each time as another one. */
  #floodOf(sink: WatchSink): { readonly sink: WatchSink; readonly stop: () => void } {
    let beat: Cancel | undefined;
    let version = 0;
    let isUp = false;
    const flood = (object: AnyObject): void => {
      beat?.();
      version = Math.max(version, Number(object.metadata.resourceVersion)) + 1;
      isUp = !isUp;
      const metadata = { ...object.metadata, resourceVersion: String(version) };
      const status = isUp ? allReady(object) : NONE_READY;
      sink.event({ type: "MODIFIED", object: Object.freeze({ ...object, metadata, status }) });
      beat = this.#ports.clock.after(FLOOD_MS, () => flood(object));
    };
    const stop = (): void => beat?.();
    return {
      sink: {
        event: (event) => {
          if (event.type === "BOOKMARK") return;
          const object = this.#say(event.object);
          sink.event({ ...event, object });
          if (isWorkload(object)) flood(object);
        },
        end: (why) => {
          stop();
          sink.end(why);
        },
      },
      stop,
    };
  }

  #say<T>(truth: T): T {
    if (truth === undefined || truth === null) return truth;
    const object = truth as unknown as AnyObject;
    const known = this.#told.get(object);
    if (known !== undefined) return known as T;
    const resourceVersion = told(object.metadata.resourceVersion);
    const metadata = { ...object.metadata, resourceVersion };
    const said = this.#lieAbout({ ...object, metadata });
    this.#told.set(object, said);
    truths.set(said, object);
    return said as T;
  }

  #lieAbout(object: AnyObject): AnyObject {
    const { random } = this.#ports;
    switch (this.#how) {
      case "healthy":
        return isWorkload(object) ? { ...object, status: allReady(object) } : object;
      case "unready":
        return isWorkload(object) ? { ...object, status: NONE_READY } : object;
      case "garbage":
        return { ...object, status: GARBAGE[random.below(GARBAGE.length)] };
      case "oversize":
        return { ...object, status: OVERSIZE[random.below(OVERSIZE.length)] };
      case "nonsense":
        return NO_OBJECTS[random.below(NO_OBJECTS.length)]?.(object) as AnyObject;
      case "foreign-uids":
        return { ...object, metadata: { ...object.metadata, uid: `not-${object.metadata.uid}` } };
      case "old":
        return this.#firstOf(object);
      case "empty":
      case "flood":
        return object;
    }
  }

  #firstOf(object: AnyObject): AnyObject {
    const { kind, metadata } = object;
    const id = `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
    const first = this.#first.get(id) ?? object;
    this.#first.set(id, first);
    return { ...first };
  }
}

/** So much further are the versions that are told than those that are held. */
const AHEAD = 1_000_000_000;

function told(version: string): string {
  return String(Number(version) + AHEAD);
}

function held(version: string): string {
  return Number(version) > AHEAD ? String(Number(version) - AHEAD) : version;
}

function asHeld<T extends KubeObject>(object: T): T {
  const resourceVersion = held(object.metadata.resourceVersion);
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function isWorkload({ kind }: AnyObject): boolean {
  return kind === "Deployment" || kind === "StatefulSet" || kind === "Job";
}

/** The status of a workload that has all it asks for. */
function allReady({ metadata, spec }: AnyObject & { readonly spec?: unknown }): object {
  const { replicas = 1, completions = 1 } = (spec ?? {}) as {
    readonly replicas?: number;
    readonly completions?: number;
  };
  return Object.freeze({
    observedGeneration: metadata.generation ?? 1,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    succeeded: completions,
    conditions: [{ type: "Complete", status: "True" }],
  });
}

const NONE_READY = Object.freeze({ observedGeneration: 1, replicas: 1, unavailableReplicas: 1 });

/** Statuses of wrong types, and with what may hurt whoever reads them. */
const GARBAGE: readonly unknown[] = [
  null,
  "ready",
  7,
  [],
  [[[{ conditions: 1 }]]],
  { replicas: -1, readyReplicas: 1e308, availableReplicas: 0.5, updatedReplicas: "3" },
  { replicas: Number.MAX_SAFE_INTEGER, readyReplicas: 2 ** 60, ready: "all" },
  { observedGeneration: "1", conditions: { type: "Ready" }, replicas: [], readyReplicas: {} },
  { conditions: [null, 1, "x", { type: 1, status: [] }, { type: "Complete", status: true }] },
  {
    replicas: "a\nb: c",
    readyReplicas: "-",
    availableReplicas: "x".repeat(200),
    updatedReplicas: { a: 1 },
  },
  JSON.parse('{"__proto__":{"replicas":9,"polluted":true},"constructor":{"prototype":{"x":1}}}'),
  { loadBalancer: { ingress: "everywhere" }, addresses: 4, allocatable: { cpu: "NaN", pods: -1 } },
  { loadBalancer: { ingress: [null, { ip: 3 }] }, capacity: 1, phase: {}, allocatable: "all" },
];

/** Longer than any status has a reason to be. */
const OVERSIZE: readonly unknown[] = [
  { message: "x".repeat(600_000) },
  {
    conditions: Array.from({ length: 5000 }, (_, i) => ({
      type: `T${i}`,
      status: "True",
      message: "y".repeat(100),
    })),
  },
  Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, i])),
  { nested: nested(5000) },
];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = { in: value };
  return value;
}

/** Answers in the place of an object. */
const NO_OBJECTS: readonly ((object: AnyObject) => unknown)[] = [
  (object) => object,
  () => ({}),
  () => ["no"],
  ({ metadata: _metadata, ...rest }) => rest,
  (object) => ({ ...object, metadata: null }),
  ({ metadata: { resourceVersion: _version, ...metadata }, ...rest }) => ({ ...rest, metadata }),
  ({ metadata: { name: _name, ...metadata }, ...rest }) => ({ ...rest, metadata }),
  (object) => ({ ...object, metadata: { ...object.metadata, resourceVersion: 12, uid: [] } }),
  (object) => ({ ...object, metadata: { ...object.metadata, labels: "all", annotations: 3 } }),
  (object) => ({ ...object, spec: "none", data: 1 }),
];

/** Answers in the place of a list. */
const NO_LISTS: readonly unknown[] = [
  {},
  { items: null, metadata: {} },
  { items: {}, metadata: { resourceVersion: 1 } },
  { items: [null, 1, "x", [], {}], metadata: { resourceVersion: "1" } },
];
