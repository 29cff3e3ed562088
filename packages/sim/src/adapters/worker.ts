/** A worker: a process that runs the jobs it is given, one after the other, until its parent goes away. */
import { drainPromises } from "@lifeboat/base/adapters";
import {
  FEDERATED,
  LARGE,
  PULL,
  type Size,
  SMALL,
  TRAFFIC,
} from "../generate/arbitrary-scenario.ts";
import { scenarioOf, shrink } from "../generate/search.ts";
import { brokenReport, summaryOf } from "../report.ts";
import { disturbByPairs, type DisturbedRun, disturbEveryWrite } from "../scenario/every-write.ts";
import { goldenNamed } from "../scenario/golden.ts";
import { type Outcome, runScenario } from "../scenario/run-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Job, Message, RunReport, SizeName } from "./work.ts";

/** How many runs making a failing scenario smaller may take. */
const SHRINK_RUNS = 200;
const SIZES: Readonly<Record<SizeName, Size>> = {
  small: SMALL,
  large: LARGE,
  pull: PULL,
  traffic: TRAFFIC,
  federated: FEDERATED,
};

/** Takes jobs from the parent for as long as there is one. */
export function serveJobs(): void {
  // A terminal tells the whole group; the parent decides when its workers end.
  process.on("SIGINT", () => undefined);
  process.on("disconnect", () => process.exit());
  process.on("message", (job) => void serve(job as Job));
  tell({ says: "alive" });
}

async function serve(job: Job): Promise<void> {
  try {
    if (job.job === "seed") await runSeed(job);
    else if (job.job === "pairs") await runPairs(job);
    else await runGolden(job);
    tell({ says: "done", rssBytes: process.memoryUsage.rss() });
  } catch (error) {
    const text = error instanceof Error ? String(error.stack) : String(error);
    // What a run left behind that did not end must not touch the next.
    tell({ says: "note", text }, () => process.exit(1));
  }
}

/** The scenario that a seed stands for, in a size. */
export function seededScenario(seed: number, size: SizeName): Scenario {
  return scenarioOf(seed, SIZES[size]);
}

async function runSeed({ seed, size, explain }: Extract<Job, { job: "seed" }>): Promise<void> {
  const scenario = seededScenario(seed, size);
  const took = stopwatch();
  const outcome = await runScenario({ drain: drainPromises }, scenario);
  const report = reportOf(`seed ${seed}`, scenario, outcome, took());
  if (outcome.violations.length === 0) return tell({ says: "run", report });
  const broken = explain ? await smaller(seed, size, { scenario, outcome }) : { scenario, outcome };
  const text = brokenReport(broken.scenario, broken.outcome);
  const kept = { ...broken.scenario, name: `found by seed ${seed}` };
  tell({ says: "run", report: { ...report, broken: { text, scenario: kept } } });
}

interface Broken {
  readonly scenario: Scenario;
  readonly outcome: Outcome;
}

async function smaller(seed: number, size: SizeName, found: Broken): Promise<Broken> {
  const oracle = found.outcome.violations[0]?.oracle;
  tell({ says: "note", text: `seed ${seed} broke ${oracle}; making it smaller` });
  const drain = async (): Promise<void> => {
    await drainPromises();
    sayAlive();
  };
  return (await shrink({ drain }, seed, SHRINK_RUNS, SIZES[size])) ?? found;
}

async function runGolden({ name, first, step }: Extract<Job, { job: "golden" }>): Promise<void> {
  const runs = disturbEveryWrite({ drain: drainPromises }, goldenNamed(name), { first, step });
  await tellOf(runs, first === 1 ? undefined : name);
}

/** So many pairs for one undisturbed run that they are compared with. */
const PAIRS = 20;

async function runPairs({ name, seed }: Extract<Job, { job: "pairs" }>): Promise<void> {
  const options = { seed, pairs: PAIRS };
  const runs = disturbByPairs({ drain: drainPromises }, goldenNamed(name), options);
  await tellOf(runs, seed === 1 ? undefined : name);
}

/** `told`: the scenario of this name was told of by somebody else. */
async function tellOf(runs: AsyncIterable<DisturbedRun>, told: string | undefined): Promise<void> {
  let took = stopwatch();
  for await (const { scenario: run, outcome, problems } of runs) {
    const report = reportOf(run.name, run, outcome, took());
    took = stopwatch();
    if (run.name === told) {
      sayAlive();
      continue;
    }
    const text = `${run.name}\n  ${problems.join("\n  ")}`;
    const summary = { ...report.summary, isBroken: problems.length > 0 };
    const broken = problems.length > 0 && { broken: { text, scenario: run } };
    tell({ says: "run", report: { ...report, summary, ...broken } });
  }
}

function reportOf(what: string, scenario: Scenario, outcome: Outcome, cpuMs: number): RunReport {
  return { what, hash: outcome.hash, summary: summaryOf(scenario, outcome, cpuMs) };
}

/** CPU milliseconds from now on. */
function stopwatch(): () => number {
  const began = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
}

const ALIVE_MS = 1000;
let saidAliveAt = 0;

function sayAlive(): void {
  const now = performance.now();
  if (now - saidAliveAt < ALIVE_MS) return;
  saidAliveAt = now;
  tell({ says: "alive" });
}

function tell(message: Message, then = (): void => undefined): void {
  process.send?.(message, then);
}
