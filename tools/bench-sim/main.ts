/**
 * `npm run bench:sim`: how fast the simulation runs, with five members and twenty workloads, all oracles on.
 *
 * One scenario, an hour of simulated time: twenty workloads are placed, a member dies and is tainted, everything on it moves,
 * it returns, and the world rests until the hour is over. It is run for some seeds, and each is run once more with a longer
 * rest, which says what rest costs. CPU is user and system time of this process, so a busy machine does not matter much.
 *
 * Where the time goes is told by the sampling profiler in a run of its own: by package, and how much is spent in oracles and
 * whatever they call.
 *
 * Options: `--seeds A,B` (default 1,2,3), `--profile FILE` keeps the CPU profile of the profiled run.
 */
import { writeFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { parseArgs } from "node:util";
import { drainPromises } from "@lifeboat/base/adapters";
import { type Outcome, runScenario, type Scenario, type Step } from "@lifeboat/sim";
import { print, printRows } from "../bench-plane/plane.ts";

const { values } = parseArgs({
  options: { seeds: { type: "string", default: "1,2,3" }, profile: { type: "string" } },
});

const HOUR_MS = 3_600_000;
/** With what comes before it, an hour. */
const QUIET_MS = 2_300_000;
const LONG_QUIET_MS = QUIET_MS + 2 * HOUR_MS;
const MEMBERS = ["m1", "m2", "m3", "m4", "m5"];

interface Run {
  readonly outcome: Outcome;
  readonly cpuMs: number;
  readonly events: number;
  readonly rows: number;
}

/** What was measured of one seed; of CPU, milliseconds per simulated second. */
interface Hour {
  readonly seed: number;
  readonly hour: Run;
  readonly restCpu: number;
  readonly actionCpu: number;
  readonly restEvents: number;
}

/** Twenty workloads, of which the first member has a copy of each; it dies, everything leaves it, and it returns. */
function failAndRecover(seed: number): Scenario {
  const steps = Array.from({ length: 20 }, (_, i) => workloadSteps(i)).flat();
  return {
    name: "fail and recover",
    seed,
    members: MEMBERS,
    failover: true,
    steps: [
      ...steps,
      { at: 310, do: "taint", member: "m1", effect: "NoExecute", on: true },
      { at: 960, do: "taint", member: "m1", effect: "NoExecute", on: false },
    ],
    faults: [{ fault: "link", link: "m1", from: 300, until: 900, conditions: { down: true } }],
  };
}

/** Half of them in one place at a time, a quarter in three clusters each, a quarter divided over all. */
function workloadSteps(i: number): readonly Step[] {
  const of = { kind: i % 4 === 1 ? "StatefulSet" : "Deployment", name: `w${i}` } as const;
  const policy = { do: "policy", name: of.name, selects: [of] } as const;
  const workload: Step = { at: i, do: "workload", ...of, replicas: 5 };
  if (i % 4 === 2) return [workload, { at: i, ...policy, clusters: ["m1", "m2", "m3"] }];
  if (i % 4 === 3) return [workload, { at: i, ...policy, divided: true }];
  return [
    workload,
    { at: i, ...policy, oneCopy: true, clusters: ["m1"] },
    { at: i + 60, ...policy, oneCopy: true, clusters: MEMBERS },
  ];
}

async function run(seed: number, quietMs: number): Promise<Run> {
  let events = 0;
  const drain = (): Promise<void> => {
    events += 1;
    return drainPromises();
  };
  const before = process.cpuUsage();
  const outcome = await runScenario({ drain }, failAndRecover(seed), { quietMs });
  const { user, system } = process.cpuUsage(before);
  if (outcome.violations.length > 0) print(`BROKEN ${JSON.stringify(outcome.violations)}`);
  const rows = outcome.timeline.length;
  return { outcome, cpuMs: (user + system) / 1000, events, rows };
}

/** A run under the profiler. */
async function profiled(seed: number): Promise<Profiler.Profile> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 500 });
  await session.post("Profiler.start");
  await run(seed, QUIET_MS);
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  return profile;
}

