/**
 * The garbage collector: carries out ownerReferences, by uid.
 *
 * 1. Nothing is deleted unless a live read has just shown that the owner is not there, or is there with another uid.
 *    An error, an unknown kind or a path that is not served is no such answer.
 * 2. Every deletion carries the uid and the version of the object it was decided on.
 * 3. Work follows changes: an object is reconciled when its owners, its deletion marks or its dependents change.
 *
 * A key names the collection too: `{namespace, name: "deployments.apps:web"}`.
 */
import {
  type AnyObject,
  isRefused,
  keyOf,
  type ObjectKey,
  orNothing,
  type OwnerReference,
  qualifiedName,
} from "@lifeboat/api";
import { assert, unreachable } from "@lifeboat/base";
import {
  type Client,
  type Controller,
  type ControllerPorts,
  createController,
  done,
  type Outcome,
} from "@lifeboat/kit";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";
import {
  type CollectionPlan,
  decideCollection,
  FOREGROUND,
  isMarked,
  ORPHAN,
  type OwnerState,
} from "./decide-collection.ts";
import type { InformerSet, Located } from "./informer-set.ts";

const CONCURRENCY = 8;

export function createGarbageCollector(
  ports: ControllerPorts,
  client: Client,
  catalog: Catalog,
  objects: InformerSet,
): Controller {
  const collector = new Collector(client, catalog, objects);
  return createController(ports, {
    name: "garbage-collector",
    concurrency: CONCURRENCY,
    watches: [objects.watching((resource, old, now) => collector.keys(resource, old, now))],
    reconcile: (key) => collector.reconcile(key),
  });
}

class Collector {
  readonly #client: Client;
  readonly #catalog: Catalog;
  readonly #objects: InformerSet;

  constructor(client: Client, catalog: Catalog, objects: InformerSet) {
    this.#client = client;
    this.#catalog = catalog;
    this.#objects = objects;
  }

