/**
 * `npm run sim:mutants`: shows that every seeded bug is caught by the oracle of its promise, and that no oracle speaks in the
 * same scenarios without it.
 *
 *   npm run sim:mutants -- TEXT     those whose oracle, promise, sentence or file contains the text
 *   npm run sim:mutants -- --ci     those whose file has changed and ten more, by commit; all if packages/sim has
 *   npm run sim:mutants -- --list   what there is
 *   --jobs N                        so many at a time; as many as there are cores when absent
 *
 * Each bug has a process of its own, in which the changed source is loaded in place of its file. CPU seconds are those of that
 * process, from its start until the oracle spoke.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { layOut } from "@lifeboat/sim";
import { inTurns } from "../in-turns.ts";
import { readText, root } from "../repository.ts";
import { putIn } from "../seeding/seed.ts";
import { changedFiles, chooseForCommit, headCommit } from "./choose.ts";
import { nameOfWhere, type SimMutant, type Where } from "./mutant.ts";
import { simMutants } from "./mutants.ts";
import { type Answer, carryOut, type Order } from "./run.ts";

const BUG_VARIABLE = "LIFEBOAT_SIM_MUTANT";
const ORDER_VARIABLE = "LIFEBOAT_SIM_ORDER";
/** A limit for runs that hang, not for slow machines. */
const LIMIT_MS = 30 * 60_000;

interface Result {
  readonly mutant: SimMutant;
  readonly caughtIn?: string;
  readonly cpuSeconds: number;
  /** What happened instead. */
  readonly instead: string;
}

const order = process.env[ORDER_VARIABLE];
if (order === undefined) await judgeAll();
else await carryOut(JSON.parse(order) as Order);

async function judgeAll(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ci: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      jobs: { type: "string", default: String(availableParallelism()) },
    },
  });
  const [text = ""] = positionals;
  const all = simMutants.filter((mutant) => isAbout(mutant, text));
  const chosen = values.ci ? chooseForCommit(all, headCommit(), changedFiles()) : all;
  if (values.list) return list(chosen);
  // All of them before any is run: one that does not fit is an error at once.
  const sources = chosen.map((mutant) => putIn(mutant, readText(mutant.file)));
  let problems: readonly string[] = [];
  const judged = new Map<SimMutant, Result>();
  const jobs = [
    async () => void (problems = await runUndisturbed(chosen)),
    ...chosen.map((mutant, index) => async () => {
      judged.set(mutant, await judge(mutant, sources[index] ?? ""));
    }),
  ];
  await inTurns(jobs, Number(values.jobs));
  const results = chosen.flatMap((mutant) => judged.get(mutant) ?? []);
  say(`\n${table(results)}`);
  for (const problem of problems) say(`WITHOUT ANY BUG: ${problem}`);
  const missed = results.filter(({ caughtIn }) => caughtIn === undefined).length;
  say(`${results.length - missed} of ${results.length} seeded bugs caught, ${costs(results)}`);
  process.exitCode = missed === 0 && problems.length === 0 ? 0 : 1;
}

function isAbout({ oracle, promise, breaks, file }: SimMutant, text: string): boolean {
  return `${oracle} ${promise} ${breaks} ${file}`.includes(text);
}

/** The same scenarios as they are: what oracles say of them. */
async function runUndisturbed(mutants: readonly SimMutant[]): Promise<readonly string[]> {
  const places = new Map<string, Where>();
  for (const { caughtIn } of mutants)
    for (const where of caughtIn) places.set(nameOfWhere(where), where);
  const answer = await start({ caughtIn: [...places.values()] });
  if (typeof answer === "string") return [answer];
  return answer.spoken.map(({ where, oracle, says }) => `${where}: ${oracle}: ${says}`);
}

async function judge(mutant: SimMutant, source: string): Promise<Result> {
  const { oracle, caughtIn, file } = mutant;
  const answer = await start({ oracle, caughtIn }, { file, source });
  const result = resultOf(mutant, answer);
  const word = result.caughtIn === undefined ? "MISSED" : "caught";
  say(`${word} ${result.cpuSeconds.toFixed(1).padStart(6)} s  ${oracle}: ${mutant.breaks}`);
  if (result.caughtIn === undefined) say(`        instead: ${result.instead}`);
  return result;
}

function resultOf(mutant: SimMutant, answer: Answer | string): Result {
  if (typeof answer === "string") return { mutant, cpuSeconds: 0, instead: answer };
  const { spoken, cpuSeconds } = answer;
  const found = spoken.find(({ oracle }) => oracle === mutant.oracle);
  const instead = spoken.map(({ oracle, says }) => `${oracle}: ${says}`).slice(0, 5);
  return {
    mutant,
    cpuSeconds,
    ...(found !== undefined && { caughtIn: found.where }),
    instead: instead.length === 0 ? "no oracle spoke" : instead.join("; "),
  };
}

/** Runs a process for the order; the answer, or why there is none. */
function start(task: Order, bug?: { readonly file: string; readonly source: string }) {
  const program = fileURLToPath(import.meta.url);
  const loader = fileURLToPath(new URL("./put-in.js", import.meta.url));
  const args = ["--conditions=@lifeboat/source", "--import", loader, "--import", "tsx", program];
  const env = {
    ...process.env,
    [ORDER_VARIABLE]: JSON.stringify(task),
    ...(bug !== undefined && { [BUG_VARIABLE]: JSON.stringify(bug) }),
  };
  const child = spawn(process.execPath, args, { cwd: root, env, timeout: LIMIT_MS });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  return new Promise<Answer | string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) => {
      const last = out().trimEnd().split("\n").at(-1) ?? "";
      if (code === 0 && last.startsWith("{")) resolve(JSON.parse(last) as Answer);
      else resolve(`the process ended with ${code}: ${err().slice(-2000)}`);
    });
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => (text += chunk));
  return () => text;
}

function list(mutants: readonly SimMutant[]): void {
  const rows = mutants.map(({ promise, oracle, breaks }) => [promise, oracle, breaks]);
  say(layOut([["promise", "oracle", "bug"], ...rows]));
}

function table(results: readonly Result[]): string {
  const rows = results.map(({ mutant: { promise, oracle, breaks }, caughtIn, cpuSeconds }) => [
    breaks,
    oracle,
    promise,
    caughtIn ?? "MISSED",
    cpuSeconds.toFixed(1),
  ]);
  return layOut([["bug", "oracle", "promise", "caught in", "CPU s"], ...rows]);
}

function costs(results: readonly Result[]): string {
  const seconds = results.map(({ cpuSeconds }) => cpuSeconds).toSorted((a, b) => a - b);
  const median = seconds[Math.floor(seconds.length / 2)] ?? 0;
  return `median ${median.toFixed(1)} CPU seconds, worst ${(seconds.at(-1) ?? 0).toFixed(1)}`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
