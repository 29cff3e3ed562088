/**
 * `npm run sim -- …`: runs scenarios and says what they broke.
 *
 *   --seed N           the random scenario of one seed; prints its hash
 *   --minutes N        random scenarios for so long, from --from (1 when absent) on; one in a hundred is run twice more, in
 *                      processes of their own, and must give the same hash
 *   --size large       for both: five members and twenty workloads
 *   --replay FILE      a scenario from a file
 *   --corpus           every scenario of the corpus
 *   --golden NAME      a golden scenario with a fault at every write (`all`: every one of them)
 *
 * A broken scenario is made as small as it gets, printed with its timeline, and written to sim-failures/. Exit code 1 then.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { drainPromises } from "@lifeboat/base/adapters";
import { LARGE, type Size, SMALL } from "../generate/arbitrary-scenario.ts";
import { scenarioOf, shrink } from "../generate/search.ts";
import { brokenReport, Tally } from "../report.ts";
import { disturbEveryWrite } from "../scenario/every-write.ts";
import { goldenNamed, goldenScenarios } from "../scenario/golden.ts";
import { type Outcome, runScenario } from "../scenario/run-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";

const ports = { drain: drainPromises };
const CORPUS = new URL("../../corpus/", import.meta.url);
const FAILURES = "sim-failures";
/** How many runs making a failing scenario smaller may take. */
const SHRINK_RUNS = 200;
const PROGRESS_MS = 1000;
/** One seed in so many is run again in fresh processes. */
const REPEAT_EVERY = 100;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    minutes: { type: "string" },
    replay: { type: "string" },
    corpus: { type: "boolean", default: false },
    golden: { type: "string" },
    size: { type: "string", default: "small" },
  },
});

const tally = new Tally();
const began = process.cpuUsage();
const size = sizeNamed(values.size);

if (values.replay !== undefined) await replay(values.replay);
else if (values.corpus) await runCorpus();
else if (values.golden !== undefined) await runGolden(values.golden);
else if (values.seed !== undefined) await runSeed(Number(values.seed));
else await search(Number(values.minutes ?? "1"), Number(values.from));
process.exitCode = tally.broken === 0 ? 0 : 1;

async function replay(file: string): Promise<void> {
  const scenario = readScenario(file);
  const outcome = await run(scenario);
  if (outcome.violations.length === 0)
    say(`${scenario.name} keeps every promise; hash ${outcome.hash}`);
}

async function runCorpus(): Promise<void> {
  for (const name of readdirSync(CORPUS).filter((file) => file.endsWith(".json")))
    await replay(new URL(name, CORPUS).pathname);
}

function sizeNamed(name: string): Size {
  if (name === "small") return SMALL;
  if (name === "large") return LARGE;
  throw new Error(`--size is small or large, not ${name}`);
}

async function runGolden(name: string): Promise<void> {
  const chosen = name === "all" ? goldenScenarios : [goldenNamed(name)];
  for (const scenario of chosen)
    for await (const disturbed of disturbEveryWrite(ports, scenario, { step: 1 })) {
      tally.add(disturbed.scenario, disturbed.outcome);
      progress(disturbed.scenario.name);
      if (disturbed.problems.length === 0) continue;
      keep(disturbed.scenario);
      process.exitCode = 1;
      say(`\n${disturbed.scenario.name}\n  ${disturbed.problems.join("\n  ")}`);
    }
  say(`\n${tally.table(cpuMs())}`);
}

async function runSeed(seed: number): Promise<void> {
  const outcome = await run(scenarioOf(seed, size));
  say(`seed ${seed} hash ${outcome.hash}`);
}

async function search(minutes: number, from: number): Promise<void> {
  const start = performance.now();
  const share = (): number => (performance.now() - start) / (minutes * 60_000);
  for (let seed = from; share() < 1; seed++) {
    const scenario = scenarioOf(seed, size);
    const outcome = await runScenario(ports, scenario);
    tally.add(scenario, outcome);
    progress(`seed ${seed}`, share());
    if (outcome.violations.length > 0) await explain(seed, scenario, outcome);
    if (seed % REPEAT_EVERY === 0) await repeat(seed, outcome.hash);
  }
  say(`\n${tally.table(cpuMs())}`);
}

/** The same seed gives the same run in processes that know nothing of this one. */
async function repeat(seed: number, hash: string): Promise<void> {
  const args = [...process.execArgv, fileURLToPath(import.meta.url)];
  const order = [...args, "--seed", String(seed), "--size", values.size];
  for (let i = 0; i < 2; i++) {
    const { stdout } = await promisify(execFile)(process.execPath, order).catch(
      // A broken promise ends the process with 1; the hash is said all the same.
      (error: unknown) => error as { readonly stdout: string },
    );
    if (stdout.includes(`seed ${seed} hash ${hash}\n`)) continue;
    tally.broken += 1;
    say(`\nseed ${seed} gave ${hash} here and in a process of its own:\n${stdout.slice(-200)}`);
    return;
  }
  tally.repeated += 1;
}

async function run(scenario: Scenario): Promise<Outcome> {
  const outcome = await runScenario(ports, scenario);
  tally.add(scenario, outcome);
  if (outcome.violations.length > 0) say(brokenReport(scenario, outcome));
  return outcome;
}

async function explain(seed: number, scenario: Scenario, outcome: Outcome): Promise<void> {
  say(`\nseed ${seed} broke ${outcome.violations[0]?.oracle}; making it smaller`);
  const smallest = (await shrink(ports, seed, SHRINK_RUNS, size)) ?? { scenario, outcome };
  const file = keep({ ...smallest.scenario, name: `found by seed ${seed}` });
  say(
    `${brokenReport(smallest.scenario, smallest.outcome)}\nreplay: npm run sim -- --replay ${file}`,
  );
}

function keep(scenario: Scenario): string {
  mkdirSync(FAILURES, { recursive: true });
  const file = join(FAILURES, `${scenario.name.replaceAll(/[^a-z0-9]+/gi, "-")}.json`);
  writeFileSync(file, `${JSON.stringify(scenario, undefined, 2)}\n`);
  return file;
}

function readScenario(file: string): Scenario {
  return JSON.parse(readFileSync(file, "utf8")) as Scenario;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

let shownAt = 0;

function progress(what: string, share?: number): void {
  const now = performance.now();
  if (!process.stdout.isTTY || now - shownAt < PROGRESS_MS) return;
  shownAt = now;
  process.stdout.write(`\r${tally.progress(what, cpuMs(), share)}`);
}
