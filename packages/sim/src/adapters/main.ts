/**
 * `npm run sim -- …`: runs scenarios and says what they broke.
 *
 *   --seed N           the random scenario of one seed; prints its hash
 *   --minutes N        random scenarios for so long, from --from (1 when absent) on
 *   --replay FILE      a scenario from a file
 *   --corpus           every scenario of the corpus
 *   --golden NAME      a golden scenario with a fault at every write (`all`: every one of them)
 *
 * A broken scenario is made as small as it gets, printed with its timeline, and written to sim-failures/. Exit code 1 then.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drainPromises } from "@lifeboat/base/adapters";
import { scenarioOf, shrink } from "../generate/search.ts";
import { brokenReport, Tally } from "../report.ts";
import { disturbEveryWrite } from "../scenario/every-write.ts";
import { goldenScenarios } from "../scenario/golden.ts";
import { type Outcome, runScenario } from "../scenario/run-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";

const ports = { drain: drainPromises };
const CORPUS = new URL("../../corpus/", import.meta.url);
const FAILURES = "sim-failures";
/** How many runs making a failing scenario smaller may take. */
const SHRINK_RUNS = 200;
const PROGRESS_MS = 1000;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    minutes: { type: "string" },
    replay: { type: "string" },
    corpus: { type: "boolean", default: false },
    golden: { type: "string" },
  },
});

const tally = new Tally();
const began = process.cpuUsage();

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

async function runGolden(name: string): Promise<void> {
  for (const scenario of goldenScenarios) {
    if (name !== "all" && scenario.name !== name) continue;
    for await (const disturbed of disturbEveryWrite(ports, scenario, { step: 1 })) {
      tally.add(disturbed.scenario, disturbed.outcome);
      progress(disturbed.scenario.name);
      if (disturbed.problems.length === 0) continue;
      keep(disturbed.scenario);
      process.exitCode = 1;
      say(`\n${disturbed.scenario.name}\n  ${disturbed.problems.join("\n  ")}`);
    }
  }
  say(`\n${tally.table(cpuMs())}`);
}

async function runSeed(seed: number): Promise<void> {
  const outcome = await run(scenarioOf(seed));
  say(`seed ${seed} hash ${outcome.hash}`);
}

async function search(minutes: number, from: number): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  for (let seed = from; performance.now() < end; seed++) {
    const scenario = scenarioOf(seed);
    const outcome = await runScenario(ports, scenario);
    tally.add(scenario, outcome);
    progress(`seed ${seed}`);
    if (outcome.violations.length > 0) await explain(seed, scenario, outcome);
  }
  say(`\n${tally.table(cpuMs())}`);
}

async function run(scenario: Scenario): Promise<Outcome> {
  const outcome = await runScenario(ports, scenario);
  tally.add(scenario, outcome);
  if (outcome.violations.length > 0) say(brokenReport(scenario, outcome));
  return outcome;
}

async function explain(seed: number, scenario: Scenario, outcome: Outcome): Promise<void> {
  say(`\nseed ${seed} broke ${outcome.violations[0]?.oracle}; making it smaller`);
  const smallest = (await shrink(ports, seed, SHRINK_RUNS)) ?? { scenario, outcome };
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

function progress(what: string): void {
  const now = performance.now();
  if (!process.stdout.isTTY || now - shownAt < PROGRESS_MS) return;
  shownAt = now;
  const hours = (tally.simulatedMs / 3_600_000).toFixed(1);
  process.stdout.write(
    `\r${what}: ${tally.runs} scenarios, ${hours} simulated hours, ${tally.broken} broken  `,
  );
}
