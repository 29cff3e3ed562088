/** A cluster that comes back with copies it should not have gets nothing new before they are gone (D11, E6). */
import { clusters } from "@lifeboat/api";
import { deployment, type Fleet, oneOf, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";

let fleet: Fleet;
let hands: Hands;

const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

beforeEach(async () => {
  ({ fleet, hands } = await failoverFleet(["m1", "m2"]));
  const policy = policyFor(web, { placement: oneOf("m1", "m2") });
  await hands.create(policy, resources.deployments, deployment("web"));
});
afterEach(() => fleet.close());

async function moveAwayFromDeadCluster() {
  fleet.member("m1").link.setFault({ kind: "down" });
  await fleet.advance("60s");
  await hands.taint("m1");
  await hands.evict("m1");
  await fleet.advance("30s");
  expect(await hands.placement()).toBe("m2");
  expect(await hands.works()).toBe("m1 going, m2");
}

it("says so from before it is ready until the copies are gone", async () => {
  expect(await hands.condition("m1", "StaleCopiesRemoved")).toBeUndefined();
  await moveAwayFromDeadCluster();
  expect(await hands.condition("m1", "StaleCopiesRemoved")).toBe("False");
  fleet.member("m1").link.setFault(undefined);
  await hands.untaint("m1");
  await fleet.advance("2m");
  expect(await hands.condition("m1", "Ready")).toBe("True");
  expect(await hands.copy("m1")).toBeUndefined();
  expect(await hands.condition("m1", "StaleCopiesRemoved")).toBe("True");
});

it("gets nothing new while they are there", async () => {
  await moveAwayFromDeadCluster();
  await hands.untaint("m1");
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "settings" };
  await hands.create(policyFor(other, { placement: oneOf("m1") }), resources.configMaps, {
    ...other,
    metadata: { name: "settings", namespace: "default" },
  });
  await fleet.advance("20s");
  expect(await hands.placement("settings-configmap")).toBe("");
  fleet.member("m1").link.setFault(undefined);
  await fleet.advance("3m");
  expect(await hands.placement("settings-configmap")).toBe("m1");
});

it("is not bothered by copies that go while it answers", async () => {
  await hands.taint("m1");
  await hands.evict("m1");
  await fleet.advance("30s");
  expect(await hands.works()).toBe("m2");
  expect(await hands.condition("m1", "StaleCopiesRemoved")).toBeUndefined();
});

it("ends the same way through restarts, and at rest nothing is written", async () => {
  await moveAwayFromDeadCluster();
  await fleet.restart();
  fleet.member("m1").link.setFault(undefined);
  await fleet.advance("20s");
  await fleet.restart();
  await fleet.advance("2m");
  expect(await hands.condition("m1", "StaleCopiesRemoved")).toBe("True");
  const conditions = (await fleet.plane.get(clusters, { namespace: "", name: "m1" })).status
    ?.conditions;
  await fleet.advance("5m");
  const later = (await fleet.plane.get(clusters, { namespace: "", name: "m1" })).status?.conditions;
  expect(later).toEqual(conditions);
});
