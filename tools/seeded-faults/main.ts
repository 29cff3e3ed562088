/**
 * `npm run seeded-faults`: shows that every seeded fault makes its tests fail, and that they pass without it. As many at a time
 * as there are cores. `--tests-pass`: the unit tests have just passed, and are not run without a fault again. `--share=1/3`:
 * every third fault, from the second on. TEXT: those whose promise, sentence or file contains it.
 */
import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { inTurns } from "../in-turns.ts";
import { readText, root } from "../repository.ts";
import { putIn } from "../seeding/seed.ts";
import { FAULT_VARIABLE, seededFaults } from "./faults.ts";

/** True when the tests pass. A run that could not start, or ran no test, is an error and not a failure of the tests. */
async function passes(tests: readonly string[], fault: string, workers: number): Promise<boolean> {
  const flags = ["--project", "unit", "--reporter=json", "--bail=1", `--maxWorkers=${workers}`];
  const { stdout, stderr } = await run(["vitest", "run", ...flags, ...tests], fault);
  const report = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
    readonly numTotalTests: number;
    readonly numFailedTests: number;
  };
  if (report.numTotalTests === 0) throw new Error(`no test ran for ${tests.join(" ")}:\n${stderr}`);
  return report.numFailedTests === 0;
}

/** What a command says, however it ends. */
function run(
  args: readonly string[],
  fault: string,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const env = { ...process.env, [FAULT_VARIABLE]: fault };
  return new Promise((resolve) => {
    execFile("npx", args, { cwd: root, env, maxBuffer: 64 << 20 }, (_failure, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
}

// All of them before any test is run: one that does not fit is an error at once.
for (const fault of seededFaults) putIn(fault, readText(fault.file));

const cores = availableParallelism();
const share = /--share=(\d+)\/(\d+)/.exec(process.argv.join(" "));
const [first, step] = share === null ? [0, 1] : [Number(share[1]), Number(share[2])];
const text = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? "";
const chosen = seededFaults
  .map((fault, index) => ({ ...fault, index }))
  .filter(({ promise, breaks, file }) => `${promise} ${breaks} ${file}`.includes(text))
  .filter((_, i) => i % step === first);
if (chosen.length === 0)
  throw new Error("no fault is chosen: --share takes FIRST/STEP, FIRST less than STEP: 0/3");

const tests = [...new Set(chosen.flatMap(({ caughtBy }) => caughtBy))];
if (!process.argv.includes("--tests-pass") && !(await passes(tests, "", cores)))
  throw new Error("the tests fail without any fault");

let missed = 0;
const jobs = chosen.map(({ promise, breaks, caughtBy, index }) => async (): Promise<void> => {
  const isCaught = !(await passes(caughtBy, String(index), 1));
  if (!isCaught) missed += 1;
  console.log(`${isCaught ? "caught" : "MISSED"}  ${promise.padEnd(4)} ${breaks}`);
});
await inTurns(jobs, cores);
console.log(
  `${chosen.length - missed} of ${chosen.length} seeded faults caught (of ${seededFaults.length} in all)`,
);
process.exitCode = missed === 0 ? 0 : 1;
