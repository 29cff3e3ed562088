/**
 * A process of its own that runs scenarios and says which oracles spoke, as one line of JSON at the end. A seeded bug, if any,
 * was put in by the loader (put-in.js) before this file was loaded.
 */
import { drainPromises } from "@lifeboat/base/adapters";
import { differences, disturbed, runScenario, type Violation } from "@lifeboat/sim";
import { nameOfWhere, SAME_END, type Where } from "./mutant.ts";
import { findScenario } from "./scenarios.ts";

/** What to run; `oracle`: end as soon as it has spoken. */
export interface Order {
  readonly oracle?: string;
  readonly caughtIn: readonly Where[];
}

export interface Spoken {
  readonly where: string;
  readonly oracle: string;
  readonly says: string;
}

export interface Answer {
  readonly spoken: readonly Spoken[];
  readonly cpuSeconds: number;
}

const ports = { drain: drainPromises };

/** Runs the order, prints the answer, and ends the process. */
export async function carryOut({ oracle, caughtIn }: Order): Promise<never> {
  const spoken: Spoken[] = [];
  for (const where of caughtIn)
    await runOne(where, (violation) => {
      spoken.push({ where: nameOfWhere(where), oracle: violation.oracle, says: violation.says });
      if (violation.oracle === oracle) end(spoken);
    });
  return end(spoken);
}

async function runOne(where: Where, report: (violation: Violation) => void): Promise<void> {
  const options = { onViolation: report };
  if (typeof where === "string") {
    await runScenario(ports, findScenario(where), options);
    return;
  }
  const whole = findScenario(where.scenario);
  const { ending } = await runScenario(ports, disturbed(whole, where.write, where.by), options);
  if (whole.isRace === true) return;
  const expected = await runScenario(ports, whole);
  for (const says of differences(expected.ending, ending))
    report({ oracle: SAME_END, promise: "", says });
}

function end(spoken: readonly Spoken[]): never {
  const { user, system } = process.cpuUsage();
  const answer: Answer = { spoken, cpuSeconds: (user + system) / 1e6 };
  process.stdout.write(`\n${JSON.stringify(answer)}\n`);
  process.exit(0);
}
