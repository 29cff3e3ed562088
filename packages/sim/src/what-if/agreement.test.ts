/** Foresight agrees with what happens; `agreement.fuzz.test.ts` asks the same of many more fleets. */
import { describe, it } from "vitest";
import {
  expectExplainedAgrees,
  expectForeseenAgrees,
  expectPlayedAgrees,
} from "./agreement.suite.ts";

describe("of a random fleet", { timeout: 120_000 }, () => {
  it.each([1, 2, 3, 4])("a played failure is what then happens (%i)", expectPlayedAgrees);
  // Among these are fleets with failed clusters, pauses, and a rate that a person set.
  it.each([3, 5, 13])("a foreseen failure is what a play tells (%i)", expectForeseenAgrees);
  it.each([2, 5, 7, 17])("explain tells what a play tells (%i)", expectExplainedAgrees);
});
