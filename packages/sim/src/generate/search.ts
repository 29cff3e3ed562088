/** Runs random scenarios; a failing one is made as small as it gets. */
import fc from "fast-check";
import type { SimulationPorts } from "../simulation.ts";
import { type Outcome, runScenario } from "../scenario/run-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { arbitraryScenario, type Size, SMALL } from "./arbitrary-scenario.ts";

export interface Found {
  readonly scenario: Scenario;
  readonly outcome: Outcome;
}

/** The scenario of a seed: the same in every process. */
export function scenarioOf(seed: number, size: Size = SMALL): Scenario {
  const [scenario] = fc.sample(arbitraryScenario(size), { seed, numRuns: 1 });
  if (scenario === undefined) throw new Error("fast-check gave no sample");
  return scenario;
}

/**
 * The smallest scenario found that still breaks a promise of those that the scenario of this seed breaks, within so many
 * runs; undefined when that scenario breaks none.
 */
export async function shrink(
  ports: SimulationPorts,
  seed: number,
  mostRuns: number,
  size: Size = SMALL,
): Promise<Found | undefined> {
  let best: Found | undefined;
  let broken: ReadonlySet<string> | undefined;
  let runs = 0;
  const holds = async (scenario: Scenario): Promise<boolean> => {
    runs += 1;
    if (runs > mostRuns) return true;
    const outcome = await runScenario(ports, scenario);
    const oracles = outcome.violations.map(({ oracle }) => oracle);
    broken ??= new Set(oracles);
    if (!oracles.some((oracle) => broken?.has(oracle))) return true;
    best = { scenario, outcome };
    return false;
  };
  await fc.check(fc.asyncProperty(arbitraryScenario(size), holds), { seed, numRuns: 1 });
  return best;
}
