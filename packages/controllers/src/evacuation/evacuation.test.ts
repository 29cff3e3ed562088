/** From a taint to workloads that moved, on the production composition. */
import type { Fleet } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import {
  allEvacuations,
  bindings,
  budget,
  deployOn,
  DOWN,
  evacuation,
  evacuationFleet,
  placed,
  reasonsAbout,
  setTaints,
  watchDecisions,
} from "./evacuation.suite.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

describe("a cluster that becomes faulty", () => {
  it("is emptied at the rate, one workload every two seconds", async () => {
    fleet = await evacuationFleet();
    await deployOn(fleet, "web", 5, "m1");
    expect((await bindings(fleet)).map(placed)).toEqual(Array.from({ length: 5 }, () => ["m1"]));
    const decisions = watchDecisions(fleet);
    const start = fleet.clock.now();
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("30s");
    expect(decisions.map(({ at }) => at - start)).toEqual([0, 2000, 4000, 6000, 8000]);
    for (const binding of await bindings(fleet)) expect(placed(binding)).not.toContain("m1");
    expect(await evacuation(fleet, "m1-1")).toMatchObject({
      spec: { cluster: "m1" },
      status: {
        phase: "Completed",
        reason: "AllMoved",
        entries: { total: 5, queued: 0, evicted: 0, done: 5, held: 0, abandoned: 0, exempt: 0 },
        taints: [{ taint: { key: "down", effect: "NoExecute" }, slices: 1, recorded: true }],
      },
    });
    expect(await budget(fleet)).toMatchObject({
      status: { ratePerSecond: 0.5, reason: "FleetHealthy", failedClusters: 1, countedClusters: 3 },
    });
    expect(await reasonsAbout(fleet, "web-0-deployment")).toContain("EvictionQueued");
    expect(await allEvacuations(fleet)).toHaveLength(1);
  });
});
