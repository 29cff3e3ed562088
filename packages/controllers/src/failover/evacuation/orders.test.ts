/** What people order about evacuations: approvals, pauses of clusters and namespaces, a rate for a time; and priority. */
import {
  type EvacuationApproval,
  type EvacuationBudget,
  evacuations,
  priorityClasses,
  propagationPolicies,
} from "@lifeboat/api";
import { addMs, formatTime } from "@lifeboat/base";
import { type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { changeRecord } from "../../context/fleet-record.ts";
import {
  allSlices,
  bareFleet,
  bindingOf,
  bindMany,
  budget,
  type Decision,
  deployOn,
  DOWN,
  DRAIN,
  evacuation,
  evacuationFleet,
  finishTasks,
  placed,
  setTaints,
  SINGLE,
  watchDecisions,
} from "./evacuation.suite.ts";
import { DyingPlane } from "./evacuation-crash.suite.ts";

const FOUR = ["m1", "m2", "m3", "m4"];
const ALL = { options: { approval: "Required" as const } };
let fleet: Fleet;
afterEach(() => fleet.close());

const names = (decisions: readonly Decision[]): readonly string[] =>
  decisions.map(({ binding }) => binding);

async function approve(approval: Partial<EvacuationApproval> = {}, name = "m1-1"): Promise<void> {
  const found = await evacuation(fleet, name);
  const approvals = [
    ...(found.spec.approvals ?? []),
    { at: formatTime(fleet.clock.now()), ...approval },
  ];
  await fleet.plane.update(evacuations, { ...found, spec: { ...found.spec, approvals } });
  await fleet.settle();
}

async function order(change: Partial<EvacuationBudget["spec"]>): Promise<void> {
  await changeRecord(fleet.plane, (parts) => ({ ...parts, spec: { ...parts.spec, ...change } }));
  await fleet.settle();
}

describe("what needs an approval", () => {
  it("waits outside the rate until a person approves, and then leaves at the rate", async () => {
    fleet = await bareFleet({ clusters: FOUR, ...ALL });
    await bindMany(fleet, "a", 3, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10m");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "AwaitingApproval",
      entries: { total: 3, queued: 0, awaitingApproval: 3 },
    });
    expect((await budget(fleet)).status?.reservedUntil).toBeUndefined();
    await approve();
    await fleet.advance("1m");
    expect(names(decisions)).toEqual(["a-0", "a-1", "a-2"]);
    await finishTasks(fleet);
    await fleet.advance("5s");
    const { status } = await evacuation(fleet, "m1-1");
    expect(status).toMatchObject({ phase: "Completed", entries: { done: 3 } });
    expect(status?.entries?.awaitingApproval).toBeUndefined();
  });

  it("is approved by the namespace or by one workload; the rest goes on waiting", async () => {
    fleet = await bareFleet({ clusters: FOUR, ...ALL });
    await bindMany(fleet, "a", 3, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await approve({ uid: (await bindingOf(fleet, "a-1")).metadata.uid });
    await approve({ namespace: "other" });
    await fleet.advance("1m");
    expect(names(decisions)).toEqual(["a-1"]);
    expect((await evacuation(fleet, "m1-1")).status?.entries).toMatchObject({
      awaitingApproval: 2,
    });
    await approve({ namespace: "default" });
    await fleet.advance("1m");
    expect(decisions).toHaveLength(3);
  });

  it("waits again when the approval expires, also across a restart", async () => {
    fleet = await bareFleet({ clusters: FOUR, ...ALL });
    await bindMany(fleet, "a", 5, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await approve({ expiresAt: formatTime(addMs(fleet.clock.now(), 5000)) });
    await fleet.advance("3s");
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("2m");
    expect(decisions.length).toBeGreaterThan(0);
    expect(decisions.length).toBeLessThanOrEqual(3);
    const left = 5 - decisions.length;
    expect((await evacuation(fleet, "m1-1")).status?.entries).toMatchObject({
      queued: 0,
      awaitingApproval: left,
    });
    await approve();
    await fleet.advance("1m");
    expect(decisions).toHaveLength(5);
  });

  it("stays when the cluster recovers; the next incident needs another approval", async () => {
    fleet = await bareFleet({ clusters: FOUR, ...ALL });
    await bindMany(fleet, "a", 2, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("5s");
    await setTaints(fleet, "m1");
    await fleet.advance("5s");
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Abandoned",
      entries: { abandoned: 2 },
    });
    await approve();
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1m");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-2")).status).toMatchObject({ phase: "AwaitingApproval" });
  });

  it("leaves for a drain, which is a person's order", async () => {
    fleet = await bareFleet({ clusters: FOUR, ...ALL });
    await bindMany(fleet, "a", 2, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10s");
    await setTaints(fleet, "m1", DOWN, DRAIN);
    await fleet.advance("1m");
    expect(decisions).toHaveLength(2);
  });

  it("is what its policy asked for when the cluster failed, not what it asks for later", async () => {
    fleet = await evacuationFleet();
    await deployOn(fleet, "a", 1, "m1");
    await deployOn(fleet, "b", 1, "m1");
    await annotate("a", { "lifeboat.dev/approval": "Required" });
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("5s");
    await annotate("a", {});
    await annotate("b", { "lifeboat.dev/approval": "Required" });
    await fleet.advance("1m");
    expect(names(decisions)).toEqual(["b-0-deployment"]);
    const { items } = await fleet.plane.list(resources.events);
    const told = items
      .filter(({ reason }) => reason === "EvictionAwaitsApproval")
      .map(({ involvedObject }) => {
        const { kind, name } = involvedObject as { readonly kind: string; readonly name: string };
        return `${kind} ${name}`;
      });
    expect(told).toEqual(
      expect.arrayContaining(["ResourceBinding a-0-deployment", "Deployment a-0", "Cluster m1"]),
    );
    expect(told).not.toContain("Deployment b-0");
    await approve();
    await fleet.advance("1m");
    expect(names(decisions)).toEqual(["b-0-deployment", "a-0-deployment"]);
  });

  it(
    "leaves once, after its approval, wherever the process dies",
    { timeout: 60_000 },
    async () => {
      const writes = await dieAt(-1, false);
      for (let at = 0; at < writes; at++) await dieAt(at, at % 2 === 0);
    },
  );
});

