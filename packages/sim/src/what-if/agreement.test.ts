/** Foresight agrees with what happens; `agreement.fuzz.test.ts` asks the same of many more fleets. */
import { describe, it } from "vitest";
import {
  expectExplainedAgrees,
  expectForeseenAgrees,
  expectPlayedAgrees,
} from "./agreement.suite.ts";

describe("of a random fleet", { timeout: 120_000 }, () => {
  // From the fifth on members pull; of 12 all of them fail, as with a region.
  it.each([1, 2, 3, 4, 12, 35])("a played failure is what then happens (%i)", expectPlayedAgrees);
  // Among these are fleets with failed clusters, pauses, and a rate that a person set.
  it.each([3, 5, 13, 31])("a foreseen failure is what a play tells (%i)", expectForeseenAgrees);
  it.each([2, 5, 7, 17, 42])("explain tells what a play tells (%i)", expectExplainedAgrees);
});
