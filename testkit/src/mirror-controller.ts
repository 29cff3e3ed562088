/**
 * A small but honest controller for tests of the kit: it keeps, for every ConfigMap labelled `mirror: "yes"`, a copy
 * named `<name>-copy` with the same data, and removes copies whose original is gone or no longer labelled.
 *
 * It uses what real controllers use (an informer with an index, a queue, writes with preconditions), so that a run of
 * it on one API server can be compared with a run on another.
 */
import type { KubeObject, ObjectKey, Resource } from "@lifeboat/api";
import {
  type Client,
  createController,
  createManager,
  done,
  Informer,
  type KitPorts,
  type Outcome,
  type Service,
  watching,
} from "@lifeboat/kit";

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const configMaps: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

const SUFFIX = "-copy";
const LABEL = "mirror";

const isOriginal = (object: ConfigMap): boolean => object.metadata.labels?.[LABEL] === "yes";
const isCopy = (object: ConfigMap): boolean => object.metadata.labels?.[LABEL] === "copy";

/** The original's key, whether the original or its copy changed. */
function originalKey(object: ConfigMap | undefined): readonly ObjectKey[] {
  if (object === undefined) return [];
  const { name, namespace = "" } = object.metadata;
  return [{ namespace, name: isCopy(object) ? name.slice(0, -SUFFIX.length) : name }];
}

export interface Mirror extends Service {
  readonly informer: Informer<ConfigMap>;
}

export function createMirror(ports: KitPorts, client: Client, namespace: string): Mirror {
  const informer = new Informer(ports, client, configMaps, {
    namespace,
    indexes: { role: (object) => [object.metadata.labels?.[LABEL] ?? "none"] },
  });
  const reconcile = async (key: ObjectKey): Promise<Outcome> => {
    const original = informer.get(key);
    const copy = informer.get({ ...key, name: key.name + SUFFIX });
    const wanted = original !== undefined && isOriginal(original);
    if (!wanted) await removeCopy(client, copy);
    else if (copy === undefined) await createCopy(client, original);
    else if (JSON.stringify(copy.data) !== JSON.stringify(original.data)) {
      await client.update(configMaps, withData(copy, original.data));
    }
    return done;
  };
  const controller = createController(ports, {
    name: "mirror",
    concurrency: 4,
    watches: [watching(informer, (old, now) => originalKey(now ?? old))],
    reconcile,
  });
  const manager = createManager(ports, [informer, controller]);
  return { name: "mirror", informer, run: (signal) => manager.run(signal) };
}

function withData(copy: ConfigMap, data: ConfigMap["data"]): ConfigMap {
  const { data: _old, ...rest } = copy;
  return data === undefined ? rest : { ...rest, data };
}

async function createCopy(client: Client, original: ConfigMap): Promise<void> {
  const { name, namespace = "" } = original.metadata;
  await client.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: name + SUFFIX, namespace, labels: { [LABEL]: "copy" } },
    ...(original.data === undefined ? {} : { data: original.data }),
  });
}

async function removeCopy(client: Client, copy: ConfigMap | undefined): Promise<void> {
  if (copy === undefined || !isCopy(copy)) return;
  const { name, namespace = "", uid } = copy.metadata;
  await client.delete(configMaps, { name, namespace }, { preconditions: { uid } });
}

/** What a namespace holds, without what differs from server to server. */
export async function readContent(
  client: Client,
  namespace: string,
): Promise<Readonly<Record<string, ConfigMap["data"]>>> {
  const { items } = await client.list(configMaps, { namespace });
  const entries = items.map((item) => [item.metadata.name, item.data] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Creates, changes, unlabels and deletes originals, one after another. */
export async function driveOriginals(client: Client, namespace: string): Promise<void> {
  const create = (name: string, value: string): Promise<ConfigMap> =>
    client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, labels: { [LABEL]: "yes" } },
      data: { value },
    });
  const patch = (
    name: string,
    body: Readonly<Record<string, never>> | object,
  ): Promise<ConfigMap> =>
    client.patch(configMaps, { namespace, name }, { type: "merge", body: body as never });
  for (let i = 0; i < 8; i++) await create(`item-${i}`, `first-${i}`);
  for (let i = 0; i < 8; i += 2) await patch(`item-${i}`, { data: { value: `second-${i}` } });
  await patch("item-3", { metadata: { labels: { [LABEL]: null } } });
  await patch("item-4", { data: null });
  await client.delete(configMaps, { namespace, name: "item-5" });
  await client.delete(configMaps, { namespace, name: "item-6" });
  await create("item-6", "again");
}

/** What `driveOriginals` and the mirror must end in, on every API server. */
export const expectedContent: Readonly<Record<string, ConfigMap["data"]>> = Object.freeze({
  "item-0": { value: "second-0" },
  "item-0-copy": { value: "second-0" },
  "item-1": { value: "first-1" },
  "item-1-copy": { value: "first-1" },
  "item-2": { value: "second-2" },
  "item-2-copy": { value: "second-2" },
  "item-3": { value: "first-3" },
  "item-4": undefined,
  "item-4-copy": undefined,
  "item-6": { value: "again" },
  "item-6-copy": { value: "again" },
  "item-7": { value: "first-7" },
  "item-7-copy": { value: "first-7" },
});