async function annotate(name: string, annotations: Record<string, string>): Promise<void> {
  const key = { namespace: "default", name };
  const found = await fleet.plane.get(propagationPolicies, key);
  const { "lifeboat.dev/approval": _former, ...others } = found.metadata.annotations ?? {};
  const metadata = { ...found.metadata, annotations: { ...others, ...annotations } };
  await fleet.plane.update(propagationPolicies, { ...found, metadata });
  await fleet.advance("2s");
}

/** Two workloads, of which one is approved after ten seconds; the process dies at one write. */
async function dieAt(at: number, takesEffect: boolean): Promise<number> {
  const dying = new DyingPlane();
  fleet = await bareFleet({
    clusters: ["m1", "m2", "m3"],
    ...ALL,
    through: (context) => dying.through(context),
  });
  try {
    await bindMany(fleet, "a", 2, "m1");
    const decisions = watchDecisions(fleet);
    dying.arm(at, takesEffect);
    await setTaints(fleet, "m1", DOWN);
    const uid = (await bindingOf(fleet, "a-1")).metadata.uid;
    for (let step = 0; step < 60; step++) {
      if (dying.isDead) {
        dying.revive();
        await fleet.restart();
        watchDecisions(fleet, decisions);
      }
      if (step === 20) {
        expect(decisions).toEqual([]);
        await approve({ uid });
      }
      await fleet.advance(500);
    }
    expect(names(decisions)).toEqual(["a-1"]);
    expect(placed(await bindingOf(fleet, "a-0"))).toEqual(["m1"]);
    expect((await evacuation(fleet, "m1-1")).status?.entries).toMatchObject({
      awaitingApproval: 1,
    });
    return dying.writes;
  } finally {
    if (at !== -1) await fleet.close();
  }
}

describe("a pause", () => {
  it("of a cluster stops that cluster only, and evacuations of it to come", async () => {
    fleet = await bareFleet({ clusters: [...FOUR, "m5"] });
    await bindMany(fleet, "a", 2, "m1");
    await bindMany(fleet, "b", 2, "m2");
    const decisions = watchDecisions(fleet);
    await order({ pausedClusters: ["m1"] });
    await setTaints(fleet, "m1", DOWN);
    await setTaints(fleet, "m2", DOWN);
    await fleet.advance("1m");
    expect(names(decisions)).toEqual(["b-0", "b-1"]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Paused",
      reason: "ClusterPaused",
    });
    await order({ pausedClusters: [] });
    await fleet.advance("1m");
    expect(decisions).toHaveLength(4);
  });

  it("of a namespace stops its workloads in every evacuation, across a restart", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 3, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await order({ pausedNamespaces: ["default"] });
    const before = decisions.length;
    await fleet.advance("30s");
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("1m");
    expect(decisions).toHaveLength(before);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: before === 0 ? "Paused" : expect.any(String),
      entries: { queued: 3 - before, paused: 3 - before },
    });
    await order({ pausedNamespaces: ["other"] });
    await fleet.advance("1m");
    expect(decisions).toHaveLength(3);
  });
});

