/**
 * A client that fills in what the kinds of the control plane fill in, before it sends an object: permanent ids, times of
 * taints. Behind a kube-apiserver the webhook does so for every other client; about what this one writes it is not asked
 * (install/webhooks.ts).
 *
 * An update of a record (record-kinds.ts) also resets its managedFields. Nothing here reads them, and no client applies records:
 * without them a record is smaller by a third for every watch, and the API server has no field owners to merge with each write. It
 * keeps them again from the first server-side apply on.
 */
import { type AnyObject, defaultKind, type JsonObject, type KubeObject } from "@lifeboat/api";
import { type Clock, formatTime, type Ids } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";
import { RECORD_KINDS } from "./record-kinds.ts";

export function preparedClient(
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
  client: Client,
): Client {
  const newId = (): string => ids.uid();
  const prepared = <O>(object: O, isNew: boolean): O => {
    const now = formatTime(clock.now());
    // What an update does not name is filled in; what it names stays, as it would with the object as it is stored.
    const old = object as unknown as JsonObject;
    const context = isNew ? { now, newId } : { now, newId, old };
    return defaultKind(object as AnyObject, context) as O;
  };
  return {
    get: (...given) => client.get(...given),
    list: (...given) => client.list(...given),
    watch: (...given) => client.watch(...given),
    read: (...given) => client.read(...given),
    patch: (...given) => client.patch(...given),
    delete: (...given) => client.delete(...given),
    deleteCollection: (...given) => client.deleteCollection(...given),
    create: (resource, object, options) => client.create(resource, prepared(object, true), options),
    update: <T extends KubeObject>(
      ...[resource, object, options]: Parameters<typeof client.update<T>>
    ) =>
      client.update(
        resource,
        options?.subresource === undefined ? withoutOwners(prepared(object, false)) : object,
        options,
      ),
  };
}

/** By one empty entry the API server forgets the owners of all fields; an absent list would keep them. */
const NO_OWNERS = Object.freeze([Object.freeze({})]);

function withoutOwners<O extends KubeObject>(object: O): O {
  if (!RECORD_KINDS.has(object.kind)) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: NO_OWNERS } };
}
