/** Unjoining takes away exactly what joining made, in order, and never from the wrong cluster. */
import {
  clusterResourceBindings,
  clusters,
  type New,
  type ResourceBinding,
  resourceBindings,
  secrets,
  serviceAccounts,
  type Work,
  works,
} from "@lifeboat/api";
import { newCluster } from "@lifeboat/testkit";
import { wellKnown } from "@lifeboat/core";
import { describe, expect, it } from "vitest";
import { createGround, deathsUntilDone, type Ground, traces } from "./registration.suite.ts";
import { systemObject } from "./resources.ts";
import { loadOf, unjoinCluster, type UnjoinOutcome, type UnjoinRequest } from "./unjoin.ts";

const M1 = { namespace: "", name: "m1" };

async function joined(): Promise<Ground> {
  const ground = await createGround();
  await ground.join();
  await ground.fleet.advance("5s");
  return ground;
}

function unjoin(ground: Ground, changes: Partial<UnjoinRequest> = {}): Promise<UnjoinOutcome> {
  const { plane, clock } = ground;
  return ground.finish(unjoinCluster({ clock }, { plane, name: "m1", ...changes }));
}

function binding(name: string): New<ResourceBinding> {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, namespace: "default" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", name },
      clusters: [{ name: "m1" }],
    },
  };
}

function work(name: string): New<Work> {
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      name,
      namespace: "karmada-es-m1",
      finalizers: ["karmada.io/execution-controller"],
    },
    spec: { workload: { manifests: [] } },
  };
}

/** Of the control plane nothing is left but the namespace that all clusters share. */
const PLANE_EMPTY = ["Namespace /karmada-cluster"];

async function planeTraces({ fleet, plane }: Ground): Promise<readonly string[]> {
  await fleet.advance("30s");
  return (await traces(plane, true)).filter((one) => !one.endsWith("/default"));
}

async function memberTraces({ fleet, member }: Ground): Promise<readonly string[]> {
  await fleet.advance("30s");
  return (await traces(member, false)).filter((one) => !one.endsWith("/default"));
}

