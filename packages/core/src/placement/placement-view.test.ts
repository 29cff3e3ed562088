/** Which views wait for a purge, and what that changes for the workload. */
import type { ResourceBinding } from "@lifeboat/api";
import { plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { findTarget } from "./find-target.ts";
import { divided, makeBinding, makeCluster, NOW, sharesOf } from "./makers.suite.ts";
import { place } from "./place.ts";
import { fleetViewOf, placementViewOf } from "./placement-view.ts";

/** Two of its three replicas left c and are still there. */
function leaving(purgeMode: "Directly" | "Gracefully"): ResourceBinding {
  const task = { fromCluster: "c", replicas: 2, reason: "T", producer: "T", purgeMode };
  return makeBinding({
    placement: divided("Aggregated"),
    replicas: 3,
    clusters: { a: 1 },
    spec: { gracefulEvictionTasks: [task] },
  });
}

const clusters = ["a", "b"].map((name) => makeCluster(name, { pods: 10 }));
const moment = plainMoment(NOW);

describe("placementViewOf", () => {
  it.each([
    ["result", "Directly", 2],
    ["result", "Gracefully", undefined],
    ["target", "Directly", undefined],
    ["target", "Gracefully", undefined],
  ] as const)("for a %s while a copy leaves in mode %s waits for %s", (purpose, mode, waits) => {
    const binding = leaving(mode);
    const view = placementViewOf(binding, fleetViewOf(clusters, [binding]), purpose);
    expect(view.waitForPurge).toBe(waits);
  });

  it("does not place what is being purged, and finds room for it all the same", () => {
    const binding = leaving("Directly");
    const seen = fleetViewOf(clusters, []);
    const result = place(placementViewOf(binding, seen, "result"), moment);
    expect([result.reason, sharesOf(result)]).toEqual(["AwaitingPurge", { a: 1 }]);
    const target = placementViewOf(binding, seen, "target");
    expect(findTarget(target, new Set(["a"]), moment)).toEqual({
      found: true,
      clusters: [{ name: "b", replicas: 3 }],
    });
  });

  it("asks for room for everything, also for what waits for a purge", () => {
    const binding = leaving("Directly");
    const small = [makeCluster("a", { pods: 10 }), makeCluster("b", { pods: 2 })];
    const target = placementViewOf(binding, fleetViewOf(small, []), "target");
    expect(findTarget(target, new Set(["a"]), moment).found).toBe(false);
  });

  it("hands on what was estimated for the binding", () => {
    const seen = { ...fleetViewOf(clusters, []), estimates: new Map([["a", 1]]) };
    expect(placementViewOf(makeBinding(), seen, "result").estimates).toBe(seen.estimates);
    expect(placementViewOf(makeBinding(), fleetViewOf([], []), "result")).not.toHaveProperty(
      "estimates",
    );
  });
});

describe("fleetViewOf", () => {
  it("counts what the bindings were promised and no copy reports", () => {
    const { fleet, reserved } = fleetViewOf(clusters, [leaving("Directly"), leaving("Directly")]);
    expect(fleet.candidates.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(reserved.get("a")?.get("pods")).toBe(2);
  });
});
