/** What people read of a played failure: it fits 80 columns, names what is left and why, and counts. */
import { instantOf } from "@lifeboat/base";
import type { PlayedFailure, PlayedWorkload } from "@lifeboat/sim";
import { describe, expect, it } from "vitest";
import { everyLines, failureLines, snapshotLine } from "./simulate-text.ts";

const moved: PlayedWorkload = {
  workload: "Deployment shop/web",
  before: "eu-1:2",
  after: "eu-2:2",
  meanwhile: "0/2",
  leftAt: 70_000,
  wholeAt: 75_400,
  reason: "Moved",
  message: "",
};
const held: PlayedWorkload = {
  workload: "Deployment a-namespace-with-a-long-name/a-deployment-with-a-long-name",
  before: "eu-1:1",
  after: "eu-1:1",
  meanwhile: "0/1",
  reason: "Held",
  message: "NoTarget: 0/2 clusters are available.",
};
const isolated: PlayedWorkload = {
  ...held,
  reason: "Queued",
  message: "evacuation eu-1-1 is Paused: PlaneMayBeIsolated",
};
const played = (workloads: readonly PlayedWorkload[]): PlayedFailure => ({
  fail: ["eu-1"],
  clusters: [{ name: "eu-1", notReadyAt: 40_000, failedAt: 70_000 }],
  workloads,
  untouched: 3,
  playedMs: 600_000,
  isCutOff: false,
});

describe("a played failure, for people", () => {
  it("shows what moves, when, and what does not, with the reason in a sentence", () => {
    expect(failureLines(played([moved, held]))).toEqual([
      "If eu-1 failed now:",
      "  eu-1: not Ready after 40s, tainted after 1m10s",
      "  1 of 2 workloads runs whole elsewhere, the last after 1m15s; 1 does not.",
      "",
      "WORKLOAD             LEAVES  WHOLE  MEANWHILE  FROM → TO",
      "Deployment shop/web  1m10s   1m15s  0/2        eu-1:2 → eu-2:2",
      "",
      "Not whole at the end:",
      expect.stringMatching(/^WORKLOAD +WHY$/),
      expect.stringMatching(/^Deployment a-namespace.*… {2}Held, on/),
      expect.any(String),
      "",
      "Held: It would leave, and has no target.",
      "",
      "3 workloads without a copy there: no change.",
    ]);
  });

  it("names the order for a control plane that may be cut off", () => {
    const text = failureLines(played([isolated])).join(" ");
    expect(text).toContain("PlaneMayBeIsolated: More than half of the Pull clusters");
    expect(text).toContain("lifeboat evacuations agree");
    expect(failureLines(played([held])).join(" ")).not.toContain("Pull clusters");
  });

  it.each([
    [failureLines(played([moved, held]))],
    [failureLines(played([isolated]))],
    [everyLines([played([moved, held]), played([])])],
    [snapshotLine({ takenAt: instantOf(0), version: "123456789", ageMs: 90_000 })],
  ])("fits 80 columns", (lines) => {
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it("names a cluster that gets no taint, and a play that was cut off", () => {
    const lines = failureLines({
      ...played([]),
      clusters: [{ name: "eu-1", notReadyAt: 40_000 }],
      isCutOff: true,
    });
    expect(lines).toContain("  eu-1: not Ready after 40s, no taint moves its workloads");
    expect(lines).toContain("  no workload has a copy there.");
    expect(lines.at(-1)).toContain("--for");
  });
});