describe("unjoinCluster", () => {
  it("leaves nothing behind, here and in the member", async () => {
    const ground = await joined();
    expect(await unjoin(ground, { member: ground.member })).toEqual({ leftInMember: [] });
    expect(await planeTraces(ground)).toEqual(PLANE_EMPTY);
    expect(await memberTraces(ground)).toEqual([]);
    // The member can join again, under any name.
    await ground.join({ name: "again" });
    await ground.fleet.close();
  });

  it("leaves the member alone when nobody asks for it", async () => {
    const ground = await joined();
    const before = await memberTraces(ground);
    await unjoin(ground);
    expect(await planeTraces(ground)).toEqual(PLANE_EMPTY);
    expect(await memberTraces(ground)).toEqual(before);
    // It can be cleaned later, when the Cluster is gone already.
    await unjoin(ground, { member: ground.member });
    expect(await memberTraces(ground)).toEqual([]);
    await ground.fleet.close();
  });

  it.each(["before", "after"] as const)(
    "can be repeated after dying %s each write",
    async (when) => {
      const ground = await joined();
      const deaths = await deathsUntilDone(ground, when, (clients) => unjoin(ground, clients));
      expect(deaths).toBeGreaterThanOrEqual(3);
      expect(await planeTraces(ground)).toEqual(PLANE_EMPTY);
      expect(await memberTraces(ground)).toEqual([]);
      await ground.fleet.close();
    },
  );

  it("takes away what a join left that died before the Cluster was there", async () => {
    const ground = await createGround({ issuesTokens: false });
    await expect(ground.join()).rejects.toThrow(/issued no token/);
    expect(await memberTraces(ground)).not.toEqual([]);
    await unjoin(ground, { member: ground.member });
    expect(await memberTraces(ground)).toEqual([]);
    await ground.fleet.close();
  });

  it("says what it waits for when the time is up, and goes on when it is asked again", async () => {
    const ground = await joined();
    const { plane } = ground;
    await plane.create(resourceBindings, binding("web"));
    const before = ground.clock.monotonic();
    await expect(unjoin(ground, { member: ground.member })).rejects.toThrow(
      /m1 is still leaving after 1m.*1 binding still needs this cluster.*run unjoin again/,
    );
    expect(ground.clock.monotonic() - before).toBeGreaterThanOrEqual(60_000);
    expect(await memberTraces(ground)).not.toEqual([]);
    await plane.delete(resourceBindings, { namespace: "default", name: "web" });
    await unjoin(ground, { member: ground.member });
    expect(await planeTraces(ground)).toEqual(PLANE_EMPTY);
    expect(await memberTraces(ground)).toEqual([]);
    await ground.fleet.close();
  });

  it("by force does not wait for bindings, nor for Works of a member out of reach", async () => {
    const ground = await joined();
    await ground.plane.create(resourceBindings, binding("web"));
    await ground.plane.create(works, work("web"));
    await unjoin(ground, { force: true });
    expect(await planeTraces(ground)).toEqual(PLANE_EMPTY);
    expect((await ground.plane.list(works)).items).toEqual([]);
    await ground.fleet.close();
  });

  it("by force lets go by hand what the control plane holds for too long", async () => {
    const ground = await joined();
    const { plane, fleet } = ground;
    const cluster = await plane.get(clusters, M1);
    const ready = {
      type: "Ready",
      status: "True",
      reason: "T",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    } as const;
    const update = { ...cluster, status: { ...cluster.status, conditions: [ready] } };
    await plane.update(clusters, update, { subresource: "status" });
    // The member seems well, and no controller takes the Work's copy away.
    await plane.create(works, work("web"));
    const before = fleet.clock.monotonic();
    await unjoin(ground, { force: true, waitMs: 10_000 });
    expect(fleet.clock.monotonic() - before).toBeGreaterThanOrEqual(10_000);
    expect(await planeTraces(ground)).toEqual(PLANE_EMPTY);
    await fleet.close();
  });

  it("touches neither cluster when the kubeconfig leads to another one", async () => {
    const ground = await joined();
    const other = await ground.fleet.addMember("other");
    await expect(unjoin(ground, { member: other.client })).rejects.toThrow(
      /leads to another cluster/,
    );
    expect((await ground.plane.get(clusters, M1)).metadata.deletionTimestamp).toBeUndefined();
    await ground.fleet.close();
  });

  it("leaves what others made in the member's namespace", async () => {
    const ground = await joined();
    const metadata = { name: "karmada-other-plane", namespace: "karmada-cluster" };
    await ground.member.create(serviceAccounts, systemObject(serviceAccounts, metadata));
    const { leftInMember } = await unjoin(ground, { member: ground.member });
    expect(leftInMember).toEqual([expect.stringContaining("karmada-other-plane")]);
    expect(await memberTraces(ground)).toEqual([
      "ClusterRole /karmada-impersonator",
      "ClusterRoleBinding /karmada-impersonator",
      "Namespace /karmada-cluster",
      "Secret karmada-cluster/karmada-impersonator",
      "ServiceAccount karmada-cluster/karmada-impersonator",
      "ServiceAccount karmada-cluster/karmada-other-plane",
    ]);
    await ground.fleet.close();
  });

  it("leaves a Secret of the control plane that is not of joining", async () => {
    const ground = await joined();
    const body = { metadata: { labels: { "karmada.io/system": null }, ownerReferences: null } };
    const key = { namespace: "karmada-cluster", name: "m1" };
    await ground.plane.patch(secrets, key, { type: "merge", body });
    await unjoin(ground);
    expect(await planeTraces(ground)).toEqual([...PLANE_EMPTY, "Secret karmada-cluster/m1"]);
    await ground.fleet.close();
  });

  it("refuses a cluster that is not there, and one that joined by itself", async () => {
    const ground = await createGround();
    await expect(unjoin(ground)).rejects.toThrow(/there is no cluster m1/);
    await ground.plane.create(clusters, newCluster("m1", { syncMode: "Pull" }));
    await expect(unjoin(ground)).rejects.toThrow(/registered by itself .*lifeboat unregister m1/);
    await ground.fleet.close();
  });

  it("changes nothing in a dry run", async () => {
    const ground = await joined();
    const before = [await planeTraces(ground), await memberTraces(ground)];
    await unjoin(ground, { member: ground.member, dryRun: true, force: true });
    expect([await planeTraces(ground), await memberTraces(ground)]).toEqual(before);
    const { annotations = {} } = (await ground.plane.get(clusters, M1)).metadata;
    expect(Object.keys(annotations)).toEqual([wellKnown.LAST_ACT]);
    await ground.fleet.close();
  });
});

describe("loadOf", () => {
  it("17.16: counts bindings of both scopes and Works, and names the first few", async () => {
    const ground = await joined();
    const { plane } = ground;
    for (const name of ["a", "b", "c"]) await plane.create(resourceBindings, binding(name));
    const { namespace: _, ...metadata } = binding("role").metadata;
    await plane.create(clusterResourceBindings, {
      ...binding("role"),
      kind: "ClusterResourceBinding",
      metadata,
    });
    await plane.create(works, work("a"));
    expect(await loadOf(plane, "m1")).toEqual({
      bindings: 4,
      examples: ["default/a", "default/b", "default/c"],
      works: 1,
      shares: [],
    });
    expect(await loadOf(plane, "nobody")).toEqual({
      bindings: 0,
      examples: [],
      works: 0,
      shares: [],
    });
    await ground.fleet.close();
  });
});
