import type { Cluster, Condition } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { decideHeartbeat, hasReported, watchedMs } from "./heartbeat.ts";

const GRACES = { graceMs: 40_000, startupGraceMs: 60_000 };
const ready = (status: Condition["status"], reason = "ClusterReady"): Condition => ({
  type: "Ready",
  status,
  reason,
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

describe("a Pull cluster", () => {
  it.each([
    ["that is heard of stays what it is", ready("True"), 39_999, undefined],
    ["becomes Unknown after the grace", ready("True"), 40_000, "ClusterStatusUnknown"],
    ["also one that is not ready", ready("False"), 40_000, "ClusterStatusUnknown"],
    ["that is Unknown stays so, without a write", ready("Unknown"), 999_999, undefined],
    ["that never reported has the startup grace", undefined, 59_999, undefined],
    ["and becomes Unknown after it", undefined, 60_000, "ClusterStatusNeverUpdated"],
  ])("%s", (_name, current, silentMs, reason) => {
    const { condition } = decideHeartbeat({ ...GRACES, current, silentMs });
    expect(condition?.reason).toBe(reason);
    if (reason !== undefined) expect(condition).toMatchObject({ type: "Ready", status: "Unknown" });
  });

  it("gets the message that clients know", () => {
    const { condition } = decideHeartbeat({ ...GRACES, current: ready("True"), silentMs: 41_000 });
    expect(condition?.message).toBe("Cluster status controller stopped posting cluster status.");
  });
});

describe("a message", () => {
  const cluster = (status: Cluster["status"]): Cluster => ({ status }) as Cluster;
  const told = cluster({ conditions: [ready("True")], kubernetesVersion: "v1" });
  it.each([
    ["is a Cluster that was not known", undefined, told, true],
    ["is not the same status again", told, cluster(structuredClone(told.status)), false],
    [
      "is another Ready of the agent",
      told,
      cluster({ ...told.status, conditions: [ready("False")] }),
      true,
    ],
    [
      "is Ready again after Unknown",
      cluster({ ...told.status, conditions: [ready("Unknown")] }),
      told,
      true,
    ],
    [
      "is not our own Unknown",
      told,
      cluster({ ...told.status, conditions: [ready("Unknown")] }),
      false,
    ],
    [
      "is not another's condition",
      told,
      cluster({
        ...told.status,
        conditions: [ready("True"), { ...ready("False"), type: "Leaving" }],
      }),
      false,
    ],
    [
      "is not a remedy",
      told,
      cluster({ ...told.status, remedyActions: ["TrafficControl"] }),
      false,
    ],
    ["is another count", told, cluster({ ...told.status, nodeSummary: { totalNum: 3 } }), true],
  ])("%s", (_name, old, now, expected) => {
    expect(hasReported(old, now)).toBe(expected);
  });
});

it("time in which the process stood still is not watched", () => {
  expect([0, 5000, 10_000, 10_001, 3_600_000].map((ms) => watchedMs(ms, 5000))).toEqual([
    0, 5000, 10_000, 5000, 5000,
  ]);
});
