/** What happens when the API server refuses, loses answers, or is written by others; and what the metrics show. */
import { type AnyObject, evacuations, failure, Refused, resourceBindings } from "@lifeboat/api";
import { DEFAULT_RATES } from "@lifeboat/core/failover/evacuation";
import { type Client, type Metrics, OutcomeUnknown } from "@lifeboat/kit";
import { createPromMetrics } from "@lifeboat/kit/adapters";
import { type Fleet, reasonsAbout, resources, wrapped } from "@lifeboat/testkit";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  allSlices,
  bareFleet,
  type BareSettings,
  bind,
  bindingOf,
  bindMany,
  DOWN,
  evacuation,
  finishTasks,
  setTaints,
  watchDecisions,
} from "./evacuation.suite.ts";

/** Other work on the machine must not fail them. */
vi.setConfig({ testTimeout: 60_000 });

let fleet: Fleet;
afterEach(() => fleet.close());
const FOUR = ["m1", "m2", "m3", "m4"];

type Update = Client["update"];

/** A fleet in which updates by evacuations go through this. */
async function fleetWith(
  update: (plane: Client) => Update,
  settings: Partial<BareSettings> = {},
): Promise<void> {
  fleet = await bareFleet({
    clusters: FOUR,
    ...settings,
    through: (context) => ({
      ...context,
      plane: { ...wrapped(context.plane), update: update(context.plane) },
    }),
  });
}

describe("a lost answer", () => {
  it.each(["evacuationbudgets", "resourcebindings"])(
    "about %s counts as used: no workload moves twice or too early",
    async (plural) => {
      let lost = 0;
      await fleetWith((plane) => async (resource, object, options) => {
        const answer = await plane.update(resource, object, options);
        if (resource.plural === plural && lost++ % 2 === 0) throw new OutcomeUnknown("lost");
        return answer;
      });
      await bindMany(fleet, "a", 4, "m1");
      const decisions = watchDecisions(fleet);
      await setTaints(fleet, "m1", DOWN);
      await fleet.advance("1m");
      expect(decisions.map(({ binding }) => binding).toSorted()).toEqual([
        "a-0",
        "a-1",
        "a-2",
        "a-3",
      ]);
      for (const [i, { at }] of decisions.entries())
        expect(at - (decisions[0]?.at ?? 0)).toBeGreaterThanOrEqual(i * 2000);
    },
  );
});

describe("a budget whose writes are refused", () => {
  it.each(["Conflict", "InternalError"])("is asked for less and less often: %s", async (reason) => {
    let asked = 0;
    await fleetWith((plane) => (resource, object, options) => {
      if (resource.plural !== "evacuationbudgets") return plane.update(resource, object, options);
      asked += 1;
      // A loop that never rests would never let this test end.
      if (asked > 10_000) return plane.update(resource, object, options);
      throw new Refused(failure(reason === "Conflict" ? 409 : 500, reason, "not now"));
    });
    await bindMany(fleet, "a", 2, "m1");
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1m");
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(150);
  });
});

describe("a binding that others write", () => {
  it("is decided on again, with the same token", async () => {
    let disturbed = 0;
    await fleetWith((plane) => async (resource, object, options) => {
      if (resource.plural === "resourcebindings" && disturbed++ === 0) {
        const found = await plane.get(resourceBindings, {
          namespace: "default",
          name: object.metadata.name,
        });
        const labels = { ...found.metadata.labels, touched: "yes" };
        await plane.update(resourceBindings, { ...found, metadata: { ...found.metadata, labels } });
      }
      return plane.update(resource, object, options);
    });
    await bindMany(fleet, "a", 1, "m1");
    const start = fleet.clock.now();
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    expect(decisions).toMatchObject([{ binding: "a-0", at: start }]);
    const { metadata, spec } = await bindingOf(fleet, "a-0");
    expect(metadata.labels).toMatchObject({ touched: "yes" });
    expect(spec.gracefulEvictionTasks).toMatchObject([
      {
        fromCluster: "m1",
        reason: "TaintUntolerated",
        producer: "TaintManager",
        purgeMode: "Gracefully",
        replicas: 1,
        clustersBeforeFailover: ["m1"],
      },
    ]);
  });
});

