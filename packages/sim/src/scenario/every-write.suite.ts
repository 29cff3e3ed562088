/** Runs a golden scenario with a fault at every so many-th write and expects every promise and the same end each time. */
import { drainPromises } from "@lifeboat/base/adapters";
import { expect } from "vitest";
import { disturbEveryWrite, type EveryWriteOptions } from "./every-write.ts";
import { goldenNamed } from "./golden.ts";

export async function expectSameEnd(name: string, options: EveryWriteOptions): Promise<void> {
  const scenario = goldenNamed(name);
  let runs = 0;
  for await (const run of disturbEveryWrite({ drain: drainPromises }, scenario, options)) {
    runs += 1;
    expect(run.problems, `${run.scenario.name}: ${run.problems.join("; ")}`).toEqual([]);
  }
  expect(runs).toBeGreaterThan(1);
}

/** Every second write from the first on, each with a death before and after; answers are lost at every fourth of all. */
export function everyWriteOf(name: string, first: 1 | 2): Promise<void> {
  return expectSameEnd(name, { step: 2, first, lostAnswerStep: 4 });
}
