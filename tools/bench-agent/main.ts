/**
 * `npm run bench:agent`: what an agent costs, and whether agents that flood a control plane harm others.
 *
 *   one    a real `lifeboat agent` process with many Works on a simulated member: resident memory, CPU at rest
 *   many   a hundred agents in four processes on one control plane, twenty of which flood it with all that their rights allow:
 *          renewals of the others' leases, and how many lapse
 *
 * Memory and CPU time can be trusted on a busy machine, latencies cannot. It exits with 1 when an aim is missed.
 *
 * Options: `--only one|many`, `--works N` (500), `--rest S` seconds at rest (60), `--agents N` (100), `--flooding N` (20),
 * `--seconds S` of flood (120).
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { print, printRows } from "../bench-plane/plane.ts";
import { measureManyAgents } from "./many-agents.ts";
import { measureOneAgent, megabytes } from "./one-agent.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    works: { type: "string", default: "500" },
    rest: { type: "string", default: "60" },
    agents: { type: "string", default: "100" },
    flooding: { type: "string", default: "20" },
    seconds: { type: "string", default: "120" },
  },
});

type Row = [string, string[], string];
const missed: string[] = [];

print(`${cpus().length} cores`);
if (values.only !== "many") await one();
if (values.only !== "one") await many();
for (const what of missed) print(`MISSED: ${what}`);
process.exitCode = missed.length === 0 ? 0 : 1;

/** A row with an aim: at most, or less than, so much. */
function aimed(what: string, value: number, digits: number, limit: number, isBelow = false): Row {
  const aim = isBelow ? `< ${limit}` : `<= ${limit}`;
  if (!(isBelow ? value < limit : value <= limit)) missed.push(`${what}: ${value}, aim ${aim}`);
  return [what, [value.toFixed(digits)], aim];
}

async function one(): Promise<void> {
  const measured = await measureOneAgent(Number(values.works), Number(values.rest));
  printRows(
    [`${values.works} Works`],
    [
      aimed("resident memory at rest, MB", measured.rest.residentMb, 0, 110),
      ["anonymous memory at rest, MB", [measured.rest.anonymousMb.toFixed(0)], ""],
      ["resident memory at most, MB", [measured.rest.peakMb.toFixed(0)], ""],
      aimed("CPU at rest, thousandths of a core", measured.restMilliCpu, 1, 5),
      ["until all were applied and healthy, s", [measured.appliedSeconds.toFixed(1)], ""],
    ],
  );
}

async function many(): Promise<void> {
  const [agents, flooding, seconds] = [values.agents, values.flooding, values.seconds].map(Number);
  const measured = await measureManyAgents(agents ?? 0, flooding ?? 0, seconds ?? 0);
  printRows(
    [`${measured.flooding} flood`],
    [
      ["honest agents", [String(measured.honest)], ""],
      aimed("leases that lapsed", measured.lapses, 0, 0),
      aimed("Clusters that were not Ready at a time", measured.unknown, 0, 0),
      ["renewals", [String(measured.renewals)], ""],
      ["renewals that failed and were tried again", [String(measured.failures)], ""],
      ["renewal p50, ms", [measured.p50Ms.toFixed(0)], ""],
      ["renewal p99, ms", [measured.p99Ms.toFixed(0)], ""],
      aimed("longest time without a renewal, s", measured.longestGapMs / 1000, 1, 40, true),
      ["control plane, cores", [measured.planeCores.toFixed(2)], ""],
    ],
  );
  print(`control plane: ${megabytes(measured.plane)}`);
  for (const [code, count] of Object.entries(measured.floodAnswers))
    print(`  answered with ${code}: ${(count / measured.seconds).toFixed(0)} per second`);
}
