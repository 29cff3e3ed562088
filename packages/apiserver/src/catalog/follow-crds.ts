/**
 * Keeps the catalog in step with the stored CRDs: what is Established is served, and nothing else.
 *
 * The catalog is brought up to date before the write that changed the CRD is answered, because the store notifies
 * its watchers first: a client that sees a CRD established can use it.
 */
import {
  type AnyObject,
  asCrd,
  type CustomResourceDefinition,
  hasCrdCondition,
} from "@lifeboat/api";
import type { Log } from "@lifeboat/kit";
import type { Store, StoreWatch } from "../store/store.ts";
import type { MutableCatalog } from "./catalog.ts";
import { servedFromCrd } from "./crd.ts";
import type { ServedResource } from "./served-resource.ts";

const TABLE = "apiextensions.k8s.io/customresourcedefinitions";

/** Loads the stored CRDs into the catalog and follows them until the store closes. */
export function followCrds(log: Log, store: Store, catalog: MutableCatalog): StoreWatch {
  const shown = new Map<string, string>();
  const show = (object: AnyObject): void => {
    const crd = asCrd(object);
    const { name } = crd.metadata;
    // Most writes change nothing of what is served, and new resources would only empty caches.
    const looks = appearanceOf(crd);
    if (shown.get(name) === looks) return;
    shown.set(name, looks);
    try {
      const resources = compiledCrd(crd, looks);
      if (resources.length === 0) catalog.removeCustom(name);
      else catalog.setCustom(name, resources);
    } catch (error) {
      log.error("a stored CRD cannot be served", { crd: name, error });
    }
  };
  for (const { object } of store.range(TABLE, {})) show(object);
  return store.watch(
    TABLE,
    { from: store.revision, needsPrevious: false },
    {
      change: ({ type, entry }) => {
        if (type !== "DELETED") show(entry.object);
        else {
          shown.delete(entry.object.metadata.name);
          catalog.removeCustom(entry.object.metadata.name);
        }
        return true;
      },
      end: () => undefined,
    },
  );
}

/**
 * What is served of a CRD, compiled once for all servers of this process: a pure function of how the CRD looks. Servers
 * that start again and again, as in tests, then spend no time on it. Of a hostile number of CRDs only the last are kept.
 */
function compiledCrd(crd: CustomResourceDefinition, looks: string): readonly ServedResource[] {
  const key = `${crd.metadata.name} ${looks}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const resources = servedFromCrd(crd);
  if (compiled.size >= COMPILED_LIMIT) compiled.clear();
  compiled.set(key, resources);
  return resources;
}

const COMPILED_LIMIT = 256;
const compiled = new Map<string, readonly ServedResource[]>();

/** Everything about a CRD that what is served depends on. */
function appearanceOf(crd: CustomResourceDefinition): string {
  const established = hasCrdCondition(crd, "Established");
  const terminating = hasCrdCondition(crd, "Terminating");
  return JSON.stringify([established, terminating, crd.status?.acceptedNames, crd.spec]);
}
