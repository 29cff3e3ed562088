/** Runs a golden scenario with a fault at every so many-th write and expects every promise and the same end each time. */
import { drainPromises } from "@lifeboat/base/adapters";
import { assert } from "@lifeboat/base";
import { expect } from "vitest";
import { disturbEveryWrite, type EveryWriteOptions } from "./every-write.ts";
import { goldenScenarios } from "./golden.ts";

export async function expectSameEnd(name: string, options: EveryWriteOptions): Promise<void> {
  const scenario = goldenScenarios.find((golden) => golden.name === name);
  assert(scenario !== undefined, "the golden scenario is there", { name });
  let runs = 0;
  for await (const run of disturbEveryWrite({ drain: drainPromises }, scenario, options)) {
    runs += 1;
    expect(run.problems, `${run.scenario.name}: ${run.problems.join("; ")}`).toEqual([]);
  }
  expect(runs).toBeGreaterThan(3);
}
