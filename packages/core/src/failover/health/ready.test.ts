/** When an observation of a cluster's health counts. */
import { type Condition, failure, Refused } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import {
  decideReady,
  extendStreak,
  type Observation,
  observeAnswer,
  observeFailure,
  observeUnusable,
  type Streak,
  streakAfterChange,
} from "./ready.ts";

const THRESHOLDS = { failureThresholdMs: 30_000, successThresholdMs: 20_000 };
const GOOD = observeAnswer();
const SILENT = observeFailure(new Error("connection refused"));
const REFUSED = observeFailure(new Refused(failure(401, "Unauthorized", "Unauthorized")));

function condition(status: Condition["status"], reason = "x"): Condition {
  return {
    type: "Ready",
    status,
    reason,
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
}

function streak(observation: Observation, ms: number): Streak {
  return { observation, since: 1000, last: 1000 + ms };
}

describe("a probe", () => {
  it.each([
    { name: "that is answered", got: GOOD, want: ["True", "ClusterReady"] },
    { name: "without an answer", got: SILENT, want: ["False", "ClusterNotReachable"] },
    {
      name: "answered by an error",
      got: observeFailure(new Refused(failure(500, "InternalError", "broken"))),
      want: ["False", "ClusterNotReady"],
    },
    {
      name: "answered by too many requests",
      got: observeFailure(new Refused(failure(429, "TooManyRequests", "later"))),
      want: ["False", "ClusterNotReady"],
    },
    { name: "without a right", got: REFUSED, want: ["False", "StatusCollectionFailed"] },
    {
      name: "that is forbidden",
      got: observeFailure(new Refused(failure(403, "Forbidden", "no"))),
      want: ["False", "StatusCollectionFailed"],
    },
  ])("$name is $want", ({ got, want }) => {
    expect([got.status, got.reason]).toEqual(want);
    expect(got.message).not.toBe("");
  });

  it("reports what is wrong with the credential, and what keeps a cluster from being probed", () => {
    expect(REFUSED.message).toContain("401");
    expect(observeUnusable("the Secret a/b does not exist").message).toBe(
      "failed to create a ClusterClient: the Secret a/b does not exist",
    );
  });
});

describe("the condition Ready", () => {
  it.each([
    { name: "nothing known, good", current: undefined, seen: streak(GOOD, 0), want: "True" },
    { name: "nothing known, silent", current: undefined, seen: streak(SILENT, 0), want: "False" },
    { name: "ready, good", current: "True", seen: streak(GOOD, 0), want: "True" },
    { name: "ready, silent since now", current: "True", seen: streak(SILENT, 0), want: "kept" },
    { name: "ready, silent, short", current: "True", seen: streak(SILENT, 29_999), want: "kept" },
    { name: "ready, silent, long", current: "True", seen: streak(SILENT, 30_000), want: "False" },
    { name: "not ready, good, short", current: "False", seen: streak(GOOD, 19_999), want: "kept" },
    { name: "not ready, good, long", current: "False", seen: streak(GOOD, 20_000), want: "True" },
    { name: "unknown, silent", current: "Unknown", seen: streak(SILENT, 0), want: "False" },
    { name: "unknown, good, short", current: "Unknown", seen: streak(GOOD, 0), want: "kept" },
    { name: "unknown, good, long", current: "Unknown", seen: streak(GOOD, 20_000), want: "True" },
    { name: "not ready, silent", current: "False", seen: streak(SILENT, 0), want: "False" },
  ] as const)("is $want when it was $name", ({ current, seen, want }) => {
    const plan = decideReady({
      current: current === undefined ? undefined : condition(current),
      streak: seen,
      ...THRESHOLDS,
    });
    expect(plan.condition?.status ?? "kept").toBe(want);
    expect(plan.reason === "AwaitingThreshold").toBe(want === "kept");
  });

  it("takes another reason for the same status at once", () => {
    const current = condition("False", "ClusterNotReachable");
    const plan = decideReady({ current, streak: streak(REFUSED, 0), ...THRESHOLDS });
    expect(plan.condition).toMatchObject({ status: "False", reason: "StatusCollectionFailed" });
  });

  it("follows every observation when there are no thresholds", () => {
    const none = { failureThresholdMs: 0, successThresholdMs: 0 };
    const down = decideReady({ current: condition("True"), streak: streak(SILENT, 0), ...none });
    expect(down.condition?.status).toBe("False");
  });
});

describe("a streak", () => {
  it("goes on while the status stays, with the newest reason, and begins again when it turns", () => {
    const first = extendStreak(undefined, SILENT, 5);
    const second = extendStreak(first, REFUSED, 7);
    expect(second).toEqual({ observation: REFUSED, since: 5, last: 7 });
    expect(extendStreak(second, GOOD, 9)).toEqual({ observation: GOOD, since: 9, last: 9 });
  });

  it.each([
    { name: "silence, same address", former: streak(SILENT, 9), same: true, kept: true },
    { name: "silence, other address", former: streak(SILENT, 9), same: false, kept: false },
    { name: "a refused credential", former: streak(REFUSED, 9), same: true, kept: false },
    { name: "success", former: streak(GOOD, 9), same: true, kept: true },
    { name: "nothing", former: undefined, same: true, kept: false },
  ])("after a change of the connection: $name is kept: $kept", ({ former, same, kept }) => {
    expect(streakAfterChange(former, same)).toBe(kept ? former : undefined);
  });
});

describe("a second replica", () => {
  const long = streak(SILENT, 30_000);
  it.each([
    { second: "awaited", current: condition("True"), want: "AwaitingSecond" },
    { second: "disagrees", current: condition("True"), want: "AwaitingSecond" },
    { second: "agrees", current: condition("True"), want: "HeldForThreshold" },
    { second: undefined, current: condition("True"), want: "HeldForThreshold" },
    { second: "awaited", current: undefined, want: "AwaitingSecond" },
    { second: "agrees", current: undefined, want: "NeverReported" },
    { second: "awaited", current: condition("Unknown"), want: "AwaitingSecond" },
    { second: "awaited", current: condition("False"), want: "NoCrossing" },
  ] as const)(
    "$second about a cluster that is $current.status: $want",
    ({ second, current, want }) => {
      const plan = decideReady({ current, streak: long, second, ...THRESHOLDS });
      expect(plan.reason).toBe(want);
      expect(plan.condition === undefined).toBe(want === "AwaitingSecond");
    },
  );

  it("does not shorten the threshold, and is not asked about a cluster that answers", () => {
    const young = { current: condition("True"), streak: streak(SILENT, 29_999), ...THRESHOLDS };
    expect(decideReady({ ...young, second: "agrees" }).reason).toBe("AwaitingThreshold");
    const well = { current: condition("False"), streak: streak(GOOD, 20_000), ...THRESHOLDS };
    expect(decideReady({ ...well, second: "awaited" }).reason).toBe("HeldForThreshold");
  });
});