  /** The objects that a change concerns. Most changes (status, labels, heartbeats) concern none. */
  keys(
    resource: ServedResource,
    old: AnyObject | undefined,
    now: AnyObject | undefined,
  ): readonly ObjectKey[] {
    if (old !== undefined && now !== undefined && !matters(old, now)) return NOBODY;
    const keys: ObjectKey[] = [];
    if (now !== undefined && isCollectible(now)) keys.push(collectorKey(resource, now));
    const leaving = now === undefined || isMarked(now, FOREGROUND);
    const { uid } = (now ?? old)?.metadata ?? { uid: "" };
    if (leaving && old !== undefined)
      for (const dependent of this.#objects.dependents(uid))
        keys.push(collectorKey(dependent.resource, dependent.object));
    for (const object of [old, now])
      for (const reference of object?.metadata.ownerReferences ?? []) {
        const owner = this.#cachedOwner(reference, object?.metadata.namespace ?? "");
        if (owner !== undefined && isMarked(owner.object, FOREGROUND))
          keys.push(collectorKey(owner.resource, owner.object));
      }
    return keys;
  }

  async reconcile(key: ObjectKey): Promise<Outcome> {
    const found = this.#find(key);
    if (found === undefined) return done;
    const { object } = found;
    const dependents = this.#objects.dependents(object.metadata.uid);
    const deleting = object.metadata.deletionTimestamp !== undefined;
    const owners = deleting ? [] : await this.#ownerStates(found);
    const plan = decideCollection({
      object,
      owners,
      dependents: dependents.map((dependent) => dependent.object),
    });
    await this.#apply(found, dependents, plan);
    return done;
  }

  async #apply(
    { resource, object }: Located,
    dependents: readonly Located[],
    plan: CollectionPlan,
  ): Promise<void> {
    const { uid, resourceVersion, finalizers = [] } = object.metadata;
    switch (plan.kind) {
      case "nothing":
        return;
      case "orphan":
        for (const dependent of dependents) await this.#disown(dependent, uid);
        await this.#patch(
          { resource, object },
          { finalizers: finalizers.filter((f) => f !== ORPHAN) },
        );
        return;
      case "release":
        await this.#patch(
          { resource, object },
          { finalizers: finalizers.filter((name) => name !== plan.finalizer) },
        );
        return;
      case "setOwners":
        await this.#patch({ resource, object }, { ownerReferences: plan.ownerReferences });
        return;
      case "delete":
        await orNothing(
          this.#client.delete(resource, keyOf(object), {
            preconditions: { uid, resourceVersion },
            propagationPolicy: plan.policy,
          }),
        );
        return;
      default:
        unreachable(plan);
    }
  }

  async #disown(dependent: Located, uid: string): Promise<void> {
    const references = dependent.object.metadata.ownerReferences ?? [];
    const kept = references.filter((reference) => reference.uid !== uid);
    await this.#patch(dependent, { ownerReferences: kept });
  }

  /** Writes metadata on exactly the object and the version that were seen. */
  async #patch(
    { resource, object }: Located,
    change:
      | { readonly finalizers: readonly string[] }
      | { readonly ownerReferences: readonly OwnerReference[] },
  ): Promise<void> {
    const { uid, resourceVersion } = object.metadata;
    const body = { metadata: { uid, resourceVersion, ...toJson(change) } };
    await orNothing(this.#client.patch(resource, keyOf(object), { type: "merge", body }));
  }

  #find(key: ObjectKey): Located | undefined {
    const colon = key.name.indexOf(":");
    assert(colon > 0, "a key of the garbage collector names its collection", { key });
    const collection = this.#objects.byName(key.name.slice(0, colon));
    const name = key.name.slice(colon + 1);
    const object = collection?.informer.get({ namespace: key.namespace, name });
    if (collection === undefined || object === undefined) return undefined;
    return { resource: collection.resource, object };
  }

  async #ownerStates({ object }: Located): Promise<readonly OwnerState[]> {
    const states: OwnerState[] = [];
    for (const reference of object.metadata.ownerReferences ?? [])
      states.push(await this.#ownerState(reference, object.metadata.namespace ?? ""));
    return states;
  }

  async #ownerState(reference: OwnerReference, namespace: string): Promise<OwnerState> {
    const cached = this.#cachedOwner(reference, namespace);
    if (cached !== undefined) return isMarked(cached.object, FOREGROUND) ? "leaving" : "present";
    const resource = this.#catalog.findKind(reference.apiVersion, reference.kind);
    if (resource === undefined || (resource.namespaced && namespace === "")) return "present";
    const key = { namespace: resource.namespaced ? namespace : "", name: reference.name };
    try {
      const owner = await this.#client.get(resource, key);
      if (owner.metadata.uid !== reference.uid) return "absent";
      return isMarked(owner, FOREGROUND) ? "leaving" : "present";
    } catch (error) {
      // Only the server's word on this very object counts: a path that is not served also answers 404.
      if (isRefused(error, "NotFound") && error.status.details?.name === reference.name)
        return "absent";
      throw error;
    }
  }

  #cachedOwner(reference: OwnerReference, namespace: string): Located | undefined {
    const resource = this.#catalog.findKind(reference.apiVersion, reference.kind);
    if (resource === undefined) return undefined;
    const key = { namespace: resource.namespaced ? namespace : "", name: reference.name };
    const object = this.#objects.of(resource)?.get(key);
    if (object === undefined || object.metadata.uid !== reference.uid) return undefined;
    return { resource, object };
  }
}

const NOBODY: readonly ObjectKey[] = Object.freeze([]);

function collectorKey(resource: ServedResource, object: AnyObject): ObjectKey {
  const { namespace, name } = keyOf(object);
  return { namespace, name: `${qualifiedName(resource)}:${name}` };
}

/** Whether a change of an object can change what is due. */
function matters(old: AnyObject, now: AnyObject): boolean {
  const before = old.metadata;
  const after = now.metadata;
  return (
    before.deletionTimestamp !== after.deletionTimestamp ||
    (before.ownerReferences !== after.ownerReferences &&
      JSON.stringify(before.ownerReferences) !== JSON.stringify(after.ownerReferences)) ||
    (after.deletionTimestamp !== undefined &&
      JSON.stringify(before.finalizers) !== JSON.stringify(after.finalizers))
  );
}

/** Whether the collector may have something to do with the object itself. */
function isCollectible(object: AnyObject): boolean {
  return (
    (object.metadata.ownerReferences?.length ?? 0) > 0 ||
    isMarked(object, FOREGROUND) ||
    isMarked(object, ORPHAN)
  );
}

function toJson(change: object): Record<string, never> {
  return change as Record<string, never>;
}
