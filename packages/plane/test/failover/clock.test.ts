/** The wall clock of the control plane jumps by ten minutes: nothing happens early, and everything happens (A3, B3, C1). */
import { type ClusterTaintPolicy, clusters, clusterTaintPolicies, type New } from "@lifeboat/api";
import { deployment, type Fleet, oneOf, reasonsAbout, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { DOWN, failoverFleet, type Hands, policyFor } from "./failover.suite.ts";
import { CrowdedFleet } from "./rate.suite.ts";

let fleet: Fleet;
let hands: Hands;
afterEach(() => fleet.close());

const JUMPS = [
  ["forward", 600_000],
  ["back", -600_000],
] as const;
const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

const notReady: New<ClusterTaintPolicy> = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterTaintPolicy",
  metadata: { name: "not-ready" },
  spec: {
    matchConditions: [{ conditionType: "Broken", operator: "In", statusValues: ["True"] }],
    taintsToAdd: [{ ...DOWN, addOnMatchSeconds: 300, removeOnMismatchSeconds: 180 }],
  },
};

/** Says about a cluster what nobody else says. */
async function say(name: string, status: "True" | "False"): Promise<void> {
  const cluster = await fleet.plane.get(clusters, { namespace: "", name });
  const others = (cluster.status?.conditions ?? []).filter(({ type }) => type !== "Broken");
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const broken = { type: "Broken", status, reason: "Said", message: "", lastTransitionTime };
  await fleet.plane.update(
    clusters,
    { ...cluster, status: { ...cluster.status, conditions: [...others, broken] } },
    { subresource: "status" },
  );
}

async function isTainted(name: string): Promise<boolean> {
  const { spec } = await fleet.plane.get(clusters, { namespace: "", name });
  return (spec.taints ?? []).some(({ key }) => key === DOWN.key);
}

/** `jump` in the middle of a wait: nothing a second before its end, and done within two seconds after it. */
async function expectAfter(
  seconds: number,
  jump: () => Promise<void> | void,
  isDone: () => Promise<boolean>,
): Promise<void> {
  await fleet.advance(100_000);
  await jump();
  await fleet.advance((seconds - 101) * 1000);
  expect(await isDone()).toBe(false);
  await fleet.advance("3s");
  expect(await isDone()).toBe(true);
}

describe.each(JUMPS)("a clock that jumps %s", (_way, jumpMs) => {
  const jump = (): void => fleet.clock.step(jumpMs);

  it("neither shortens nor lengthens the windows of a taint policy", async () => {
    ({ fleet, hands } = await failoverFleet(["m1", "m2"], { failover: true }));
    await fleet.plane.create(clusterTaintPolicies, notReady);
    await fleet.settle();
    await say("m1", "True");
    await expectAfter(300, jump, () => isTainted("m1"));
    await say("m1", "False");
    await expectAfter(180, jump, async () => !(await isTainted("m1")));
  });

  it("neither shortens nor lengthens a toleration", async () => {
    ({ fleet, hands } = await failoverFleet(["m1", "m2"], { failover: true }));
    const tolerations = [{ ...DOWN, operator: "Exists", tolerationSeconds: 300 }];
    const placement = { ...oneOf("m1", "m2"), clusterTolerations: tolerations };
    await hands.create(policyFor(web, { placement }), resources.deployments, deployment("web"));
    await fleet.advance("10s");
    await hands.taint("m1");
    await fleet.settle();
    await expectAfter(300, jump, async () => (await hands.placement()).startsWith("m2"));
  });

  it("is known to the next life of the control plane", async () => {
    ({ fleet, hands } = await failoverFleet(["m1", "m2"], { failover: true }));
    await fleet.plane.create(clusterTaintPolicies, notReady);
    await fleet.settle();
    await say("m1", "True");
    const jumpAndDie = async (): Promise<void> => {
      jump();
      await fleet.advance("6s");
      await fleet.restart();
    };
    await expectAfter(294, jumpAndDie, () => isTainted("m1"));
  });

  it("sets no token free and stops none", async () => {
    const crowd = await CrowdedFleet.open(3, 20);
    ({ fleet } = crowd);
    await crowd.fail(1);
    await fleet.advance("10s");
    const before = await crowd.evicted();
    for (let i = 0; i < 5; i++) {
      jump();
      await fleet.advance("2s");
    }
    const evicted = (await crowd.evicted()) - before;
    expect(evicted).toBeGreaterThanOrEqual(4);
    expect(evicted).toBeLessThanOrEqual(6);
  });

  it("is told on the budget", async () => {
    const crowd = await CrowdedFleet.open(3, 1);
    ({ fleet } = crowd);
    await crowd.fail(1);
    await fleet.advance("5s");
    jump();
    await fleet.advance("10s");
    expect(await reasonsAbout(fleet.plane, "fleet", "EvacuationBudget")).toContain("ClockStepped");
  });
});