describe("a rate that a person set", () => {
  const set = (perSecond: number, ms: number, atMost = false): Promise<void> => {
    const now = fleet.clock.now();
    const rateOverride = {
      perSecond,
      ...(atMost && { atMost }),
      setAt: formatTime(now),
      until: formatTime(addMs(now, ms)),
      reason: "test",
    };
    return order({ rateOverride });
  };

  it("overrules a rate of 0, and ends by itself, across a restart", async () => {
    fleet = await bareFleet({ clusters: ["m1", "m2", "m3"] });
    await bindMany(fleet, "a", 9, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m2", DOWN);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10s");
    const before = decisions.length;
    await fleet.advance("1m");
    expect(decisions).toHaveLength(before);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Braked",
      reason: "FleetTooUnhealthy",
    });
    await set(1, 5000);
    await fleet.advance("2s");
    expect((await budget(fleet)).status).toMatchObject({ ratePerSecond: 1, reason: "SetByPerson" });
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("1m");
    const moved = decisions.length - before;
    expect(moved).toBeGreaterThanOrEqual(2);
    expect(moved).toBeLessThanOrEqual(6);
    expect((await budget(fleet)).status).toMatchObject({
      ratePerSecond: 0,
      reason: "FleetTooUnhealthy",
    });
  });

  it("D6: as an upper bound slows a healthy fleet down, and stops with it when every cluster fails", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 9, "m1");
    const decisions = watchDecisions(fleet);
    await set(0.1, 30 * 60_000, true);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("25s");
    expect(decisions.length).toBeGreaterThanOrEqual(2);
    expect(decisions.length).toBeLessThanOrEqual(3);
    expect((await budget(fleet)).status).toMatchObject({
      ratePerSecond: 0.1,
      reason: "SetByPerson",
    });
    for (const name of FOUR.slice(1)) await setTaints(fleet, name, DOWN);
    await fleet.advance("2s");
    const before = decisions.length;
    await fleet.advance("2m");
    expect(decisions).toHaveLength(before);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Braked",
      reason: "EverythingFailed",
    });
  });

  it("of 0 stops a healthy fleet for its time", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 3, "m1");
    const decisions = watchDecisions(fleet);
    await set(0, 60_000);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("50s");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Braked",
      reason: "SetByPerson",
    });
    await fleet.advance("30s");
    expect(decisions).toHaveLength(3);
  });
});

it("of what may leave a cluster, the higher priority leaves first", async () => {
  fleet = await bareFleet({ clusters: FOUR });
  await bindMany(fleet, "a", 2, "m1");
  await bindMany(fleet, "z", 1, "m1", { schedulePriority: { priority: 100 } });
  await bindMany(fleet, "y", 1, "m1", { schedulePriority: { priority: 5 } });
  const decisions = watchDecisions(fleet);
  await setTaints(fleet, "m1", DOWN);
  await fleet.advance("1m");
  expect(names(decisions)).toEqual(["z-0", "y-0", "a-0", "a-1"]);
  const [slice] = await allSlices(fleet);
  expect(slice?.spec.entries.map(({ priority = 0 }) => priority)).toEqual([100, 5, 0, 0]);
});

it("the priority is that of the class which the policy names when the cluster fails", async () => {
  fleet = await evacuationFleet();
  await fleet.plane.create(priorityClasses, {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "first" },
    value: 1000,
  });
  await deployOn(fleet, "a", 1, "m1");
  await deployOn(fleet, "z", 1, "m1", SINGLE, {
    schedulePriority: { priorityClassSource: "KubePriorityClass", priorityClassName: "first" },
  });
  const decisions = watchDecisions(fleet);
  await setTaints(fleet, "m1", DOWN);
  await fleet.advance("1m");
  expect(names(decisions)).toEqual(["z-0-deployment", "a-0-deployment"]);
});
