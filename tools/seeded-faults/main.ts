/**
 * `npm run seeded-faults`: shows that every seeded fault makes its tests fail, and that they pass without it. As many at a time
 * as there are cores.
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
const tests = [...new Set(seededFaults.flatMap(({ caughtBy }) => caughtBy))];
if (!(await passes(tests, "", cores))) throw new Error("the tests fail without any fault");

let missed = 0;
const jobs = seededFaults.map(({ promise, breaks, caughtBy }, index) => async (): Promise<void> => {
  const isCaught = !(await passes(caughtBy, String(index), 1));
  if (!isCaught) missed += 1;
  console.log(`${isCaught ? "caught" : "MISSED"}  ${promise.padEnd(4)} ${breaks}`);
});
await inTurns(jobs, cores);
console.log(`${seededFaults.length - missed} of ${seededFaults.length} seeded faults caught`);
process.exitCode = missed === 0 ? 0 : 1;
