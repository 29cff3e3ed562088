/** Foresight agrees with what happens, over many random fleets. */
import { describe, it } from "vitest";
import {
  expectExplainedAgrees,
  expectForeseenAgrees,
  expectPlayedAgrees,
} from "./agreement.suite.ts";

const from = (first: number): readonly number[] => Array.from({ length: 15 }, (_, i) => first + i);

describe("of a random fleet", { timeout: 300_000 }, () => {
  it.each(from(100))("a played failure is what then happens (%i)", expectPlayedAgrees);
  it.each(from(200))("a foreseen failure is what a play tells (%i)", expectForeseenAgrees);
  it.each(from(300))("explain tells what a play tells (%i)", expectExplainedAgrees);
});
