/**
 * Keeps the catalog in step with the stored CRDs: what is Established is served, and nothing else.
 *
 * The catalog is brought up to date before the write that changed the CRD is answered, because the store tells its
 * watchers first: whoever sees a CRD established can use it.
 */
import { asCrd, hasCrdCondition, type AnyObject } from "@lifeboat/api";
import type { Log } from "@lifeboat/kit";
import type { Store, StoreWatch } from "../store/store.ts";
import type { MutableCatalog } from "./catalog.ts";
import { servedFromCrd } from "./crd.ts";

const TABLE = "apiextensions.k8s.io/customresourcedefinitions";

/** Loads the stored CRDs into the catalog and follows them until the store closes. */
export function followCrds(log: Log, store: Store, catalog: MutableCatalog): StoreWatch {
  const specs = new Map<string, unknown>();
  const show = (object: AnyObject): void => {
    const crd = asCrd(object);
    const { name } = crd.metadata;
    if (!hasCrdCondition(crd, "Established")) return;
    // A status alone changes nothing that is served; new resources would only empty caches.
    if (specs.get(name) === JSON.stringify(crd.spec)) return;
    specs.set(name, JSON.stringify(crd.spec));
    try {
      catalog.setCustom(name, servedFromCrd(crd));
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
          specs.delete(entry.object.metadata.name);
          catalog.removeCustom(entry.object.metadata.name);
        }
        return true;
      },
      end: () => undefined,
    },
  );
}
