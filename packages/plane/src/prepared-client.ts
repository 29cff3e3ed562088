/**
 * A client that fills in what the kinds of the control plane fill in, before it sends an object: permanent ids, times of
 * taints. Behind a kube-apiserver the webhook does so for every client; for what controllers write, it is not waited for
 * when it does not answer (install/webhooks.ts), and then these values are there nevertheless.
 */
import { type AnyObject, defaultKind, type JsonObject, type KubeObject } from "@lifeboat/api";
import { type Clock, formatTime, type Ids } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";

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
        options?.subresource === undefined ? prepared(object, false) : object,
        options,
      ),
  };
}
