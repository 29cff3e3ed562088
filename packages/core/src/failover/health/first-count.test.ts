import { describe, expect, it } from "vitest";
import { awaitsFirstCount } from "./cluster-status.ts";
import { observeAnswer, observeFailure, type Streak } from "./ready.ts";

const first: Streak = { observation: observeAnswer(), since: 5, last: 5 };
const failed: Streak = { ...first, observation: observeFailure(new Error("gone")) };
const counted = { resourceSummary: { allocatable: {} } };

describe("17.13: the first status of a Cluster", () => {
  it.each([
    ["waits for a count after its first answer", undefined, first, false, true],
    ["comes with the count", undefined, first, true, false],
    ["comes with the second answer", undefined, { ...first, last: 6 }, false, false],
    ["comes at once when the member does not answer", undefined, failed, false, false],
    ["is not waited for after a restart", counted, first, false, false],
  ])("%s", (_what, status, streak, hasRoom, waits) => {
    expect(awaitsFirstCount(status, streak, hasRoom)).toBe(waits);
  });
});
