/** Which workload is released when: rate, turns, lanes, brake, pause, gate, targets, restarts. */
import {
  clusters,
  evacuationBudgets,
  evacuations,
  FLEET_BUDGET,
  resourceBindings,
} from "@lifeboat/api";
import { DEFAULT_RATES, signResult } from "@lifeboat/core/failover/evacuation";
import type { Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { reasonsAbout, wrapped } from "@lifeboat/testkit";
import {
  addCluster,
  bareFleet,
  bind,
  bindingOf,
  bindings,
  bindMany,
  budget,
  DIVIDED,
  DOWN,
  DRAIN,
  evacuation,
  finishTasks,
  placed,
  setTaints,
  versionNow,
  watchDecisions,
} from "./evacuation.suite.ts";

/** Other work on the machine must not fail them. */
vi.setConfig({ testTimeout: 60_000 });

let fleet: Fleet;
afterEach(() => fleet.close());
const FOUR = ["m1", "m2", "m3", "m4"];
const SINGLE_SPREAD = {
  spreadConstraints: [{ spreadByField: "cluster" as const, minGroups: 1, maxGroups: 1 }],
};

describe("the rate", () => {
  it("holds over all clusters, which take turns", async () => {
    fleet = await bareFleet({ clusters: [...FOUR, "m5"] });
    const elsewhere = (own: string) => ({
      placement: { clusterAffinity: { clusterNames: [own, "m3", "m4"] }, ...SINGLE_SPREAD },
    });
    await bindMany(fleet, "a", 3, "m1", elsewhere("m1"));
    await bindMany(fleet, "b", 3, "m2", elsewhere("m2"));
    const decisions = watchDecisions(fleet);
    const start = fleet.clock.now();
    await setTaints(fleet, "m1", DOWN);
    await setTaints(fleet, "m2", DOWN);
    await fleet.advance("20s");
    expect(decisions.map(({ at }) => at - start)).toEqual([0, 2000, 4000, 6000, 8000, 10_000]);
    expect(decisions.map(({ cluster }) => cluster)).toEqual(["m1", "m2", "m1", "m2", "m1", "m2"]);
  });

  it("holds over clusters in turn, and a workload that cannot move costs its cluster no turn", async () => {
    fleet = await bareFleet({ clusters: [...FOUR, "m5"] });
    const within = (...clusterNames: readonly string[]) => ({
      placement: { clusterAffinity: { clusterNames }, ...SINGLE_SPREAD },
    });
    await bindMany(fleet, "held", 4, "m1", within("m1"));
    await bindMany(fleet, "may-go", 2, "m1", within("m1", "m3", "m4"));
    await bindMany(fleet, "other", 4, "m2", within("m2", "m3", "m4"));
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m2", DOWN);
    await fleet.advance("1s");
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("20s");
    const clusters = decisions.map(({ cluster }) => cluster);
    expect(clusters).toEqual(["m2", "m1", "m2", "m1", "m2", "m2"]);
  });

  it("is not exceeded by restarts, which grant no release", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 4, "m1");
    const start = fleet.clock.now();
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    for (let i = 0; i < 8; i++) {
      await fleet.restart();
      watchDecisions(fleet, decisions);
      await fleet.advance("500ms");
    }
    await fleet.advance("10s");
    expect(decisions.map(({ binding }) => binding)).toEqual(["a-0", "a-1", "a-2", "a-3"]);
    for (const [i, { at }] of decisions.entries())
      expect(at - start).toBeGreaterThanOrEqual(2000 * i);
  });

  it("stops above the threshold in a small fleet, and goes on when enough clusters are back", async () => {
    fleet = await bareFleet({ clusters: ["m1", "m2", "m3"] });
    await bindMany(fleet, "a", 2, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m2", DOWN);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1m");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Braked",
      reason: "FleetTooUnhealthy",
      entries: { queued: 2 },
      rate: { perSecond: 0, reason: "FleetTooUnhealthy" },
    });
    await setTaints(fleet, "m2");
    await fleet.advance("5s");
    expect(decisions).toHaveLength(2);
  });

  it("is reported on the budget as it is, also while nothing moves, and written only when it changed", async () => {
    fleet = await bareFleet({ clusters: ["m1", "m2", "m3"] });
    await bindMany(fleet, "a", 1, "m1");
    await setTaints(fleet, "m2", DOWN);
    await fleet.advance("5s");
    const healthy = { ratePerSecond: 0.5, reason: "FleetHealthy", failedClusters: 1 };
    expect((await budget(fleet)).status).toMatchObject(healthy);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("5s");
    const braked = await budget(fleet);
    expect(braked.status).toMatchObject({
      ratePerSecond: 0,
      reason: "FleetTooUnhealthy",
      failedClusters: 2,
      countedClusters: 3,
    });
    await fleet.advance("10m");
    expect((await budget(fleet)).metadata.resourceVersion).toBe(braked.metadata.resourceVersion);
    await setTaints(fleet, "m3", DOWN);
    await fleet.advance("2s");
    expect((await budget(fleet)).status).toMatchObject({ reason: "EverythingFailed" });
    for (const name of ["m1", "m2", "m3"]) await setTaints(fleet, name);
    await fleet.advance("2s");
    expect((await budget(fleet)).status).toMatchObject({ ...healthy, failedClusters: 0 });
  });

  it("that flaps is reported once a second at most, and as it is when it rests", async () => {
    fleet = await bareFleet({ clusters: ["m1", "m2"] });
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("5s");
    const told: string[] = [];
    const { resourceVersion } = (await budget(fleet)).metadata;
    const event = ({ type }: { readonly type: string }) => void told.push(type);
    fleet.plane.watch(evacuationBudgets, { resourceVersion }, { event, end: () => {} });
    for (let i = 0; i < 30; i++) {
      await setTaints(fleet, "m2", ...(i % 2 === 0 ? [DOWN] : []));
      await fleet.advance("100ms");
    }
    // How often depends on what it is when the second is over.
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThanOrEqual(4);
    await setTaints(fleet, "m2", DOWN);
    await fleet.advance("2s");
    expect((await budget(fleet)).status).toMatchObject({ failedClusters: 2 });
  });

  it("reserves together where it is high, counts that on the budget, and releases one by one", async () => {
    fleet = await bareFleet({
      clusters: FOUR,
      options: {
        rates: { rate: 100, secondaryRate: 0.1, unhealthyThreshold: 0.55, largeFleetThreshold: 10 },
      },
    });
    await bindMany(fleet, "a", 30, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1s");
    expect(decisions).toHaveLength(30);
    expect((await budget(fleet)).status).toMatchObject({ reservedTokens: 30 });
    const gaps = decisions.slice(1).map(({ at }, i) => at - (decisions[i]?.at ?? 0));
    expect(new Set(gaps)).toEqual(new Set([10]));
  });

  it("stops between two tokens that were reserved together when it falls to 0", async () => {
    fleet = await bareFleet({
      clusters: FOUR,
      options: {
        rates: { rate: 10, secondaryRate: 0.1, unhealthyThreshold: 0.55, largeFleetThreshold: 10 },
      },
    });
    await bindMany(fleet, "a", 20, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("450ms");
    const before = decisions.length;
    expect(before).toBeGreaterThan(1);
    for (const name of ["m2", "m3"]) await setTaints(fleet, name, DOWN);
    await fleet.advance("1m");
    expect(decisions).toHaveLength(before);
    await setTaints(fleet, "m2");
    await setTaints(fleet, "m3");
    await fleet.advance("1m");
    expect(decisions).toHaveLength(20);
  });

  it("stops between two tokens that were reserved together when a person pauses the evacuation", async () => {
    fleet = await bareFleet({
      clusters: FOUR,
      options: {
        rates: { rate: 10, secondaryRate: 0.1, unhealthyThreshold: 0.55, largeFleetThreshold: 10 },
      },
    });
    await bindMany(fleet, "a", 20, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("450ms");
    const before = decisions.length;
    const record = await evacuation(fleet, "m1-1");
    await fleet.plane.update(evacuations, { ...record, spec: { ...record.spec, paused: true } });
    await fleet.advance("1m");
    expect(decisions).toHaveLength(before);
  });

  it("rate 0 moves nothing", async () => {
    fleet = await bareFleet({
      clusters: FOUR,
      options: {
        rates: { rate: 0, secondaryRate: 0, unhealthyThreshold: 0.55, largeFleetThreshold: 10 },
      },
    });
    await bindMany(fleet, "a", 2, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10m");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({ reason: "RateZero" });
  });

  it("is ten per second for what has neither replicas nor health, after all workloads", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    const resource = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" };
    for (let i = 0; i < 12; i++)
      await bind(fleet, `a-cm-${i}`, ["m1"], {
        replicas: 0,
        resource: { ...resource, name: `cm-${i}` },
      });
    await bindMany(fleet, "web", 2, "m1");
    const decisions = watchDecisions(fleet);
    const start = fleet.clock.now();
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10s");
    expect(decisions.slice(0, 2).map(({ binding }) => binding)).toEqual(["web-0", "web-1"]);
    const passive = decisions.slice(2).map(({ at }) => at - start);
    expect(passive).toEqual([...Array.from({ length: 10 }, (_, i) => 4000 + 100 * i), 5000, 5100]);
  });
});

describe("a workload without a target", () => {
  const pinned = { clusterAffinity: { clusterNames: ["m1"] } };

  it("is held with the reason, takes no token, and goes when a cluster fits", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bind(fleet, "a-pinned", ["m1"], { placement: pinned });
    await bind(fleet, "free", ["m1"]);
    const decisions = watchDecisions(fleet);
    const start = fleet.clock.now();
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("3s");
    expect(decisions).toMatchObject([{ binding: "free", at: start }]);
    await finishTasks(fleet);
    await fleet.advance("2s");
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Held",
      entries: { held: 1, done: 1 },
      held: [{ binding: { name: "a-pinned" }, reason: "NoTarget" }],
    });
    expect(placed(await bindingOf(fleet, "a-pinned"))).toEqual(["m1"]);
    const held = await bindingOf(fleet, "a-pinned");
    await fleet.plane.update(resourceBindings, {
      ...held,
      spec: {
        ...held.spec,
        placement: { clusterAffinity: { clusterNames: ["m1", "m2"] }, ...SINGLE_SPREAD },
      },
    });
    await fleet.advance("3s");
    expect(decisions.map(({ binding }) => binding)).toEqual(["free", "a-pinned"]);
  });

  it("is tried again when a cluster joins", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bind(fleet, "a", ["m1"], {
      placement: { clusterAffinity: { clusterNames: ["m1", "m9"] }, ...SINGLE_SPREAD },
    });
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("30s");
    expect(decisions).toEqual([]);
    await addCluster(fleet, "m9");
    await fleet.advance("10s");
    expect(decisions).toHaveLength(1);
    expect(placed(await bindingOf(fleet, "a"))).toEqual(["m9"]);
  });

  describe("because it has to leave another cluster, too,", () => {
    const placement = { clusterAffinity: { clusterNames: ["m1", "m2"] }, ...DIVIDED } as never;

    beforeEach(async () => {
      fleet = await bareFleet({ clusters: FOUR });
      const both = ["m1", "m2"].map((name) => ({ name, replicas: 1 }));
      await bind(fleet, "a", [], { replicas: 2, placement, clusters: both });
      // Nothing moves before both clusters are recorded.
      for (const name of ["m3", "m4", "m2"]) await setTaints(fleet, name, DOWN);
      await setTaints(fleet, "m1", DRAIN);
    });

    const isHeld = async (): Promise<void> => {
      for (const name of ["m3", "m4"]) await setTaints(fleet, name);
      await fleet.advance("30s");
      const { status } = await evacuation(fleet, "m1-1");
      expect(status).toMatchObject({ phase: "Held", reason: "NoTarget" });
    };

    it("is tried again when that one has recovered", async () => {
      await isHeld();
      const decisions = watchDecisions(fleet);
      await setTaints(fleet, "m2");
      await fleet.advance("5s");
      expect(decisions).toMatchObject([{ binding: "a", cluster: "m1" }]);
      expect(placed(await bindingOf(fleet, "a"))).toEqual(["m2"]);
    });

    it("is tried again when the brake ends with that recovery", async () => {
      await setTaints(fleet, "m4");
      await fleet.advance("30s");
      expect((await evacuation(fleet, "m1-1")).status).toMatchObject({ phase: "Braked" });
      const decisions = watchDecisions(fleet);
      await setTaints(fleet, "m2");
      await fleet.advance("5s");
      expect(decisions).toMatchObject([{ binding: "a", cluster: "m1" }]);
    });

    it("is tried again when a new record lets it stay there", async () => {
      await isHeld();
      const tolerant = { ...(placement as object), clusterTolerations: [{ operator: "Exists" }] };
      const found = await bindingOf(fleet, "a");
      const spec = { ...found.spec, placement: tolerant as never };
      await fleet.plane.update(resourceBindings, { ...found, spec });
      const decisions = watchDecisions(fleet);
      await fleet.advance("30s");
      expect(decisions).toEqual([]);
      await fleet.plane.delete(evacuations, { namespace: "", name: "m2-1" });
      await fleet.advance("5s");
      expect(decisions).toMatchObject([{ binding: "a", cluster: "m1" }]);
    });
  });

  it("does not count on room that another eviction was promised, also when nothing schedules", async () => {
    fleet = await bareFleet({ clusters: FOUR, pods: 5, scheduler: false });
    for (let i = 0; i < 15; i++)
      await bind(fleet, `a-${String(i).padStart(2, "0")}`, ["m1"], {
        replicas: 2,
        placement: DIVIDED as never,
      });
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10s");
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("2m");
    // Three clusters with room for five pods each: two replicas may be divided, so seven workloads.
    expect(decisions).toHaveLength(7);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      entries: { held: 8, evicted: 7 },
    });
  });

  it("does not count on room that copies have taken and their cluster has not counted yet", async () => {
    fleet = await bareFleet({ clusters: ["m1", "m2"], pods: 5 });
    await bind(fleet, "a", ["m1"], { replicas: 1, placement: DIVIDED as never });
    await bind(fleet, "b", ["m2"], { replicas: 5, placement: DIVIDED as never });
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("5s");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      held: [{ binding: { name: "a" }, reason: "NoTarget" }],
    });
    // By now the cluster would have counted what runs there, and reports that it has room.
    await fleet.advance("20s");
    expect(decisions).toMatchObject([{ binding: "a" }]);
  });

  it("on a drain a copy goes without substitute only where enough are proven healthy", async () => {
    fleet = await bareFleet({ clusters: ["m1", "m2"] });
    await bind(fleet, "a", ["m1", "m2"], { placement: {} });
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DRAIN);
    await fleet.advance("10s");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({ entries: { held: 1 } });
  });
});

