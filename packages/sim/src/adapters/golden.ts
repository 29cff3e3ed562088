/** Golden scenarios with a fault at every write, the writes of each divided among the workers. */
import { goldenNamed, goldenScenarios } from "../scenario/golden.ts";
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
  const names = name === "all" ? goldenScenarios.map((scenario) => scenario.name) : [name];
  for (const each of names) goldenNamed(each);
  const jobs = shares(names, workers);
  const shift: Shift = {
    next: () => jobs.shift(),
    run: (report) => desk.take(report),
    note: (text) => desk.screen.say(text),
    lost: (job, why) => desk.complain(`${describeJob(job)}: ${why}`),
  };
  await crew.work(shift, workers);
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