describe("an eviction that the server refuses", () => {
  it("is held with the server's words, and the others go on", async () => {
    await fleetWith((plane) => (resource, object, options) => {
      const isRefused = resource.plural === "resourcebindings" && object.metadata.name === "a-0";
      if (isRefused)
        return Promise.reject(new Refused(failure(422, "Invalid", "a webhook says no")));
      return plane.update(resource, object, options);
    });
    await bindMany(fleet, "a", 2, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10s");
    expect(decisions.map(({ binding }) => binding)).toEqual(["a-1"]);
    expect((await evacuation(fleet, "m1-1")).status?.held).toMatchObject([
      { binding: { name: "a-0" }, reason: "EvictionRefused", message: "a webhook says no" },
    ]);
    const reasons = await reasonsAbout(fleet.plane, "a-0");
    expect(reasons).toContain("EvictWorkloadFromClusterFailed");
    expect(reasons).toContain("EvictionHeld");
  });
});

describe("the metrics", () => {
  it("show the queue as it is, and end with it", async () => {
    const metrics: Metrics = createPromMetrics();
    fleet = await bareFleet({ clusters: FOUR, through: (context) => ({ ...context, metrics }) });
    await bindMany(fleet, "a", 3, "m1");
    await bind(fleet, "pinned", ["m1"], {
      placement: { clusterAffinity: { clusterNames: ["m1"] } },
    });
    const lines = async (name: string): Promise<readonly string[]> =>
      (await metrics.expose())
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1s");
    expect(await lines("evict_total")).toEqual(['evict_total{cluster_name="m1"} 3']);
    expect(await lines("evict_kind_total")).toEqual([
      'evict_kind_total{cluster_name="m1",resource_kind="apps/v1/Deployment"} 3',
    ]);
    expect(await lines("cluster_fault_num")).toEqual(["cluster_fault_num 1"]);
    expect(await lines("cluster_fault_rate")).toEqual(["cluster_fault_rate 0.25"]);
    await fleet.advance("10s");
    expect(await lines("evict_total")).toEqual(['evict_total{cluster_name="m1"} 1']);
    expect(await lines("evict_rate")).toEqual(['evict_rate{cluster_name="m1"} 0.05']);
    expect(await lines("evict_success_rate")).toEqual([
      'evict_success_rate{cluster_name="m1"} 0.75',
    ]);
    expect(await lines("evict_processing_latency_seconds_count")).toEqual([
      'evict_processing_latency_seconds_count{cluster_name="m1"} 3',
    ]);
    await fleet.restart();
    await fleet.advance("10s");
    expect(await lines("evict_success_rate")).toEqual([
      'evict_success_rate{cluster_name="m1"} 0.75',
    ]);
    await finishTasks(fleet);
    await setTaints(fleet, "m1");
    await fleet.advance("6m");
    for (const name of ["evict_total", "evict_kind_total", "evict_rate", "evict_success_rate"])
      expect(await lines(name)).toEqual([]);
    expect(await lines("evict_processing_latency_seconds_count")).toEqual([]);
    expect(await lines("cluster_fault_num")).toEqual(["cluster_fault_num 0"]);
  });

  it("17.15: stay while the cluster is faulty, and five minutes after", async () => {
    const metrics: Metrics = createPromMetrics();
    fleet = await bareFleet({ clusters: FOUR, through: (context) => ({ ...context, metrics }) });
    await bind(fleet, "a", ["m1"]);
    const series = async (): Promise<readonly string[]> =>
      (await metrics.expose())
        .split("\n")
        .filter((line) => line.startsWith("evict_") && !/_(bucket|sum)\{/.test(line));
    const shown = (rate: number): readonly string[] => [
      'evict_total{cluster_name="m1"} 0',
      'evict_kind_total{cluster_name="m1",resource_kind="apps/v1/Deployment"} 0',
      `evict_rate{cluster_name="m1"} ${rate}`,
      'evict_processing_latency_seconds_count{cluster_name="m1"} 1',
      'evict_success_rate{cluster_name="m1"} 1',
    ];
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("20s");
    await finishTasks(fleet);
    await fleet.advance("1s");
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({ phase: "Completed" });
    expect(await series()).toEqual(shown(1 / 60));
    await fleet.advance("1h");
    expect(await series()).toEqual(shown(0));
    await setTaints(fleet, "m1");
    await fleet.advance("4m");
    expect(await series()).toEqual(shown(0));
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("4m");
    await setTaints(fleet, "m1");
    await fleet.advance("4m");
    expect(await series()).toEqual(shown(0));
    await fleet.advance("2m");
    expect(await series()).toEqual([]);
  });

  it("17.15: do not count what is tolerated for a time, whatever held it before", async () => {
    const metrics: Metrics = createPromMetrics();
    fleet = await bareFleet({ clusters: FOUR, through: (context) => ({ ...context, metrics }) });
    await bind(fleet, "pinned", ["m1"], {
      placement: { clusterAffinity: { clusterNames: ["m1"] } },
      failover: { cluster: { tolerationSeconds: 600, purgeMode: "Gracefully" } },
    });
    const total = async (): Promise<string | undefined> =>
      (await metrics.expose()).split("\n").find((line) => line.startsWith("evict_total{"));
    const later = { ...DOWN, key: "slow", effect: "PreferNoExecute" } as const;
    await setTaints(fleet, "m1", DOWN, later);
    await fleet.advance("5s");
    expect(await total()).toBe('evict_total{cluster_name="m1"} 1');
    expect((await evacuation(fleet, "m1-1")).status?.entries).toMatchObject({ queued: 0, held: 1 });
    await setTaints(fleet, "m1", later);
    await fleet.advance("5s");
    expect(await total()).toBe('evict_total{cluster_name="m1"} 0');
    const { status } = await evacuation(fleet, "m1-1");
    expect(status).toMatchObject({ reason: "AwaitingToleration", entries: { queued: 1, held: 0 } });
    expect(status).not.toHaveProperty("held");
    await fleet.advance("10m");
    expect(await total()).toBe('evict_total{cluster_name="m1"} 1');
  });

  it("count what was abandoned by command, and show nothing of a cluster that was never faulty", async () => {
    const metrics: Metrics = createPromMetrics();
    fleet = await bareFleet({ clusters: FOUR, through: (context) => ({ ...context, metrics }) });
    await bindMany(fleet, "a", 4, "m1");
    await bind(fleet, "b", ["m2"]);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1s");
    const { binding } = (await allSlices(fleet))[0]?.spec.entries[3] ?? {};
    const found = await evacuation(fleet, "m1-1");
    const status = { ...found.status, editedByHand: binding === undefined ? [] : [binding] };
    await fleet.plane.update(evacuations, { ...found, status }, { subresource: "status" });
    await fleet.advance("2s");
    expect(await metrics.expose()).toContain(`evict_success_rate{cluster_name="m1"} ${2 / 3}`);
    expect(await reasonsAbout(fleet.plane, "a-3")).toContain("EvictionAbandoned");
    await setTaints(fleet, "m1");
    await setTaints(fleet, "m2", DOWN);
    await fleet.advance("20s");
    expect((await evacuation(fleet, "m2-1")).status).toMatchObject({ entries: { evicted: 1 } });
    expect(await metrics.expose()).toContain('evict_total{cluster_name="m2"} 0');
    expect(await metrics.expose()).not.toMatch(/^evict_[a-z_]+\{cluster_name="m[34]"/m);
  });
});

describe("the Events", () => {
  it("report what happens to a workload on its binding, its template and the Cluster", async () => {
    fleet = await bareFleet({
      clusters: FOUR,
      options: { rates: { ...DEFAULT_RATES, rate: 0.1 } },
    });
    await bindMany(fleet, "a", 3, "m1");
    await bind(fleet, "0-pinned", ["m1"], {
      placement: { clusterAffinity: { clusterNames: ["m1"] } },
    });
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("12s");
    await setTaints(fleet, "m1");
    await fleet.advance("2s");
    const { items } = await fleet.plane.list(resources.events);
    const told = new Set(
      (items as readonly AnyObject[]).map((event) => {
        const { kind, name } = event["involvedObject"] as Record<string, string>;
        return `${kind} ${name} ${String(event["reason"])}`;
      }),
    );
    const both = (name: string, reason: string) =>
      ["ResourceBinding", "Deployment"].map((kind) => `${kind} ${name} ${reason}`);
    for (const line of [
      ...["a-0", "a-1", "a-2", "0-pinned"].flatMap((name) => both(name, "EvictionQueued")),
      ...both("a-0", "EvictionDecided"),
      ...both("0-pinned", "EvictionHeld"),
      ...both("a-2", "EvictionAbandoned"),
      "Cluster m1 EvictionQueued",
      "Cluster m1 EvictionHeld",
      "Cluster m1 EvictionAbandoned",
    ])
      expect(told).toContain(line);
    expect(told).not.toContain("Deployment a-0 EvictionAbandoned");
  });
});