describe("stopping", () => {
  it("a person edits the result before it is a workload's turn, and it is left alone", async () => {
    fleet = await bareFleet({
      clusters: FOUR,
      options: { rates: { ...DEFAULT_RATES, rate: 0.1 } },
    });
    await bindMany(fleet, "a", 2, "m1");
    await bind(fleet, "b", ["m1", "m2"], { placement: {} });
    await fleet.plane.update(resourceBindings, signResult(await bindingOf(fleet, "b")));
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("5s");
    const found = await bindingOf(fleet, "b");
    const clusters = [{ name: "m1", replicas: 3 }];
    await fleet.plane.update(resourceBindings, { ...found, spec: { ...found.spec, clusters } });
    await fleet.advance("5s");
    expect(await reasonsAbout(fleet.plane, "b")).toContain("EvictionAbandoned");
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("2m");
    expect(decisions.map(({ binding }) => binding)).toEqual(["a-0", "a-1"]);
    expect(placed(await bindingOf(fleet, "b"))).toContain("m1");
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      editedByHand: [{ name: "b" }],
      entries: { abandoned: 1, queued: 0 },
    });
  });

  it("a person pauses one evacuation and lets it go on", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 3, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    const paused = await evacuation(fleet, "m1-1");
    await fleet.plane.update(evacuations, { ...paused, spec: { ...paused.spec, paused: true } });
    await fleet.advance("1m");
    expect(decisions).toHaveLength(1);
    const now = await evacuation(fleet, "m1-1");
    expect(now.status).toMatchObject({ phase: "Paused", reason: "PausedByPerson" });
    await fleet.plane.update(evacuations, { ...now, spec: { ...now.spec, paused: false } });
    await fleet.advance("1m");
    expect(decisions).toHaveLength(3);
  });

  it("a person pauses all of them on the budget", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 3, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    const key = { namespace: "", name: FLEET_BUDGET };
    const found = await fleet.plane.get(evacuationBudgets, key);
    await fleet.plane.update(evacuationBudgets, { ...found, spec: { paused: true } });
    await fleet.advance("1m");
    expect(decisions).toHaveLength(1);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({ reason: "BudgetPaused" });
  });

  it("with the gate off only a drain moves anything", async () => {
    fleet = await bareFleet({ clusters: FOUR, options: { failover: false } });
    await bindMany(fleet, "a", 1, "m1");
    await bindMany(fleet, "b", 1, "m2");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10m");
    expect(decisions).toEqual([]);
    expect((await fleet.plane.list(evacuations)).items).toEqual([]);
    await setTaints(fleet, "m2", DRAIN);
    await fleet.advance("1m");
    expect(decisions).toMatchObject([{ binding: "b-0", cluster: "m2" }]);
  });

  it("a recovery abandons what is queued, and nothing of it moves afterwards", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 4, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("3s");
    await setTaints(fleet, "m1");
    await fleet.advance("5m");
    expect(decisions).toHaveLength(2);
    await finishTasks(fleet);
    await fleet.advance("2s");
    const { status } = await evacuation(fleet, "m1-1");
    expect(status).toMatchObject({
      phase: "Abandoned",
      reason: "ClusterRecovered",
      entries: { done: 2, abandoned: 2, queued: 0 },
    });
    expect(status?.finishedAt).toBeDefined();
  });

  it("never evicts for a taint that the server shows to be gone, though the cache does not", async () => {
    let isGone = false;
    fleet = await bareFleet({
      clusters: FOUR,
      through: (context) => ({
        ...context,
        plane: {
          ...wrapped(context.plane),
          get: async (resource, key, options) => {
            const found = await context.plane.get(resource, key, options);
            if (resource.plural !== clusters.plural || !isGone) return found;
            return { ...found, spec: { syncMode: "Push" } };
          },
        },
      }),
    });
    await bindMany(fleet, "a", 2, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    expect(decisions).toHaveLength(1);
    isGone = true;
    await fleet.advance("1m");
    expect(decisions).toHaveLength(1);
  });
});

