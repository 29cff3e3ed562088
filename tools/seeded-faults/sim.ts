/**
 * `npm run sim:mutants`: shows that every seeded bug is caught by the oracle of its promise. `npm run sim:mutants -- TEXT` runs
 * those whose oracle or file contains the text.
 */
import { spawnSync } from "node:child_process";
import { root } from "../repository.ts";
import { FAULT_VARIABLE } from "./faults.ts";
import { type SimMutant, simMutants } from "./sim-mutants.ts";

interface Report {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/** What failing tests said. A run that could not start, or ran no test, is an error. */
function complaints({ breaks, caughtBy, caughtIn }: SimMutant): string {
  const args = ["vitest", "run", "--project", "unit", "--reporter=json", "--bail=1"];
  const { stdout, stderr } = spawnSync("npx", [...args, "-t", caughtIn, ...caughtBy], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, [FAULT_VARIABLE]: breaks },
    maxBuffer: 64 << 20,
  });
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"num'))) as Report;
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  if (!results.some(({ status }) => status === "passed" || status === "failed"))
    throw new Error(`no test ran:\n${stderr}\n${report.testResults[0]?.message ?? ""}`);
  return results.flatMap(({ failureMessages = [] }) => failureMessages).join("\n");
}

const [wanted = ""] = process.argv.slice(2);
let missed = 0;
for (const mutant of simMutants) {
  const { oracle, breaks, file } = mutant;
  if (!`${oracle} ${file}`.includes(wanted)) continue;
  const began = performance.now();
  const said = complaints(mutant);
  const isCaught = said.includes(oracle);
  if (!isCaught) missed += 1;
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`${isCaught ? "caught" : "MISSED"}  ${oracle.padEnd(32)} ${breaks} (${seconds} s)`);
  if (!isCaught && said !== "") console.log(said.slice(0, 2000));
}
process.exitCode = missed === 0 ? 0 : 1;
