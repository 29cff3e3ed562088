/** The two plugins of the control plane in a real server; their rules have tests beside the kinds. */
import { createSeededIds, createRandom, VirtualClock, type Instant } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import {
  type Cluster,
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  clusters,
  controlPlaneKinds,
  crdOf,
  type New,
} from "@lifeboat/api";
import { configMap, createWorld, refusalOf, resources, type World } from "@lifeboat/testkit";
import { beforeAll, describe, expect, it } from "vitest";
import { createKindsAdmission } from "./kinds-admission.ts";
import { deletionProtection } from "./kinds-deletion-protection.ts";

let world: World;

beforeAll(async () => {
  const clock = new VirtualClock(0 as Instant, drainPromises);
  const ids = createSeededIds(createRandom(1));
  const admissionPlugins = [createKindsAdmission({ clock, ids }), deletionProtection];
  world = await createWorld({ admissionPlugins });
  const served: readonly string[] = [clusters.kind, clusterTaintPolicies.kind];
  const wanted = controlPlaneKinds.filter(({ kind }) => served.includes(kind));
  for (const kind of wanted) await world.client.create(resources.crds, crdOf(kind));
  await world.settle();
});

describe("kinds of the control plane", () => {
  const cluster = (name: string): New<Cluster> => ({
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push", taints: [{ key: "a", effect: "NoExecute" }] },
  });

  it("are filled in by the time of the server", async () => {
    const created = await world.client.create(clusters, cluster("a"));
    expect(created.spec.taints?.[0]?.timeAdded).toBe("1970-01-01T00:00:00Z");
  });

  it("are checked on patches too", async () => {
    await world.client.create(clusters, cluster("b"));
    const patch = { type: "merge", body: { spec: { proxyURL: "ftp://x" } } } as const;
    const refused = await refusalOf(
      world.client.patch(clusters, { namespace: "", name: "b" }, patch),
    );
    expect(refused.details?.causes).toMatchObject([{ field: "spec.proxyURL" }]);
  });

  it("are filled in before their schema is asked, however wrong they are", async () => {
    const policy = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterTaintPolicy",
      metadata: { name: "p" },
      spec: { taintsToAdd: "all" },
    } as unknown as New<ClusterTaintPolicy>;
    const refused = await refusalOf(world.client.create(clusterTaintPolicies, policy));
    expect(refused).toMatchObject({
      code: 422,
      details: { causes: [{ field: "spec.taintsToAdd" }] },
    });
  });
});

describe("deletion protection", () => {
  const label = "resourcetemplate.karmada.io/deletion-protected";
  const key = { namespace: "default", name: "kept" };
  const labelled = (value: string | null) =>
    ({ type: "merge", body: { metadata: { labels: { [label]: value } } } }) as const;

  it("keeps an object until its label is taken off", async () => {
    await world.client.create(resources.configMaps, configMap("kept"));
    await world.client.patch(resources.configMaps, key, labelled("Always"));
    const refused = await refusalOf(world.client.delete(resources.configMaps, key));
    expect(refused).toMatchObject({ code: 403, reason: "Forbidden" });
    // The words that clients of the field match (17.16).
    expect(refused.message).toContain(
      `This resource is protected, please make sure to remove the label: ${label}`,
    );
    const all = world.client.deleteCollection(resources.configMaps, { namespace: "default" });
    expect((await refusalOf(all)).code).toBe(403);
    await world.client.patch(resources.configMaps, key, labelled("Sometimes"));
    expect(await world.client.delete(resources.configMaps, key)).toBeUndefined();
  });
});
