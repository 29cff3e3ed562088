/** What the net runs: scenarios in which every promise must hold, for the unit tests and, whole, for the fuzz tests. */
import { readdirSync, readFileSync } from "node:fs";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect } from "vitest";
import { scenarioOf } from "./generate/search.ts";
import { goldenNamed } from "./scenario/golden.ts";
import { runScenario } from "./scenario/run-scenario.ts";
import type { Scenario } from "./scenario/scenario.ts";

const CORPUS = new URL("../corpus/", import.meta.url);

/** The files of scenarios that once broke a promise. */
export const corpusFiles: readonly string[] = readdirSync(CORPUS);

/** In milliseconds, how long nothing may be written after the end; ten minutes when absent. */
interface Rest {
  readonly quietMs?: number;
}

export function corpusKeeps(file: string, rest: Rest = {}): Promise<void> {
  return expectKept(JSON.parse(readFileSync(new URL(file, CORPUS), "utf8")) as Scenario, rest);
}

export function randomKeeps(seed: number): Promise<void> {
  return expectKept(scenarioOf(seed));
}

/** A plane whose disk takes its time dies after a write. */
export function slowDiskKeeps(write: number): Promise<void> {
  return expectKept({
    ...goldenNamed("propagate"),
    syncDelayMs: 5,
    faults: [{ fault: "crash-at-write", write, moment: "after", downFor: 2 }],
  });
}

async function expectKept(scenario: Scenario, rest: Rest = {}): Promise<void> {
  const { violations } = await runScenario({ drain: drainPromises }, scenario, rest);
  const broken = violations.map(({ oracle, says }) => `${oracle}: ${says}`);
  expect(broken, `${scenario.name}: ${broken.join("; ")}`).toEqual([]);
}
