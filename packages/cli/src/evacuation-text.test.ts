import type { Evacuation } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { bar, listEvacuations, progressLine, showEvacuation } from "./evacuation-text.ts";

const now = instantOf(Date.UTC(2026, 0, 1, 12));
const entries = {
  total: 12,
  queued: 3,
  evicted: 2,
  done: 4,
  held: 1,
  abandoned: 1,
  exempt: 1,
};

function evacuation(name: string, status: Partial<Evacuation["status"]> = {}): Evacuation {
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T11:50:00Z" },
    spec: { cluster: "eu-1", paused: false },
    status: {
      phase: "Running",
      reason: "Moving",
      message: "Workloads are moving.",
      entries,
      rate: { perSecond: 0.5, reason: "FleetHealthy" },
      estimatedSecondsLeft: 90,
      ...status,
    },
  };
}

it.each([
  [0, 4, "[....................]"],
  [1, 3, "[######..............]"],
  [4, 4, "[####################]"],
  [0, 0, "[####################]"],
])("the bar of %d of %d is %s", (part, whole, expected) => {
  expect(bar(part, whole)).toBe(expected);
});

it("says in one line how far an evacuation is", () => {
  expect(progressLine(evacuation("eu-1-1"))).toBe(
    "[########............] Running: 4/10 moved, 2 moving, 1 held, 90s left",
  );
  expect(progressLine({ ...evacuation("eu-1-1"), status: {} })).toBe(
    "[####################] Recording: 0/0 moved",
  );
});

describe("listEvacuations", () => {
  it("shows those that go on first", () => {
    const finished = evacuation("eu-1-1", {
      phase: "Completed",
      reason: "AllMoved",
      finishedAt: "2026-01-01T11:55:00Z",
    });
    expect(listEvacuations([finished, evacuation("eu-1-2")], now)).toEqual([
      "NAME    PHASE      MOVED  HELD  RATE   AGE  REASON",
      "eu-1-2  Running    4/10   1     0.5/s  10m  Moving",
      "eu-1-1  Completed  4/10   1            10m  AllMoved",
    ]);
  });

  it("stays within 80 columns with the longest names", () => {
    for (const line of listEvacuations([evacuation("x".repeat(52))], now))
      expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe("showEvacuation", () => {
  const binding = {
    kind: "ResourceBinding" as const,
    namespace: "shop",
    name: "cart-deployment",
    uid: "u",
  };
  it("says everything that is known", () => {
    const taint = { key: "down", effect: "NoExecute" as const };
    const one = evacuation("eu-1-1", {
      taints: [{ taint, slices: 1, recorded: true }],
      startedAt: "2026-01-01T11:50:00Z",
      held: [{ binding, reason: "NoTarget", message: "0/2 clusters are available." }],
    });
    expect(showEvacuation(one, { phases: "tainted 11:50:00", moves: ["a table"] }, now)).toEqual([
      "Evacuation  eu-1-1",
      "Cluster     eu-1",
      "Phase       Running, Moving: Workloads are moving.",
      "Taint       down:NoExecute",
      "Started     2026-01-01T11:50:00Z (10m ago)",
      "Phases      tainted 11:50:00",
      "Moved       [########............] 4 of 10",
      "Entries     12 total, 3 queued, 2 evicted, 4 done, 1 held, 1 abandoned, 1 exempt",
      "Rate        0.5 per second, FleetHealthy: Enough of the fleet is healthy:",
      "            workloads move at the configured rate.",
      "Time left   about 90s",
      "",
      "a table",
    ]);
    expect(showEvacuation(one, { phases: "", moves: [] }, now).slice(-2)).toEqual([
      "Held for now:",
      "  shop/cart-deployment is held, NoTarget: 0/2 clusters are available.",
    ]);
  });

  it("shows what the API says and does not obey it", () => {
    const text = showEvacuation(
      evacuation("e", { message: "\u001b[2J\u0007" }),
      { phases: "", moves: [] },
      now,
    ).join("");
    expect(text).not.toContain("\u001b");
    expect(text).not.toContain("\u0007");
  });
});
