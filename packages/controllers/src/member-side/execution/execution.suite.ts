/** What tests of execution share: Works as rendering makes them, and how many writes happened. */
import type { AnyObject, New, Work } from "@lifeboat/api";
import { executionNamespace, workName } from "@lifeboat/core/propagation/rendering";
import type { Fleet } from "../../../../../testkit/src/fleet.ts";
import { configMap, resources } from "../../../../../testkit/src/objects.ts";

/** Where the Works of the member `m1` are. */
export const ES = executionNamespace("m1");
const FINALIZER = "karmada.io/execution-controller";

/** The name of the Work that holds an object. */
export function nameOf({ kind, metadata }: New<AnyObject>): string {
  return workName({
    kind: String(kind),
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
  });
}

/** A manifest with the marks that rendering puts on it. */
export function marked(manifest: New<AnyObject>, resolution = "abort", es = ES): New<AnyObject> {
  const { labels, annotations } = manifest.metadata;
  return {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...labels, "karmada.io/managed": "true" },
      annotations: {
        ...annotations,
        "work.karmada.io/namespace": es,
        "work.karmada.io/name": nameOf(manifest),
        "work.karmada.io/conflict-resolution": resolution,
        "resourcetemplate.karmada.io/uid": "template-uid",
        "resourcetemplate.karmada.io/generation": "1",
      },
    },
  };
}

/** A Work of one manifest. */
export function workOf(
  manifest: New<AnyObject>,
  spec: Partial<Work["spec"]> = {},
  es = ES,
): New<Work> {
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { namespace: es, name: nameOf(manifest), finalizers: [FINALIZER] },
    spec: { workload: { manifests: [manifest] }, ...spec },
  };
}

/** The versions of the control plane and of a member: nothing was written while they stay. */
async function versions(fleet: Fleet): Promise<readonly string[]> {
  const clients = [fleet.plane, fleet.member("m1").client];
  return Promise.all(
    clients.map(async (client) => {
      const made = await client.create(resources.configMaps, configMap("probe"));
      await client.delete(resources.configMaps, { namespace: "default", name: "probe" });
      return made.metadata.resourceVersion;
    }),
  );
}

/** How many writes happen on both sides while this passes. */
export async function writesDuring(fleet: Fleet, pass: () => Promise<void>): Promise<number> {
  const before = await versions(fleet);
  await pass();
  const after = await versions(fleet);
  // The probe itself is two writes on each side: it is created and deleted.
  return after.reduce((sum, version, i) => sum + Number(version) - Number(before[i]) - 2, 0);
}
