/**
 * The examples of the proposals that this control plane carries out: placements after a failure, taint policies, the user
 * stories, and each of the ways to prevent or stop a migration.
 */
import {
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  evacuations,
  type New,
  propagationPolicies,
  resourceBindings,
} from "@lifeboat/api";
import { deployment, type Fleet, oneOf, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import type { ControllersOptions } from "../../src/controllers.ts";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";

let fleet: Fleet;
let hands: Hands;
afterEach(() => fleet.close());

async function open(
  members: readonly string[],
  options: Partial<ControllersOptions> = { failover: true },
): Promise<void> {
  ({ fleet, hands } = await failoverFleet(members, options));
}

async function run(
  name: string,
  placement: object,
  more: object = {},
  replicas = 1,
): Promise<void> {
  await hands.create(
    policyFor({ apiVersion: "apps/v1", kind: "Deployment", name }, { placement, ...more }),
    resources.deployments,
    deployment(name, { replicas }),
  );
}

const result = async (name = "web-deployment"): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries(
    ((await hands.binding(name)).spec.clusters ?? []).map((one) => [one.name, one.replicas ?? 0]),
  );

/** Taints a cluster so many seconds after its Ready condition turned. */
const taintPolicy = (
  effect: "NoExecute" | "PreferNoExecute",
  seconds = 300,
): New<ClusterTaintPolicy> => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterTaintPolicy",
  metadata: { name: "detect-cluster-not-ready" },
  spec: {
    matchConditions: [
      { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
    ],
    taintsToAdd: [
      {
        key: "cluster.karmada.io/not-ready",
        effect,
        addOnMatchSeconds: seconds,
        removeOnMismatchSeconds: 180,
      },
    ],
  },
});

const POLICY = { namespace: "", name: "detect-cluster-not-ready" };

describe("rescheduling", () => {
  it("Duplicated: the healthy cluster stays, and a candidate within the affinity takes the place of the failed one", async () => {
    await open(["member1", "member2", "member3", "member4", "member5"]);
    await run("web", {
      clusterAffinity: { clusterNames: ["member1", "member2", "member3", "member5"] },
      spreadConstraints: [{ maxGroups: 2, minGroups: 2 }],
      replicaScheduling: { replicaSchedulingType: "Duplicated" },
    });
    expect(Object.keys(await result())).toEqual(["member1", "member2"]);
    await hands.taint("member2");
    await fleet.advance("60s");
    const after = Object.keys(await result());
    expect(after).toContain("member1");
    expect(after).toHaveLength(2);
    expect(["member3", "member5"]).toContain(after.find((name) => name !== "member1"));
  });

  it("Divided: the replicas of the failed cluster go to the others", async () => {
    await open(["member1", "member2", "member3"]);
    const rule = (name: string, weight: number): object => ({
      targetCluster: { clusterNames: [name] },
      weight,
    });
    const placement = {
      clusterAffinity: { clusterNames: ["member1", "member2"] },
      replicaScheduling: {
        replicaDivisionPreference: "Weighted",
        replicaSchedulingType: "Divided",
        weightPreference: { staticWeightList: [rule("member1", 1), rule("member2", 2)] },
      },
    };
    await run("web", placement, {}, 3);
    expect(await result()).toEqual({ member1: 1, member2: 2 });
    await hands.taint("member1");
    await fleet.advance("60s");
    expect(await result()).toEqual({ member2: 3 });
    expect(await hands.copy("member1")).toBeUndefined();
  });
});

describe("a cluster that dies", () => {
  it("is tainted after its window, and those whose policy asks for it move after their toleration", async () => {
    await open(["member1", "member2", "member3"]);
    await fleet.plane.create(clusterTaintPolicies, taintPolicy("PreferNoExecute"));
    const failover = { cluster: { purgeMode: "Gracefully", tolerationSeconds: 100 } };
    await run("web", oneOf("member1", "member2"), { failover });
    await run("fixed", { clusterAffinity: { clusterNames: ["member1"] } });
    fleet.member("member1").link.setFault({ kind: "down" });
    await fleet.advance("40s");
    expect(await hands.condition("member1", "Ready")).toBe("False");
    await fleet.advance("380s");
    expect(await hands.placement()).toBe("member1");
    await fleet.advance("60s");
    expect((await hands.placement()).split(" ")[0]).toBe("member2");
    expect(await hands.placement("fixed-deployment")).toBe("member1");
    fleet.member("member1").link.setFault(undefined);
    await fleet.advance("10m");
    expect(await hands.placement()).toBe("member2");
    expect(await hands.copy("member1")).toBeUndefined();
    const key = { namespace: "default", name: "fixed" };
    expect(await hands.copy("member1", resources.deployments, key)).toBeDefined();
  });

  it("story 2: a hard failure moves what does not tolerate it, a partial one only what asked for it", async () => {
    await open(["member1", "member2", "member3"], { failover: true, resourceEvictionRate: 10 });
    const failover = { cluster: { tolerationSeconds: 0 } };
    await hands.taint("member2", { key: "full", effect: "NoSchedule" });
    await run("general", oneOf("member1", "member2"));
    await run("hungry", oneOf("member1", "member2"), { failover });
    await hands.untaint("member2");
    await hands.taint("member1", { key: "partial", effect: "PreferNoExecute" });
    await fleet.advance("30s");
    expect(await hands.placement("general-deployment")).toBe("member1");
    expect(await hands.placement("hungry-deployment")).toBe("member2");
    await hands.taint("member1", { key: "hard", effect: "NoExecute" });
    await fleet.advance("30s");
    expect(await hands.placement("general-deployment")).toBe("member2");
  });

  it("story 3: by default nothing moves that no person and no policy asked for", async () => {
    await open(["member1", "member2"]);
    await run("web", oneOf("member1", "member2"));
    fleet.member("member1").link.setFault({ kind: "down" });
    await fleet.advance("2h");
    expect(await hands.condition("member1", "Ready")).toBe("False");
    expect(await hands.placement()).toBe("member1");
    expect((await fleet.plane.list(evacuations)).items).toEqual([]);
  });
});