/** The share of time by package or other place, and of everything below an oracle. */
function shares(profile: Profiler.Profile): readonly (readonly [string, number])[] {
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const spent = new Map<string, number>();
  let total = 0;
  const add = (what: string, hits: number): void =>
    void spent.set(what, (spent.get(what) ?? 0) + hits);
  const walk = (id: number, isJudging: boolean): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const { url, functionName } = node.callFrame;
    const judges = isJudging || /packages\/sim\/\w+\/oracles\//.test(url);
    const hits = functionName === "(idle)" ? 0 : (node.hitCount ?? 0);
    total += hits;
    if (judges) add("oracles, with what they call", hits);
    else add(placeOf(url, functionName), hits);
    for (const child of node.children ?? []) walk(child, judges);
  };
  const [root] = profile.nodes;
  if (root !== undefined) walk(root.id, false);
  return [...spent]
    .map(([what, hits]) => [what, hits / total] as const)
    .toSorted(([, a], [, b]) => b - a);
}

function placeOf(url: string, functionName: string): string {
  const found = /packages\/([\w-]+)\/(?:src|dist)\//.exec(url)?.[1];
  if (found !== undefined) return found;
  return functionName.startsWith("(garbage") ? "garbage collection" : "the engine and Node";
}

const SHOWN_SHARE = 0.005;
const WARM_UP_RUNS = 3;

const seeds = values.seeds.split(",").map(Number);
// A compiler must have seen the code, and the images of joined members are made once.
for (let i = 0; i < WARM_UP_RUNS; i++) await run(i, QUIET_MS);
const hours: Hour[] = [];
for (const seed of seeds) {
  const hour = await run(seed, QUIET_MS);
  const long = await run(seed, LONG_QUIET_MS);
  const restMs = LONG_QUIET_MS - QUIET_MS;
  const restCpu = (long.cpuMs - hour.cpuMs) / (restMs / 1000);
  const actionMs = hour.outcome.simulatedMs - QUIET_MS;
  const actionCpu = (hour.cpuMs - (restCpu * QUIET_MS) / 1000) / (actionMs / 1000);
  hours.push({ seed, hour, restCpu, actionCpu, restEvents: (long.events - hour.events) / restMs });
}
const per = (show: (one: Hour) => number, digits: number): string[] =>
  hours.map((one) => show(one).toFixed(digits));
printRows(
  hours.map(({ seed }) => `seed ${seed}`),
  [
    ["simulated seconds", per(({ hour }) => hour.outcome.simulatedMs / 1000, 0), ""],
    ["CPU seconds", per(({ hour }) => hour.cpuMs / 1000, 2), ""],
    ["times real time", per(({ hour }) => hour.outcome.simulatedMs / hour.cpuMs, 0), ">= 1000"],
    [
      "simulated hours per CPU minute",
      per(({ hour }) => hour.outcome.simulatedMs / hour.cpuMs / 60, 1),
      "60",
    ],
    ["events of the clock", per(({ hour }) => hour.events, 0), ""],
    ["writes of all servers", per(({ hour }) => hour.rows, 0), ""],
    ["writes of the control plane", per(({ hour }) => hour.outcome.writes, 0), ""],
    ["CPU ms per simulated second, in action", per(({ actionCpu }) => actionCpu, 2), ""],
    ["CPU ms per simulated second, at rest", per(({ restCpu }) => restCpu, 2), ""],
    ["events per simulated second, at rest", per(({ restEvents }) => restEvents * 1000, 2), ""],
  ],
);
print(`hashes: ${hours.map(({ hour }) => hour.outcome.hash).join(" ")}`);
print(`\nshare of CPU time, seed ${seeds[0]}`);
const profile = await profiled(seeds[0] ?? 1);
for (const [what, share] of shares(profile))
  if (share >= SHOWN_SHARE) print(`  ${what.padEnd(40)}${(share * 100).toFixed(1).padStart(6)} %`);
if (values.profile !== undefined) writeFileSync(values.profile, JSON.stringify(profile));
