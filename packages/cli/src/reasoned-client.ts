/** A client whose writes carry the reason that a person gave (`--reason`): admission moves it into the history. */
import type { KubeObject } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { isStamped } from "@lifeboat/core/history";
import type { Client } from "@lifeboat/kit";
import type { OptionDefinition } from "./options.ts";

export const reasonOption: OptionDefinition = {
  name: "reason",
  type: "text",
  value: "TEXT",
  commandLineOnly: true,
  help: "Why, for the history",
};

export function reasonedClient(client: Client, reason: string | undefined): Client {
  if (reason === undefined || reason === "") return client;
  const isMeant = (kind: string, subresource: string | undefined): boolean =>
    subresource === undefined && isStamped(kind, "");
  const withReason = <O>(object: O): O => {
    const { metadata } = object as { readonly metadata?: KubeObject["metadata"] };
    const annotations = { ...metadata?.annotations, [wellKnown.REASON]: reason };
    return { ...object, metadata: { ...metadata, annotations } };
  };
  return {
    get: (...given) => client.get(...given),
    list: (...given) => client.list(...given),
    watch: (...given) => client.watch(...given),
    read: (...given) => client.read(...given),
    delete: (...given) => client.delete(...given),
    deleteCollection: (...given) => client.deleteCollection(...given),
    create: (resource, object, options) =>
      client.create(
        resource,
        isMeant(resource.kind, undefined) ? withReason(object) : object,
        options,
      ),
    update: <T extends KubeObject>(
      ...[resource, object, options]: Parameters<typeof client.update<T>>
    ) =>
      client.update(
        resource,
        isMeant(resource.kind, options?.subresource) ? withReason(object) : object,
        options,
      ),
    patch: (resource, key, patch, options) =>
      client.patch(
        resource,
        key,
        patch.type === "merge" && isMeant(resource.kind, options?.subresource)
          ? { ...patch, body: withReason(patch.body) }
          : patch,
        options,
      ),
  };
}
