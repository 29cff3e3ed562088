/**
 * The objects of ours in one member, each kind watched once for as long as a Work needs it.
 *
 * 1. Only what bears our mark is watched; what does not is read from the member itself.
 * 2. A change of an object, and the end of a kind's first list, enqueues the Works that hold it.
 * 3. Whose an object is follows from the Works, not from its annotations: those may be gone. An object that no Work holds
 *    and whose annotations name one of this cluster enqueues that Work, which is not there (stray-copies.ts).
 */
import {
  type AnyObject,
  apiVersionOf,
  formatKey,
  type ObjectKey,
  type Resource,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Client, type CollectionLimits, Informer, type KitPorts } from "@lifeboat/kit";
import { keepRunning } from "./keep-running.ts";

/** One object in the member. */
export interface ObjectReference {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

export type Remembered =
  /** What the cache holds, which is complete up to `version`. */
  | { readonly kind: "cached"; readonly object: AnyObject | undefined; readonly version: string }
  /** The first list is under way, since this time by the monotonic clock. */
  | { readonly kind: "unsynced"; readonly since: number };

interface Followed {
  readonly informer: Informer<AnyObject>;
  readonly since: number;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  /** Formatted key of an object to the Works that hold it. */
  readonly owners: Map<string, Set<string>>;
}

/** An object that no Work holds. */
export interface Stray {
  /** The Work that it names. */
  readonly work: string;
  readonly copy: ObjectReference;
  /** By the monotonic clock. */
  readonly seenAt: number;
}

/** Objects of ours are kept whole: per kind, some thirty thousand of them with 8 KiB each. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;
const SELECTOR = `${wellKnown.MANAGED}=true`;

export interface ObjectsSource {
  readonly member: Client;
  /** Where the Works of the member are. */
  readonly namespace: string;
  readonly limits?: CollectionLimits;
}

export class MemberObjects {
  readonly #ports: KitPorts;
  readonly #member: Client;
  readonly #onChange: (work: string) => void;
  readonly #followed = new Map<string, Followed>();
  readonly #held = new Map<string, readonly ObjectReference[]>();
  readonly #strays = new Map<string, Stray>();
  readonly #namespace: string;
  readonly #limits: CollectionLimits | undefined;

  constructor(
    ports: KitPorts,
    { member, namespace, limits }: ObjectsSource,
    onChange: (work: string) => void,
  ) {
    this.#ports = ports;
    this.#member = member;
    this.#limits = limits && { ...limits, maxBytes: MAX_KEPT_BYTES };
    this.#namespace = namespace;
    this.#onChange = onChange;
  }

  /** Watches the objects that a Work holds, in the place of those it held before. */
  follow(work: string, held: readonly ObjectReference[]): void {
    const before = this.#held.get(work) ?? [];
    if (isSame(before, held)) return;
    for (const reference of held) this.#add(work, reference);
    const kept = new Set(held.map(idOf));
    for (const reference of before) if (!kept.has(idOf(reference))) this.#drop(work, reference);
    this.#held.set(work, held);
  }

