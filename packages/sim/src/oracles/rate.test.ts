/** Oracles of the rate, on evictions made up for them. */
import { describe, expect, it } from "vitest";
import { Evictions, FAULTY } from "./evictions.suite.ts";
import type { Circumstances } from "./circumstances.ts";

/** m1 has failed; a and b leave it with so many seconds between them, in which something may happen. */
function twoLeave(
  seconds: number,
  circumstances: Partial<Circumstances> = {},
  between: (story: Evictions) => void = () => undefined,
): Evictions {
  const story = new Evictions(circumstances);
  story.on("m1", "a", "b");
  story.cluster("m1", FAULTY);
  story.evict("a", "m1");
  between(story);
  story.pass(seconds);
  story.evict("b", "m1");
  return story;
}

const TWO: Partial<Circumstances> = {
  hasTwoLeaders: true,
  lateTimes: [{ from: 0, until: 100, delayMs: 100 }],
};

describe("evictions-keep-the-rate", () => {
  it.each<[string, number, boolean, Partial<Circumstances>]>([
    ["two seconds are between them", 2, false, {}],
    ["less is", 1.9, true, {}],
    ["less is, but only by what writes take", 1.997, false, { syncDelayMs: 1 }],
    ["less is, by more than writes take", 1.99, true, { syncDelayMs: 1 }],
    ["less is, and the clock jumped in a life of the plane", 1.9, false, { clockChanges: [10] }],
    ["much less is, and the clock jumped", 0.5, true, { clockChanges: [10] }],
    ["less is, of two sets of controllers", 1.9, true, { hasTwoLeaders: true }],
    ["as much less as requests take is, of two sets of controllers", 1.5, false, TWO],
    ["more is missing than requests take, of two sets of controllers", 1, true, TWO],
  ])("when %s", (_when, seconds, isBroken, circumstances) => {
    const story = twoLeave(seconds, circumstances);
    expect(story.hasSpoken("evictions-keep-the-rate")).toBe(isBroken);
  });
});

describe("restarts-grant-no-token", () => {
  it.each([
    [1.5, true],
    [2, false],
  ])("with a restart and %d s between two evictions it is broken: %s", (seconds, isBroken) => {
    const story = twoLeave(seconds, {}, (s) => s.restart());
    expect(story.hasSpoken("restarts-grant-no-token")).toBe(isBroken);
  });

  it("does not know how long it is since, where the clock was changed between two lives", () => {
    const story = twoLeave(1, { clockChanges: [10] }, (s) => s.restart());
    expect(story.hasSpoken("restarts-grant-no-token")).toBe(false);
  });
});

describe("stops-are-not-caught-up", () => {
  it.each([
    [0.1, true],
    [2, false],
  ])("with %d s between evictions after a stop it is broken: %s", (seconds, isBroken) => {
    const story = new Evictions();
    story.on("m1", "a", "b", "c");
    story.cluster("m1", FAULTY);
    story.evict("a", "m1");
    story.pass(60);
    story.evict("b", "m1");
    story.pass(seconds);
    story.evict("c", "m1");
    expect(story.hasSpoken("stops-are-not-caught-up")).toBe(isBroken);
  });
});

describe.each([
  ["evictions-follow-the-fleet", ["m1"], ["m1", "m2"]],
  ["nothing-moves-when-everything-is-down", ["m1", "m2"], ["m1", "m2", "m3"]],
])("%s", (oracle, few, many) => {
  it.each([
    ["kept", few],
    ["broken", many],
  ])("is %s when %j have failed", (verdict, failed) => {
    const story = new Evictions();
    story.on("m1", "a");
    for (const name of failed) story.cluster(name, FAULTY);
    story.pass(10);
    story.evict("a", "m1");
    expect(story.hasSpoken(oracle)).toBe(verdict === "broken");
  });
});

describe("the-budget-counts-the-fleet", () => {
  it.each([
    ["kept", { failedClusters: 1, countedClusters: 3, ratePerSecond: 0.5 }],
    ["broken", { failedClusters: 2, countedClusters: 3, ratePerSecond: 0.5 }],
    ["broken", { failedClusters: 1, countedClusters: 3, ratePerSecond: 5 }],
  ])("is %s when a reservation says %j", (verdict, status) => {
    const story = new Evictions();
    story.cluster("m1", FAULTY);
    story.pass(10);
    story.budget({ reservedUntil: "2026-01-01T00:00:10Z", ...status });
    expect(story.hasSpoken("the-budget-counts-the-fleet")).toBe(verdict === "broken");
  });
});
