/**
 * The exhaustive tier: a scenario once undisturbed, and then once per write of the control plane and per way to disturb it,
 * each of which must keep every promise and end in the same state, unless its steps race with the control plane. Dying before
 * a write is left out where it is the same as dying after the one before.
 *
 * Pairs of deaths are too many for that: a second one, while the plane recovers from the first, is drawn from a seed.
 */
import { createRandom, type Random } from "@lifeboat/base";
import { differences, type Ending } from "../oracles/ending.ts";
import type { SimulationPorts } from "../simulation.ts";
import { type Outcome, runScenario } from "./run-scenario.ts";
import type { Fault, Scenario } from "./scenario.ts";

/** How a single write is disturbed. */
export type Disturbance = "crash before" | "crash after" | "lost answer";

export const disturbances: readonly Disturbance[] = ["crash before", "crash after", "lost answer"];

export interface DisturbedRun {
  readonly scenario: Scenario;
  /** What was broken, in words; nothing when all is well. */
  readonly problems: readonly string[];
  readonly outcome: Outcome;
}

export interface EveryWriteOptions {
  /** Every how many-th write; 1: all. */
  readonly step: number;
  /** The first write; 1 when absent. */
  readonly first?: number;
  /** Answers are lost only at every so many-th write; at all when absent. */
  readonly lostAnswerStep?: number;
  /** Only in these ways; in all when absent. */
  readonly by?: readonly Disturbance[];
}

/** A disturbed world must rest for so long; the undisturbed one for ten minutes. */
const QUIET_MS = 60_000;

/** Runs the disturbed scenarios one after the other. */
export async function* disturbEveryWrite(
  ports: SimulationPorts,
  scenario: Scenario,
  options: EveryWriteOptions,
): AsyncGenerator<DisturbedRun> {
  const undisturbed = await runScenario(ports, scenario);
  yield { scenario, problems: sentences(undisturbed), outcome: undisturbed };
  for (let write = options.first ?? 1; write <= undisturbed.writes; write += options.step)
    for (const disturbance of disturbancesAt(write, options, undisturbed.sequels))
      yield await disturb(ports, scenario, { write, disturbance, expected: undisturbed.ending });
}

export interface PairsOptions {
  readonly seed: number;
  readonly pairs: number;
}

/** The second death comes within so many writes of the second life. */
const RECOVERY_WRITES = 15;

/** Runs the scenario undisturbed, and then with so many pairs of deaths, which the seed decides. */
export async function* disturbByPairs(
  ports: SimulationPorts,
  scenario: Scenario,
  { seed, pairs }: PairsOptions,
): AsyncGenerator<DisturbedRun> {
  const undisturbed = await runScenario(ports, scenario);
  yield { scenario, problems: sentences(undisturbed), outcome: undisturbed };
  const random = createRandom(seed).fork(scenario.name);
  for (let i = 0; i < pairs; i++) {
    const write = 1 + random.below(undisturbed.writes);
    const [moment, second] = [momentOf(random), momentOf(random)];
    const again = { after: 1 + random.below(RECOVERY_WRITES), moment: second };
    const fault: Fault = { fault: "crash-at-write", write, moment, downFor: 2, again };
    const name = `${scenario.name}: crash ${moment} write ${write}, and ${second} ${again.after} more`;
    const changed = { ...scenario, name, faults: [...scenario.faults, fault] };
    yield await runDisturbed(ports, changed, undisturbed.ending);
  }
}

function momentOf(random: Random): "before" | "after" {
  return random.below(2) === 0 ? "before" : "after";
}

function disturbancesAt(
  write: number,
  { lostAnswerStep = 1, by = disturbances }: EveryWriteOptions,
  sequels: ReadonlySet<number>,
): readonly Disturbance[] {
  return by.filter((disturbance) => {
    if (disturbance === "lost answer") return write % lostAnswerStep === 0;
    return disturbance === "crash after" || !sequels.has(write);
  });
}

interface Disturbed {
  readonly write: number;
  readonly disturbance: Disturbance;
  readonly expected: Ending;
}

async function disturb(
  ports: SimulationPorts,
  scenario: Scenario,
  { write, disturbance, expected }: Disturbed,
): Promise<DisturbedRun> {
  return runDisturbed(ports, disturbed(scenario, write, disturbance), expected);
}

async function runDisturbed(
  ports: SimulationPorts,
  scenario: Scenario,
  expected: Ending,
): Promise<DisturbedRun> {
  const outcome = await runScenario(ports, scenario, { quietMs: QUIET_MS });
  const differing = scenario.isRace === true ? [] : differences(expected, outcome.ending);
  const problems = [...sentences(outcome), ...differing];
  return { scenario, problems, outcome };
}

/** The scenario with something wrong at one write of it. */
export function disturbed(scenario: Scenario, write: number, by: Disturbance): Scenario {
  const faults = [...scenario.faults, faultAt(write, by)];
  return { ...scenario, name: `${scenario.name}: ${by} write ${write}`, faults };
}

function faultAt(write: number, disturbance: Disturbance): Fault {
  if (disturbance === "lost answer") return { fault: "lost-answer-at-write", write };
  const moment = disturbance === "crash before" ? "before" : "after";
  return { fault: "crash-at-write", write, moment, downFor: 2 };
}

function sentences({ violations }: Outcome): readonly string[] {
  return violations.map(({ oracle, says }) => `${oracle}: ${says}`);
}
