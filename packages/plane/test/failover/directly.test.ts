/** Mode Directly when the old cluster does not answer: waiting, a person's word, recovery (D10, E3, E5). */
import { resourceBindings } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { formatFence } from "@lifeboat/core/failover/eviction-tasks";
import { deployment, type Fleet, oneOf, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";

let fleet: Fleet;
let hands: Hands;

const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const FENCED = "lifeboat.dev/fenced";
const state = { "a.example/job": "7" };

beforeEach(async () => {
  ({ fleet, hands } = await failoverFleet(["m1", "m2"]));
  const policy = policyFor(web, { placement: oneOf("m1", "m2") });
  await hands.create(policy, resources.deployments, deployment("web"));
});
afterEach(() => fleet.close());

async function loseCluster() {
  fleet.member("m1").link.setFault({ kind: "down" });
  await fleet.advance("60s");
  await hands.taint("m1");
  await hands.evict("m1", { purgeMode: "Directly", state });
  await fleet.advance("60s");
}

it("waits for a cluster that does not answer, says so, and goes on when it does", async () => {
  await loseCluster();
  await fleet.advance("10m");
  expect(await hands.placement()).toBe("-m1");
  expect(await hands.works()).toBe("m1 going");
  expect(await hands.events("ResourceBinding", "web-deployment")).toContain("AwaitingFence");
  fleet.member("m1").link.setFault(undefined);
  await fleet.advance("3m");
  expect(await hands.placement()).toBe("m2");
  expect(await hands.copy("m1")).toBeUndefined();
  expect((await hands.copy("m2"))?.metadata.labels).toMatchObject(state);
});

it("takes a person's word that the cluster is off, and clears up when it returns", async () => {
  await loseCluster();
  await hands.annotate("m1", FENCED, formatFence(instantOf(0), "ann"));
  await fleet.advance("10s");
  expect(await hands.placement()).toBe("m2");
  expect((await hands.copy("m2"))?.metadata.labels).toMatchObject(state);
  // The old copy is not forgotten: nothing new goes there before it is gone.
  expect(await hands.works()).toBe("m1 going, m2");
  expect(await hands.condition("m1", "StaleCopiesRemoved")).toBe("False");
  fleet.member("m1").link.setFault(undefined);
  await fleet.advance("3m");
  expect(await hands.works()).toBe("m2");
  expect(await hands.copy("m1")).toBeUndefined();
  expect(await hands.condition("m1", "StaleCopiesRemoved")).toBe("True");
  expect(await hands.events("Cluster", "m1")).toContain("FenceLifted");
});

it("does not take the word for a cluster that answers", async () => {
  await hands.annotate("m1", FENCED, "off, believe me");
  await fleet.settle();
  await hands.taint("m1");
  await hands.evict("m1", { purgeMode: "Directly" });
  await fleet.advance("30s");
  expect(await hands.placement()).toBe("m2");
  expect(await hands.copy("m1")).toBeUndefined();
});

it("rolls back when the cluster recovers first; what was removed comes back with its state", async () => {
  await loseCluster();
  fleet.member("m1").link.setFault(undefined);
  await hands.untaint("m1");
  await fleet.advance("3m");
  expect(await hands.placement()).toBe("m1");
  expect(await hands.works()).toBe("m1");
  expect(await hands.copy("m1")).toMatchObject({ status: { readyReplicas: 1 } });
  expect((await hands.copy("m1"))?.metadata.labels).toMatchObject(state);
  expect(await hands.copy("m2")).toBeUndefined();
});

it("never runs in two clusters, whenever the control plane dies", async () => {
  await hands.taint("m1");
  await hands.evict("m1", { purgeMode: "Directly", state });
  for (let i = 0; i < 24; i++) {
    const running = await Promise.all(["m1", "m2"].map(async (name) => podsIn(name)));
    expect(running.filter((count) => count > 0).length).toBeLessThanOrEqual(1);
    if (i % 6 === 0) await fleet.restart();
    await fleet.advance("300ms");
  }
  await fleet.advance("30s");
  expect(await hands.placement()).toBe("m2");
  expect((await hands.copy("m2"))?.metadata.labels).toMatchObject(state);
});

it("waits a moment for a Work that nobody has seen yet", async () => {
  const binding = await hands.binding();
  await fleet.plane.update(resourceBindings, {
    ...binding,
    spec: { ...binding.spec, clusters: [{ name: "m2", replicas: 1 }] },
  });
  await fleet.settle();
  await hands.taint("m2");
  await hands.evict("m2", { purgeMode: "Directly" });
  await fleet.advance("30s");
  expect(await hands.copy("m2")).toBeUndefined();
  expect(await hands.placement()).toBe("m1");
});

async function podsIn(member: string): Promise<number> {
  const { items } = await fleet.member(member).client.list(resources.pods);
  return items.length;
}
