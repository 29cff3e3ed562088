/** Oracles of what people order, on evictions made up for them. */
import { describe, expect, it } from "vitest";
import { Evictions, FAULTY } from "./evictions.suite.ts";

/** m1 has failed since the tenth second, and a is on it. */
function failed(spec: Readonly<Record<string, unknown>> = {}): Evictions {
  const story = new Evictions();
  story.budget({}, spec);
  story.on("m1", "a", "b", "c");
  story.cluster("m1", FAULTY);
  return story;
}

describe("unapproved-moves-nobody", () => {
  it.each([
    ["00:00:30", false],
    ["00:00:15", true],
  ])("with an approval that ends at %s it is broken ten seconds later: %s", (time, isBroken) => {
    const story = failed();
    const binding = { kind: "ResourceBinding", namespace: "default", name: "a", uid: "a" };
    story.put("lifeboat.dev/evacuationslices//m1-1-x-0", {
      kind: "EvacuationSlice",
      metadata: { name: "m1-1-x-0" },
      spec: { evacuation: "m1-1", taint: FAULTY, entries: [{ binding, approval: "Required" }] },
    });
    const approvals = [{ expiresAt: `2026-01-01T${time}Z` }];
    story.put("lifeboat.dev/evacuations//x", {
      kind: "Evacuation",
      metadata: { name: "x" },
      spec: { cluster: "m1", approvals },
    });
    story.pass(10);
    story.evict("a", "m1");
    expect(story.hasSpoken("unapproved-moves-nobody")).toBe(isBroken);
  });
});

describe("a-rate-that-a-person-set-holds", () => {
  /** A rate for the first minute, and evictions of a, b and c with so many seconds before each. */
  const set = (perSecond: number, ...pauses: readonly number[]): Evictions => {
    const rateOverride = {
      perSecond,
      setAt: "2026-01-01T00:00:00Z",
      until: "2026-01-01T00:01:00Z",
      reason: "a test",
    };
    const story = failed({ rateOverride });
    for (const [i, seconds] of pauses.entries()) {
      story.pass(seconds);
      story.evict(["a", "b", "c"][i] ?? "", "m1");
    }
    return story;
  };

  it.each<[string, boolean, number, readonly number[]]>([
    ["none is evicted at a rate of 0", false, 0, []],
    ["one is", true, 0, [10]],
    ["one is, once its time is over", false, 0, [55]],
    ["one is, before the plane can have heard of it", false, 0, [1]],
    ["as many are as it allows", false, 0.1, [10, 10, 10]],
    ["more are", true, 0.1, [3, 1, 1]],
    ["more are, once its time is over", false, 0.1, [55, 1, 1]],
  ])("when %s it is broken: %s", (_when, isBroken, perSecond, pauses) => {
    expect(set(perSecond, ...pauses).hasSpoken("a-rate-that-a-person-set-holds")).toBe(isBroken);
  });
});
