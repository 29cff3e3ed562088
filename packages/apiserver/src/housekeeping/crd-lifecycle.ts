/**
 * Looks after CustomResourceDefinitions: accepts their names, establishes them, and when one is deleted removes its
 * objects before it goes.
 *
 * 1. The status is decided by the pure `decideCrdStatus`; here it is only written.
 * 2. The finalizer is taken off only after a live list of the CRD's objects has come back empty.
 * 3. When a CRD goes or changes its names, the CRDs of its group that wait for a name are reconciled again.
 */
import {
  asCrd,
  type CustomResourceDefinition,
  customResourceDefinitions,
  equalJson,
  hasCrdCondition,
  isRefused,
  keptAs,
  type ObjectKey,
  qualifiedName,
} from "@lifeboat/api";
import {
  type Client,
  type Controller,
  type ControllerPorts,
  createController,
  done,
  type Outcome,
} from "@lifeboat/kit";
import { CRD_CLEANUP_FINALIZER, decideCrdStatus } from "../catalog/crd-status.ts";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";
import type { InformerSet } from "./informer-set.ts";

const CRDS = keptAs<CustomResourceDefinition>(customResourceDefinitions);
const TABLE = { table: "apiextensions.k8s.io/customresourcedefinitions" };
const PAGE = 500;

export function createCrdLifecycle(
  ports: ControllerPorts,
  client: Client,
  catalog: Catalog,
  objects: InformerSet,
): Controller {
  const all = (): readonly CustomResourceDefinition[] =>
    (objects.of(TABLE)?.list() ?? []).map(asCrd);
  const find = (name: string): CustomResourceDefinition | undefined => {
    const found = objects.of(TABLE)?.get({ namespace: "", name });
    return found === undefined ? undefined : asCrd(found);
  };
  return createController(ports, {
    name: "crd-lifecycle",
    concurrency: 2,
    watches: [
      objects.watching((resource, old, now) => {
        if (resource.table === TABLE.table)
          return concernedByCrd(old && asCrd(old), now && asCrd(now), all);
        // The last object of a CRD that is being deleted may have gone.
        return resource.custom && now === undefined
          ? [{ namespace: "", name: qualifiedName(resource) }]
          : [];
      }),
    ],
    reconcile: async ({ name }: ObjectKey): Promise<Outcome> => {
      const crd = find(name);
      if (crd === undefined) return done;
      const status = decideCrdStatus(crd, all(), ports.clock.now());
      const current =
        status === crd.status || equalJson(status, crd.status ?? {})
          ? crd
          : await client.update(CRDS, { ...crd, status }, { subresource: "status" });
      if (isHeld(current)) await cleanUp(client, catalog, current);
      return done;
    },
  });
}

function concernedByCrd(
  old: CustomResourceDefinition | undefined,
  now: CustomResourceDefinition | undefined,
  all: () => readonly CustomResourceDefinition[],
): readonly ObjectKey[] {
  const keys: ObjectKey[] = [];
  if (now !== undefined) keys.push({ namespace: "", name: now.metadata.name });
  const names = now?.status?.acceptedNames;
  if (old !== undefined && !equalJson(old.status?.acceptedNames ?? {}, names ?? {}))
    for (const other of all())
      if (other.spec.group === old.spec.group && !hasCrdCondition(other, "NamesAccepted"))
        keys.push({ namespace: "", name: other.metadata.name });
  return keys;
}

function isHeld(crd: CustomResourceDefinition): boolean {
  const { deletionTimestamp, finalizers } = crd.metadata;
  return deletionTimestamp !== undefined && finalizers?.includes(CRD_CLEANUP_FINALIZER) === true;
}

/** Deletes the objects of a CRD, and when none is left takes our finalizer off. */
async function cleanUp(
  client: Client,
  catalog: Catalog,
  crd: CustomResourceDefinition,
): Promise<void> {
  const served = catalog
    .all()
    .find((resource) => resource.custom && qualifiedName(resource) === crd.metadata.name);
  if (served !== undefined && !(await removeObjects(client, served))) return;
  const finalizers = (crd.metadata.finalizers ?? []).filter(
    (name) => name !== CRD_CLEANUP_FINALIZER,
  );
  try {
    await client.update(CRDS, { ...crd, metadata: { ...crd.metadata, finalizers } });
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
}

/** Asks for the deletion of all objects; answers whether none is left. */
async function removeObjects(client: Client, resource: ServedResource): Promise<boolean> {
  const namespaces = new Set<string>();
  let token = "";
  do {
    const page = await client.list(resource, {
      limit: PAGE,
      ...(token !== "" && { continue: token }),
    });
    for (const item of page.items) namespaces.add(item.metadata.namespace ?? "");
    token = page.metadata.continue ?? "";
  } while (token !== "");
  for (const namespace of namespaces)
    await client.deleteCollection(resource, { ...(namespace !== "" && { namespace }) });
  if (namespaces.size === 0) return true;
  const left = await client.list(resource, { limit: 1 });
  return left.items.length === 0;
}
