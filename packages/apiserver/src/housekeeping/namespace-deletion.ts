/**
 * Empties namespaces that are being deleted, then lets them go.
 *
 * 1. A namespace is finalized only after a live list of every namespaced collection has come back empty.
 * 2. Nothing is deleted before the namespace was read live and is still the one that goes: by an old cache its content would
 *    be that of a new namespace of the same name.
 * 3. While something is left, the namespace's conditions name it, in the words of Kubernetes; the next look comes when
 *    one of the leftovers goes.
 */
import {
  isRefused,
  keptAs,
  type KubeObject,
  namespaces,
  type ObjectKey,
  qualifiedName,
} from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import {
  type Client,
  type Controller,
  type ControllerPorts,
  createController,
  done,
  type Outcome,
} from "@lifeboat/kit";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";
import type { InformerSet } from "./informer-set.ts";
import {
  decideNamespaceConditions,
  type Leftovers,
  type NamespaceCondition,
} from "./namespace-conditions.ts";

interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly NamespaceCondition[];
  };
}

const FINALIZER = "kubernetes";
const TABLE = { table: "/namespaces" };
const PAGE = 500;

export function createNamespaceDeletion(
  ports: ControllerPorts,
  client: Client,
  catalog: Catalog,
  objects: InformerSet,
): Controller {
  const namespaceOf = (name: string): Namespace | undefined =>
    objects.of(TABLE)?.get({ namespace: "", name });
  return createController(ports, {
    name: "namespace-deletion",
    concurrency: 4,
    watches: [
      objects.watching((resource, old, now) => {
        if (resource.plural === "namespaces" && resource.group === "")
          return isTerminating(now) ? [{ namespace: "", name: now?.metadata.name ?? "" }] : [];
        // What goes, or loses a finalizer, may have been the last thing in its way.
        const namespace = old?.metadata.namespace ?? "";
        if (namespace === "" || !isTerminating(namespaceOf(namespace))) return [];
        return [{ namespace: "", name: namespace }];
      }),
    ],
    reconcile: async (key: ObjectKey): Promise<Outcome> => {
      if (!isTerminating(namespaceOf(key.name))) return done;
      const namespace = await read(client, key.name);
      if (namespace === undefined || !isTerminating(namespace)) return done;
      const leftovers = await empty(client, catalog, key.name);
      if (leftovers.length > 0 || (namespace.metadata.finalizers?.length ?? 0) > 0)
        await report(client, namespace, leftovers, ports.clock.now());
      if (leftovers.length === 0) await finalize(client, namespace);
      return done;
    },
  });
}

function isTerminating(namespace: Namespace | undefined): boolean {
  return (
    namespace?.metadata.deletionTimestamp !== undefined &&
    namespace.spec?.finalizers?.includes(FINALIZER) === true
  );
}

/** Deletes all content; answers what is still there afterwards. */
async function empty(
  client: Client,
  catalog: Catalog,
  namespace: string,
): Promise<readonly Leftovers[]> {
  const leftovers: Leftovers[] = [];
  for (const resource of contentOf(catalog)) {
    const some = await client.list(resource, { namespace, limit: 1 });
    if (some.items.length === 0) continue;
    await client.deleteCollection(resource, { namespace, propagationPolicy: "Background" });
    const left = await client.list(resource, { namespace, limit: PAGE });
    if (left.items.length > 0)
      leftovers.push({
        resource: qualifiedName(resource),
        count: left.items.length + (left.metadata.remainingItemCount ?? 0),
        finalizers: left.items.flatMap((item) => item.metadata.finalizers ?? []),
      });
  }
  return leftovers;
}

/** Every namespaced collection, once, whatever the number of its versions. */
function contentOf(catalog: Catalog): readonly ServedResource[] {
  const byTable = new Map<string, ServedResource>();
  for (const resource of catalog.all()) {
    const deletable = resource.namespaced && resource.verbs.includes("deletecollection");
    if (deletable && resource.virtual !== true && !byTable.has(resource.table))
      byTable.set(resource.table, resource);
  }
  return [...byTable.values()];
}

async function report(
  client: Client,
  namespace: Namespace,
  leftovers: readonly Leftovers[],
  now: Instant,
): Promise<void> {
  const before = namespace.status?.conditions ?? [];
  const conditions = decideNamespaceConditions(before, leftovers, formatTime(now));
  if (conditions === before) return;
  await client.update(
    NAMESPACES,
    { ...namespace, status: { ...namespace.status, conditions } },
    { subresource: "status" },
  );
}

/** Takes our finalizer off the namespace as it is now; the server then removes it, unless others hold it. */
async function finalize(client: Client, { metadata: { name, uid } }: Namespace): Promise<void> {
  const namespace = await read(client, name);
  if (namespace?.metadata.uid !== uid) return;
  const finalizers = (namespace.spec?.finalizers ?? []).filter((each) => each !== FINALIZER);
  await client.update(
    NAMESPACES,
    { ...namespace, spec: { ...namespace.spec, finalizers } },
    { subresource: "finalize" },
  );
}

/** The namespace as the server has it; undefined: it has none of this name. */
async function read(client: Client, name: string): Promise<Namespace | undefined> {
  try {
    return await client.get(NAMESPACES, { namespace: "", name });
  } catch (error) {
    if (isRefused(error, "NotFound")) return undefined;
    throw error;
  }
}

const NAMESPACES = keptAs<Namespace>(namespaces);