describe("a binding that a person put back", () => {
  it("is not evicted again for that taint, also after a restart", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 1, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("3s");
    await fleet.restart();
    const moved = await bindingOf(fleet, "a-0");
    await fleet.plane.update(resourceBindings, {
      ...moved,
      spec: { ...moved.spec, clusters: [{ name: "m1", replicas: 1 }], gracefulEvictionTasks: [] },
    });
    watchDecisions(fleet, decisions);
    await fleet.advance("1m");
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("1m");
    expect(decisions).toHaveLength(1);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Completed",
      entries: { abandoned: 1 },
      editedByHand: [{ name: "a-0" }],
    });
  });
});

it("at rest writes nothing, with entries held and others done", async () => {
  fleet = await bareFleet({ clusters: FOUR });
  await bind(fleet, "pinned", ["m1"], { placement: { clusterAffinity: { clusterNames: ["m1"] } } });
  await bindMany(fleet, "a", 2, "m1");
  await setTaints(fleet, "m1", DOWN);
  await fleet.advance("10s");
  await finishTasks(fleet);
  // Repeats of Events are gathered for ten seconds.
  await fleet.advance("15s");
  const before = await versionNow(fleet);
  await fleet.advance("30m");
  expect(await versionNow(fleet)).toBe(before);
  expect((await bindings(fleet)).map(placed)).toContainEqual(["m1"]);
});