describe("a migration is prevented", () => {
  it("by the gate", async () => {
    await open(["member1", "member2"], { failover: false });
    await fleet.plane.create(clusterTaintPolicies, taintPolicy("NoExecute", 1));
    await run("web", oneOf("member1", "member2"));
    await hands.taint("member1");
    await fleet.advance("10m");
    expect(await hands.placement()).toBe("member1");
  });

  it("by a toleration, or by a policy without failover.cluster, written before the failure", async () => {
    await open(["member1", "member2"]);
    const clusterTolerations = [{ key: "down", operator: "Exists", effect: "NoExecute" }];
    await run("web", { ...oneOf("member1", "member2"), clusterTolerations });
    await hands.taint("member1");
    await hands.taint("member1", { key: "soft", effect: "PreferNoExecute" });
    await fleet.advance("10m");
    expect(await hands.placement()).toBe("member1");
  });
});

describe("a migration is stopped", () => {
  /** Two workloads on a dead cluster, of which one every minute would move. */
  async function failing(): Promise<void> {
    await open(["member1", "member2", "member3"], { failover: true, resourceEvictionRate: 1 / 60 });
    await fleet.plane.create(clusterTaintPolicies, taintPolicy("NoExecute", 1));
    await hands.taint("member2", { key: "full", effect: "NoSchedule" });
    await run("a", oneOf("member1", "member2"));
    await run("b", oneOf("member1", "member2"));
    await hands.untaint("member2");
    fleet.member("member1").link.setFault({ kind: "down" });
    await fleet.advance("50s");
    expect((await hands.placement("a-deployment")).split(" ")[0]).toBe("member2");
    expect(await hands.placement("b-deployment")).toBe("member1");
  }

  it("by editing the taint policy so that the failure no longer counts as one", async () => {
    await failing();
    const body = {
      spec: {
        matchConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["Unknown"] }],
      },
    };
    await fleet.plane.patch(clusterTaintPolicies, POLICY, { type: "merge", body });
    const shorter = { spec: { taintsToAdd: [] } };
    await fleet.plane.patch(clusterTaintPolicies, POLICY, { type: "merge", body: shorter });
    await fleet.advance("10m");
    expect(await hands.placement("b-deployment")).toBe("member1");
  });

  it("by deleting the taint from the cluster", async () => {
    await failing();
    await hands.untaint("member1");
    await fleet.advance("10m");
    expect(await hands.placement("b-deployment")).toBe("member1");
  });

  it("by editing the schedule and the tasks of the binding", async () => {
    await failing();
    const { spec, ...binding } = await hands.binding("a-deployment");
    const { gracefulEvictionTasks: _tasks, ...rest } = spec;
    await fleet.plane.update(resourceBindings, {
      ...binding,
      spec: { ...rest, clusters: [{ name: "member1", replicas: 1 }] },
    });
    await fleet.advance("10m");
    expect(await hands.placement("a-deployment")).toBe("member1");
  });

  it("by pausing the evacuation", async () => {
    await failing();
    const key = { namespace: "", name: "member1-1" };
    await fleet.plane.patch(evacuations, key, { type: "merge", body: { spec: { paused: true } } });
    await fleet.advance("10m");
    expect(await hands.placement("b-deployment")).toBe("member1");
    expect((await fleet.plane.get(evacuations, key)).status?.phase).toBe("Paused");
    await fleet.plane.patch(evacuations, key, { type: "merge", body: { spec: { paused: false } } });
    await fleet.advance("2m");
    expect((await hands.placement("b-deployment")).split(" ")[0]).toBe("member2");
  });

  it("not by editing a policy afterwards: who is affected was fixed when the cluster failed", async () => {
    await failing();
    const body = { spec: { placement: { clusterTolerations: [{ operator: "Exists" }] } } };
    const key = { namespace: "default", name: "b" };
    await fleet.plane.patch(propagationPolicies, key, { type: "merge", body });
    await fleet.advance("2m");
    expect((await hands.placement("b-deployment")).split(" ")[0]).toBe("member2");
  });
});
