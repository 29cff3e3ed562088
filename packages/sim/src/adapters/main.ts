/**
 * `npm run sim -- …`: runs scenarios and says what they broke.
 *
 *   --seed N           the random scenario of one seed; prints its hash
 *   --minutes N        random scenarios for so long, from --from (1 when absent) on; one in a hundred is run twice more, in
 *                      processes of their own, and must give the same hash
 *   --seeds N          so many of them, in the place of --minutes, or what is over first
 *   --size large       for all of these: five members and twenty workloads
 *   --size pull        for all of these: some members pull, and agents run beside them
 *   --size traffic     for all of these: with Remedies, ingresses and load balancers
 *   --replay FILE      a scenario from a file
 *   --corpus           every scenario of the corpus
 *   --golden NAME      a golden scenario with a fault at every write (`all`: every one of them)
 *   --golden-pairs NAME  the same with pairs of deaths, the second while the plane recovers from the first; for --minutes N
 *   --soak HOURS       five members and twenty workloads for so long, with a failure every hour; shows whether something
 *                      piles up
 *   --workers N        how many processes search or run golden scenarios; as many as the machine has cores when absent
 *
 * A broken scenario is made as small as it gets, printed with its timeline, and written to sim-failures/. Exit code 1 then.
 * Ctrl-C ends a search with its table.
 */
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { unreachable } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { brokenReport } from "../report.ts";
import { type Outcome, runScenario } from "../scenario/run-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { type Order, orderOf } from "./args.ts";
import { Crew } from "./crew.ts";
import { Desk } from "./desk.ts";
import { runGolden, runPairs } from "./golden.ts";
import { Screen } from "./screen.ts";
import { search } from "./search.ts";
import { runSoak } from "./soak.ts";
import { seededScenario, serveJobs } from "./worker.ts";
import { WorkerProcess } from "./worker-process.ts";

const CORPUS = new URL("../../corpus/", import.meta.url);
/** A run takes seconds; who says nothing for so long hangs. */
const SILENCE_MS = 300_000;
/** What a shell says of a program that Ctrl-C ended. */
const INTERRUPTED = 130;

const screen = new Screen(process.stdout);
await carryOut(orderOf(process.argv.slice(2), availableParallelism()));

async function carryOut(order: Order): Promise<void> {
  switch (order.order) {
    case "worker":
      return serveJobs();
    case "replay":
      return replay(order.file);
    case "corpus":
      return runCorpus();
    case "seed": {
      const outcome = await run(seededScenario(order.seed, order.size));
      return screen.say(`seed ${order.seed} hash ${outcome.hash}`);
    }
    case "soak":
      if ((await runSoak(order.hours, screen)) > 0) process.exitCode = 1;
      return;
    case "search":
      return withCrew(order.workers, (desk, crew) => search(order, desk, crew));
    case "golden":
      return withCrew(order.workers, (desk, crew) =>
        runGolden(order.name, order.workers, desk, crew),
      );
    case "pairs":
      return withCrew(order.workers, (desk, crew) => runPairs(order, desk, crew));
    default:
      return unreachable(order);
  }
}

async function withCrew(
  workers: number,
  work: (desk: Desk, crew: Crew) => Promise<void>,
): Promise<void> {
  const desk = new Desk(screen, workers);
  const entry = fileURLToPath(import.meta.url);
  const crew = new Crew(
    () => new WorkerProcess({ entry, args: ["--worker"], silenceMs: SILENCE_MS }),
  );
  const interrupt = (): void => {
    process.exitCode = INTERRUPTED;
    crew.stop();
  };
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  await work(desk, crew);
  desk.table();
  if (desk.tally.broken > 0) process.exitCode = 1;
}

async function replay(file: string): Promise<void> {
  const scenario = JSON.parse(readFileSync(file, "utf8")) as Scenario;
  const outcome = await run(scenario);
  if (outcome.violations.length === 0)
    screen.say(`${scenario.name} keeps every promise; hash ${outcome.hash}`);
}

async function runCorpus(): Promise<void> {
  for (const name of readdirSync(CORPUS).filter((file) => file.endsWith(".json")))
    await replay(new URL(name, CORPUS).pathname);
}

/** Runs a scenario in this process. */
async function run(scenario: Scenario): Promise<Outcome> {
  const outcome = await runScenario({ drain: drainPromises }, scenario);
  if (outcome.violations.length === 0) return outcome;
  process.exitCode = 1;
  screen.say(brokenReport(scenario, outcome));
  return outcome;
}
