/** The rows "rescheduling" and "workloadrebalancer" on the production composition. */
import {
  type AnyObject,
  clusters,
  type Placement,
  type Resource,
  workloadRebalancers,
} from "@lifeboat/api";
import { deployment, type Fleet, newObject, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import {
  copiesOf,
  labelCluster,
  newClusterPolicy,
  newPolicy,
  openFleet,
  propagate,
  resultOf,
  scale,
  taintCluster,
  WHOLE_FLEET,
} from "./scheduling.suite.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const clusterRoles: Resource = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural: "clusterroles",
  kind: "ClusterRole",
  namespaced: false,
};
const duplicated: Placement = { replicaScheduling: { replicaSchedulingType: "Duplicated" } };
const divided = (more: object = {}): Placement => ({
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    ...more,
  },
});
const dynamic = divided({ weightPreference: { dynamicWeight: "AvailableReplicas" } });
const fixed = divided({
  weightPreference: {
    staticWeightList: ["m1", "m2"].map((name) => ({
      targetCluster: { clusterNames: [name] },
      weight: 1,
    })),
  },
});
const aggregated = divided({ replicaDivisionPreference: "Aggregated" });
const inClusters = (placement: Placement, ...clusterNames: readonly string[]): Placement => ({
  ...placement,
  clusterAffinity: { clusterNames },
});

async function run(name: string, placement: Placement, replicas = 1): Promise<void> {
  const template = deployment(name, { replicas });
  await propagate(fleet, newPolicy(name, placement), resources.deployments, template);
}

async function joinMore(name: string): Promise<void> {
  await fleet.addMember(name);
  await fleet.join(name);
  await fleet.advance("40s");
}

async function unjoin(name: string): Promise<void> {
  await fleet.plane.delete(clusters, { namespace: "", name });
  await fleet.advance("90s");
}

describe("rescheduling: join/unjoin", WHOLE_FLEET, () => {
  it("Duplicated goes to a new cluster on join and leaves on unjoin (Deployment, ClusterRole)", async () => {
    fleet = await openFleet({ m1: {} });
    const role = newObject(clusterRoles, { name: "reader" }, { rules: [] });
    const selector = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };
    await run("web", duplicated);
    await propagate(fleet, newClusterPolicy("reader", {}, selector), clusterRoles, role);
    const seen = async (...members: readonly string[]): Promise<readonly string[]> => [
      Object.keys(await copiesOf(fleet, members, "web")).join(),
      Object.keys(await copiesOf(fleet, members, "reader", clusterRoles)).join(),
    ];
    expect(await seen("m1")).toEqual(["m1", "m1"]);
    await joinMore("m2");
    expect(await seen("m1", "m2")).toEqual(["m1,m2", "m1,m2"]);
    await unjoin("m2");
    expect(await seen("m1", "m2")).toEqual(["m1", "m1"]);
    const { items } = await fleet.plane.list(clusters);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["m1"]);
  });

  it("Divided does not move on join, and moves on unjoin", async () => {
    fleet = await openFleet({ m1: {}, m2: {} });
    await run("web", divided(), 4);
    expect(await copiesOf(fleet, ["m1", "m2"], "web")).toEqual({ m1: 2, m2: 2 });
    await joinMore("m3");
    expect(await copiesOf(fleet, ["m1", "m2", "m3"], "web")).toEqual({ m1: 2, m2: 2 });
    await unjoin("m1");
    const shares = await copiesOf(fleet, ["m1", "m2", "m3"], "web");
    expect(shares["m1"]).toBeUndefined();
    expect((shares["m2"] ?? 0) + (shares["m3"] ?? 0)).toBe(4);
    expect(shares["m2"]).toBeGreaterThanOrEqual(2);
  });
});

