/** Where each workload of an evacuation goes, how long that took, and the phases of an evacuation. */
import type { EvacuationSlice, LedgerEntry, ResourceBinding } from "@lifeboat/api";
import { addMs, formatTime, type Instant, plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { entriesBetween } from "./entries.ts";
import { binding, cluster, evacuation, NOW } from "./makers.suite.ts";
import { movesOf, phasesOf } from "./moves.ts";

const at = (seconds: number): Instant => addMs(NOW, seconds * 1000);
const slice = {
  spec: {
    evacuation: "eu-1-1",
    taint: { key: "down", effect: "NoExecute" },
    ordinal: 0,
    entries: [
      {
        binding: { kind: "ResourceBinding", namespace: "shop", name: "web-deployment", uid: "b1" },
        resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        lane: "Workload",
        purgeMode: "Gracefully",
      },
    ],
  },
} as unknown as EvacuationSlice;
const record = evacuation({}, { startedAt: formatTime(at(1)) });

const before = binding([["eu-1", 2]]);
const evicted = binding([], ["eu-1"]);
const placed = binding([["eu-2", 2]], ["eu-1"]);
const moved = binding([["eu-2", 2]]);
const history: readonly LedgerEntry[] = [
  ...entriesBetween(cluster("True"), cluster("False"), at(0)),
  ...entriesBetween(cluster("False"), cluster("False", ["down"]), at(1)),
  ...entriesBetween(undefined, record, at(1)),
  ...entriesBetween(before, evicted, at(2)),
  ...entriesBetween(evicted, placed, at(3)),
  ...entriesBetween(placed, moved, at(7)),
];

function move(one: ResourceBinding, told: readonly LedgerEntry[] = history) {
  const [found] = movesOf({
    evacuation: record,
    slices: [slice],
    bindings: [one],
    clusters: [cluster("False", ["down"])],
    approval: "Policy",
    moment: plainMoment(NOW),
    trust: { trustFencedCondition: false },
    history: told,
  });
  return found;
}

describe("a workload", () => {
  it("that waits has not left", () => {
    expect(move(before, [])).toMatchObject({ progress: "Queued", from: "eu-1:2", to: "" });
  });

  it("that moves carries its state, since it left", () => {
    expect(move(placed, [])).toMatchObject({
      progress: "Evicted",
      from: "eu-1",
      to: "eu-2:2",
      carried: "job=7",
      leftAt: NOW,
    });
    expect(move(placed)).not.toHaveProperty("tookMs");
  });

  it("that moved took as long as the history tells", () => {
    expect(move(moved)).toMatchObject({ progress: "Done", to: "eu-2:2", tookMs: 5000 });
    expect(move(moved, [])).not.toHaveProperty("tookMs");
  });

  it("in mode Directly waits for the proof that its cluster is off", () => {
    const [task] = evicted.spec.gracefulEvictionTasks ?? [];
    const direct = {
      ...evicted,
      spec: { ...evicted.spec, gracefulEvictionTasks: [{ ...task, purgeMode: "Directly" }] },
    } as ResourceBinding;
    expect(move(direct)).toMatchObject({ progress: "AwaitingFence" });
  });
});

describe("phases", () => {
  it("have the times of the objects and of the history", () => {
    const over = evacuation(
      {},
      { startedAt: formatTime(at(1)), finishedAt: formatTime(at(9)), phase: "Completed" },
    );
    expect([...phasesOf(over, undefined, history)].toSorted(([, a], [, b]) => a - b)).toEqual([
      ["NotReady", at(0)],
      ["Tainted", at(1)],
      ["Recorded", at(1)],
      ["FirstReleased", at(2)],
      ["LastMoved", at(7)],
      ["Ended", at(9)],
    ]);
  });

  it("leave out what is not known", () => {
    expect([...phasesOf(record, undefined, [])]).toEqual([["Tainted", at(1)]]);
    expect(phasesOf(evacuation(), undefined, []).size).toBe(0);
  });
});