  /** The Work is gone. */
  forget(work: string): void {
    for (const reference of this.#held.get(work) ?? []) this.#drop(work, reference);
    this.#held.delete(work);
  }

  /** What is known of an object that a Work holds. */
  get({ resource, key }: ObjectReference): Remembered {
    const followed = this.#followed.get(resourceId(resource));
    const version = followed?.informer.resourceVersion;
    if (followed === undefined || version === undefined)
      return { kind: "unsynced", since: followed?.since ?? this.#ports.clock.monotonic() };
    return { kind: "cached", object: followed.informer.get(key), version };
  }

  /** An object that names this Work and that no Work holds. */
  strayOf(work: string): Stray | undefined {
    for (const stray of this.#strays.values()) if (stray.work === work) return stray;
    return undefined;
  }

  /** The Works that hold objects of a kind. */
  worksOf(apiVersion: string, kind: string): readonly string[] {
    for (const { informer, owners } of this.#followed.values())
      if (informer.resource.kind === kind && apiVersionOf(informer.resource) === apiVersion)
        return [...owners.values()].flatMap((works) => [...works]);
    return [];
  }

  /** The Works that hold this object. */
  worksHolding({ resource, key }: ObjectReference): readonly string[] {
    return [...(this.#followed.get(resourceId(resource))?.owners.get(formatKey(key)) ?? [])];
  }

  /** Ends all watches; resolves when they have ended. */
  async stop(): Promise<void> {
    const followed = [...this.#followed.values()];
    this.#followed.clear();
    this.#held.clear();
    this.#strays.clear();
    for (const { stop } of followed) stop.abort();
    await Promise.all(followed.map(({ ended }) => ended));
  }

  #add(work: string, { resource, key }: ObjectReference): void {
    const id = resourceId(resource);
    const followed = this.#followed.get(id) ?? this.#start(id, resource);
    const name = formatKey(key);
    const works = followed.owners.get(name);
    if (works === undefined) followed.owners.set(name, new Set([work]));
    else works.add(work);
    if (this.#strays.size > 0) this.#strays.delete(idOf({ resource, key }));
  }

  #drop(work: string, { resource, key }: ObjectReference): void {
    const id = resourceId(resource);
    const followed = this.#followed.get(id);
    if (followed === undefined) return;
    const name = formatKey(key);
    const works = followed.owners.get(name);
    works?.delete(work);
    if (works?.size === 0) followed.owners.delete(name);
    if (followed.owners.size > 0) return;
    this.#followed.delete(id);
    followed.stop.abort();
  }

  #start(id: string, resource: Resource): Followed {
    const informer = new Informer<AnyObject>(this.#ports, this.#member, resource, {
      labelSelector: SELECTOR,
      transform: withoutManagedFields,
      ...(this.#limits && { limits: this.#limits }),
    });
    const stop = new AbortController();
    const owners = new Map<string, Set<string>>();
    informer.onChange((old, now) => {
      const { namespace = "", name = "" } = (now ?? old)?.metadata ?? {};
      const works = owners.get(formatKey({ namespace, name }));
      if (works === undefined) this.#noteStray({ resource, key: { namespace, name } }, now);
      else for (const work of works) this.#onChange(work);
    });
    const ended = keepRunning(this.#ports, informer, stop.signal);
    const followed = { informer, since: this.#ports.clock.monotonic(), stop, ended, owners };
    this.#followed.set(id, followed);
    void informer.whenSynced(stop.signal).then((synced) => {
      if (synced)
        for (const works of owners.values()) for (const work of works) this.#onChange(work);
    });
    return followed;
  }

  #noteStray(copy: ObjectReference, now: AnyObject | undefined): void {
    const { annotations = {}, deletionTimestamp } = now?.metadata ?? {};
    const work = annotations[wellKnown.WORK_NAME];
    const isHere = annotations[wellKnown.WORK_NAMESPACE] === this.#namespace;
    if (work === undefined || !isHere || deletionTimestamp !== undefined) {
      if (this.#strays.size > 0) this.#strays.delete(idOf(copy));
      return;
    }
    const seenAt = this.#strays.get(idOf(copy))?.seenAt ?? this.#ports.clock.monotonic();
    this.#strays.set(idOf(copy), { work, copy, seenAt });
    this.#onChange(work);
  }
}

function isSame(a: readonly ObjectReference[], b: readonly ObjectReference[]): boolean {
  return (
    a.length === b.length && a.every((item, i) => b[i] !== undefined && idOf(item) === idOf(b[i]))
  );
}

function idOf({ resource, key }: ObjectReference): string {
  return `${resourceId(resource)} ${formatKey(key)}`;
}

function resourceId({ group, version, plural }: Resource): string {
  return `${group}/${version}/${plural}`;
}

/** They are the largest part of many objects, and nothing here reads them. */
function withoutManagedFields(object: AnyObject): AnyObject {
  const { managedFields, ...metadata } = object.metadata as AnyObject["metadata"] & {
    readonly managedFields?: unknown;
  };
  return managedFields === undefined ? object : { ...object, metadata };
}