describe("rescheduling: label change (PP, CPP)", WHOLE_FLEET, () => {
  it("Duplicated Deployment leaves the cluster whose label no longer matches", async () => {
    const labels = { tier: "gold" };
    fleet = await openFleet({ m1: { labels }, m2: { labels } });
    const placement = {
      ...duplicated,
      clusterAffinity: { labelSelector: { matchLabels: labels } },
    };
    await run("by-policy", placement);
    const selector = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default" };
    const policy = newClusterPolicy("by-cluster-policy", placement, selector);
    await propagate(fleet, policy, resources.deployments, deployment("by-cluster-policy"));
    for (const expected of [["m1", "m2"], ["m1"]]) {
      for (const name of ["by-policy", "by-cluster-policy"])
        expect(Object.keys(await copiesOf(fleet, ["m1", "m2"], name))).toEqual(expected);
      await labelCluster(fleet, "m2", { tier: "iron" });
      await fleet.advance("20s");
    }
  });
});

async function rebalance(name: string, ttlSecondsAfterFinished?: number): Promise<void> {
  await fleet.plane.create(workloadRebalancers, {
    apiVersion: "apps.karmada.io/v1alpha1",
    kind: "WorkloadRebalancer",
    metadata: { name },
    spec: {
      workloads: ["web", "absent"].map((workload) => ({
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "default",
        name: workload,
      })),
      ...(ttlSecondsAfterFinished !== undefined && { ttlSecondsAfterFinished }),
    },
  });
  await fleet.advance("5s");
}
const resultsOf = (rebalancer: AnyObject): unknown =>
  (
    rebalancer as unknown as {
      status?: { observedWorkloads?: readonly { result?: string; reason?: string }[] };
    }
  ).status?.observedWorkloads?.map(({ result, reason }) => reason ?? result);

describe("workloadrebalancer", WHOLE_FLEET, () => {
  it.each([
    ["dynamic", dynamic],
    ["static", fixed],
  ])(
    "%s: cluster tainted -> only second cluster; untaint; WorkloadRebalancer brings it back",
    async (_row, placement) => {
      fleet = await openFleet({ m1: {}, m2: {} });
      await taintCluster(fleet, "m1", [{ key: "work", effect: "NoSchedule" }]);
      await run("web", placement, 4);
      expect(await copiesOf(fleet, ["m1", "m2"], "web")).toEqual({ m2: 4 });
      await taintCluster(fleet, "m1", []);
      await fleet.advance("30s");
      expect(await copiesOf(fleet, ["m1", "m2"], "web")).toEqual({ m2: 4 });
      await rebalance("again");
      expect(await copiesOf(fleet, ["m1", "m2"], "web")).toEqual({ m1: 2, m2: 2 });
      const order = await fleet.plane.get(workloadRebalancers, { namespace: "", name: "again" });
      expect(resultsOf(order as unknown as AnyObject)).toEqual([
        "ReferencedBindingNotFound",
        "Successful",
      ]);
    },
  );

  it("aggregated, ttl: result Successful; auto deletion; a restart in between loses no order", async () => {
    fleet = await openFleet({ m1: {}, m2: {} });
    await run("web", inClusters(aggregated, "m1", "m2"), 3);
    const [first = ""] = Object.keys(await resultOf(fleet, "web"));
    await taintCluster(fleet, first, [{ key: "work", effect: "NoSchedule" }]);
    await fleet.advance("5s");
    await fleet.plane.create(workloadRebalancers, {
      apiVersion: "apps.karmada.io/v1alpha1",
      kind: "WorkloadRebalancer",
      metadata: { name: "once" },
      spec: {
        workloads: [
          { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" },
        ],
        ttlSecondsAfterFinished: 20,
      },
    });
    await fleet.restart();
    await fleet.advance("10s");
    const order = await fleet.plane.get(workloadRebalancers, { namespace: "", name: "once" });
    expect(resultsOf(order as unknown as AnyObject)).toEqual(["Successful"]);
    await fleet.advance("30s");
    expect((await fleet.plane.list(workloadRebalancers)).items).toEqual([]);
    expect(Object.values(await resultOf(fleet, "web")).reduce((all, one) => all + one)).toBe(3);
    await scale(fleet, "web", 2);
    expect(Object.values(await resultOf(fleet, "web")).reduce((all, one) => all + one)).toBe(2);
  });
});
