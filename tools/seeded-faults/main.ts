/** `npm run seeded-faults`: shows that every seeded fault makes its tests fail, and that they pass without it. */
import { spawnSync } from "node:child_process";
import { root } from "../repository.ts";
import { FAULT_VARIABLE, seededFaults } from "./faults.ts";

/** True when the tests pass. A run that could not start, or ran no test, is an error and not a failure of the tests. */
function passes(tests: readonly string[], fault: string): boolean {
  const args = ["vitest", "run", "--project", "unit", "--reporter=json", "--bail=1", ...tests];
  const environment = { ...process.env, [FAULT_VARIABLE]: fault };
  const { stdout, stderr } = spawnSync("npx", args, {
    cwd: root,
    encoding: "utf8",
    env: environment,
    maxBuffer: 64 << 20,
  });
  const report = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
    readonly numTotalTests: number;
    readonly numFailedTests: number;
  };
  if (report.numTotalTests === 0) throw new Error(`no test ran for ${tests.join(" ")}:\n${stderr}`);
  return report.numFailedTests === 0;
}

const tests = [...new Set(seededFaults.flatMap(({ caughtBy }) => caughtBy))];
if (!passes(tests, "")) throw new Error("the tests fail without any fault");

let missed = 0;
for (const [index, { promise, breaks, caughtBy }] of seededFaults.entries()) {
  const isCaught = !passes(caughtBy, String(index));
  if (!isCaught) missed += 1;
  console.log(`${isCaught ? "caught" : "MISSED"}  ${promise.padEnd(4)} ${breaks}`);
}
console.log(`${seededFaults.length - missed} of ${seededFaults.length} seeded faults caught`);
process.exitCode = missed === 0 ? 0 : 1;
