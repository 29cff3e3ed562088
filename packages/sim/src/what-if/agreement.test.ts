/** Foresight agrees with what happens; `agreement.fuzz.test.ts` asks the same of many more fleets. */
import { describe, it } from "vitest";
import {
  expectExplainedAgrees,
  expectForeseenAgrees,
  expectPlayedAgrees,
} from "./agreement.suite.ts";

describe("of a random fleet", { timeout: 120_000 }, () => {
  it.each([1, 2, 3, 4])("a played failure is what then happens (%i)", expectPlayedAgrees);
  it.each([1, 2, 3])("a foreseen failure is what a play tells (%i)", expectForeseenAgrees);
  it.each([1, 2])("explain tells what a play tells (%i)", expectExplainedAgrees);
});
