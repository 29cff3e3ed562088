/** A cluster that leaves: its workloads are healthy elsewhere before their copies here go (D9, D22). */
import {
  clusters,
  type New,
  type PropagationPolicy,
  propagationPolicies,
  resourceBindings,
  works,
} from "@lifeboat/api";
import { createFleet, deployment, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createControllers, DEFAULT_CONTROLLERS } from "../../src/controllers.ts";
import { unjoinCluster } from "../../src/registration/unjoin.ts";

let fleet: Fleet;
const WEB = { namespace: "default", name: "web" };
const M1 = { namespace: "", name: "m1" };

/** One copy, on one of the clusters named. */
const policy = (...clusterNames: readonly string[]): New<PropagationPolicy> => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "web", namespace: "default" },
  spec: {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
    placement: {
      clusterAffinity: { clusterNames },
      spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
    },
  },
});

beforeEach(async () => {
  fleet = await createFleet({
    members: ["m1", "m2"],
    services: (context) => createControllers(context, DEFAULT_CONTROLLERS),
    member: { startDelayMs: 20_000 },
  });
  await fleet.advance("15s");
});
afterEach(() => fleet.close());

const copiesIn = async (name: string): Promise<number> =>
  (await fleet.member(name).client.list(resources.deployments)).items.length;

describe("a cluster that is deleted", () => {
  it("keeps the last healthy copy until another one is healthy, then leaves with nothing behind", async () => {
    await fleet.plane.create(propagationPolicies, policy("m1", "m2"));
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("40s");
    expect([await copiesIn("m1"), await copiesIn("m2")]).toEqual([1, 0]);
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10s");
    expect([await copiesIn("m1"), await copiesIn("m2")]).toEqual([1, 1]);
    const leaving = await fleet.plane.get(clusters, M1);
    expect(leaving.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Leaving", reason: "WaitingForBindings" }),
    );
    await fleet.restart();
    await fleet.advance("60s");
    expect([await copiesIn("m1"), await copiesIn("m2")]).toEqual([0, 1]);
    expect((await fleet.plane.list(clusters)).items.map(({ metadata }) => metadata.name)).toEqual([
      "m2",
    ]);
    const left = await fleet.plane.list(works, { namespace: "karmada-es-m1" });
    expect(left.items).toEqual([]);
  });

  it("17.11: leaves behind a copy that its policy preserves, without our marks, though a substitute is healthy (D21)", async () => {
    const { spec, ...rest } = policy("m1", "m2");
    const preserving = { ...rest, spec: { ...spec, preserveResourcesOnDeletion: true } };
    await fleet.plane.create(propagationPolicies, preserving);
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("40s");
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("90s");
    expect((await fleet.plane.list(clusters)).items.map(({ metadata }) => metadata.name)).toEqual([
      "m2",
    ]);
    expect([await copiesIn("m1"), await copiesIn("m2")]).toEqual([1, 1]);
    const { metadata } = await fleet.member("m1").client.get(resources.deployments, WEB);
    expect(JSON.stringify([metadata.labels, metadata.annotations])).not.toContain("karmada.io");
  });

  it("17.11: by force leaves behind a copy that its policy preserves, without our marks, and takes the others away (D21)", async () => {
    const { spec, ...rest } = policy("m1");
    const preserving = { ...rest, spec: { ...spec, preserveResourcesOnDeletion: true } };
    await fleet.plane.create(propagationPolicies, preserving);
    const { metadata, ...own } = policy("m1");
    const resourceSelectors = [{ apiVersion: "apps/v1", kind: "Deployment", name: "api" }];
    const removing = {
      ...own,
      metadata: { ...metadata, name: "api" },
      spec: { ...own.spec, resourceSelectors },
    };
    await fleet.plane.create(propagationPolicies, removing);
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.plane.create(resources.deployments, deployment("api"));
    await fleet.advance("40s");
    expect(await copiesIn("m1")).toBe(2);
    // Nothing else can take the workloads: without force the cluster would wait for ever.
    const request = { plane: fleet.plane, name: "m1", force: true };
    const unjoined = unjoinCluster({ clock: fleet.clock }, request);
    await fleet.advance("30s");
    await unjoined;
    const { items } = await fleet.member("m1").client.list(resources.deployments);
    expect(items.map((item) => item.metadata.name)).toEqual(["web"]);
    const left = items.map((item) => [item.metadata.labels, item.metadata.annotations]);
    expect(JSON.stringify(left)).not.toContain("karmada.io");
    // Its template is still there, and so is the copy when that goes: it belongs to the member now.
    await fleet.plane.delete(resources.deployments, WEB);
    await fleet.advance("30s");
    expect(await copiesIn("m1")).toBe(1);
  });

  it("stays while its workload has nowhere else to go", async () => {
    await fleet.plane.create(propagationPolicies, policy("m1"));
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("40s");
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("5m");
    expect(await copiesIn("m1")).toBe(1);
    expect(await fleet.plane.get(clusters, M1)).toBeDefined();
    await fleet.plane.delete(resources.deployments, WEB);
    await fleet.advance("60s");
    expect(await copiesIn("m1")).toBe(0);
    expect((await fleet.plane.list(resourceBindings)).items).toEqual([]);
    expect((await fleet.plane.list(clusters)).items).toHaveLength(1);
  });
});
