/** Golden scenarios with a fault at every write, or with pairs of deaths, divided among the workers. */
import { goldenNamed, goldenScenarios } from "../scenario/golden.ts";
import type { PairsOrder } from "./args.ts";
import type { Crew, Shift } from "./crew.ts";
import type { Desk } from "./desk.ts";
import { describeJob, type Job } from "./work.ts";

/** Runs the scenario of this name; `all`: every golden one. */
export async function runGolden(
  name: string,
  workers: number,
  desk: Desk,
  crew: Crew,
): Promise<void> {
  const jobs = shares(namesOf(name), workers);
  await crew.work(
    shiftOf(desk, () => jobs.shift()),
    workers,
  );
}

/** Runs pairs of deaths in the scenario of this name, or in every golden one in turn, until nobody wants more. */
export async function runPairs(
  { name, minutes, workers }: PairsOrder,
  desk: Desk,
  crew: Crew,
): Promise<void> {
  const names = namesOf(name);
  const end = performance.now() + minutes * 60_000;
  let given = 0;
  const next = (): Job | undefined => {
    if (performance.now() >= end) return undefined;
    const seed = 1 + Math.floor(given / names.length);
    const each = names[given % names.length] ?? name;
    given += 1;
    return { job: "pairs", name: each, seed };
  };
  await crew.work(shiftOf(desk, next), workers);
}

/** Those that a name stands for. */
function namesOf(name: string): readonly string[] {
  return name === "all"
    ? goldenScenarios.map((scenario) => scenario.name)
    : [goldenNamed(name).name];
}

function shiftOf(desk: Desk, next: Shift["next"]): Shift {
  return {
    next,
    run: (report) => desk.take(report),
    note: (text) => desk.screen.say(text),
    lost: (job, why) => desk.complain(`${describeJob(job)}: ${why}`),
  };
}

/** For each scenario one job per worker: every so many-th write. Together they are every write, once. */
export function shares(names: readonly string[], workers: number): Job[] {
  return names.flatMap((name) =>
    Array.from({ length: workers }, (_, i) => ({
      job: "golden" as const,
      name,
      first: i + 1,
      step: workers,
    })),
  );
}
