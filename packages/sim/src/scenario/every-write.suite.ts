/** Runs a golden scenario with a fault at every so many-th write and expects every promise and the same end each time. */
import { drainPromises } from "@lifeboat/base/adapters";
import { expect } from "vitest";
import {
  disturbByPairs,
  type DisturbedRun,
  disturbEveryWrite,
  type EveryWriteOptions,
  type PairsOptions,
} from "./every-write.ts";
import { failoverStories } from "./golden-failover.ts";
import { goldenNamed } from "./golden.ts";

export async function expectSameEnd(name: string, options: EveryWriteOptions): Promise<void> {
  await expectNoProblems(disturbEveryWrite({ drain: drainPromises }, goldenNamed(name), options));
}

/** A few pairs of deaths, each of which must end as if nothing had happened. */
export async function pairsOf(name: string, options: PairsOptions): Promise<void> {
  await expectNoProblems(disturbByPairs({ drain: drainPromises }, goldenNamed(name), options));
}

async function expectNoProblems(disturbed: AsyncIterable<DisturbedRun>): Promise<void> {
  let runs = 0;
  for await (const run of disturbed) {
    runs += 1;
    // People are refused nothing while nothing is wrong.
    if (runs === 1) expect(run.outcome.refused).toEqual([]);
    expect(run.problems, `${run.scenario.name}: ${run.problems.join("; ")}`).toEqual([]);
  }
  expect(runs).toBeGreaterThan(1);
}

/** LIFEBOAT_WRITES=all, as once a week; else one write in five is disturbed. */
const THINNED = process.env["LIFEBOAT_WRITES"] === "all" ? 1 : 5;

/**
 * Every second write from the first on, each with a death before and after; answers are lost at every eighth of all. Of stories
 * in which no cluster fails it is every eighth write: both halves together meet every fourth one. Thinned, it is a fifth of each.
 */
export function everyWriteOf(name: string, first: 1 | 2): Promise<void> {
  const isFailover = failoverStories.some((story) => story.name === name);
  return expectSameEnd(name, { step: (isFailover ? 2 : 8) * THINNED, first, lostAnswerStep: 8 });
}
