/**
 * `npm run bench:failover`: what it costs to move everything away from a cluster. A real `lifeboat up --members 3` is a
 * process of its own, its members another; this program puts Deployments on the first member, taints it, and watches from
 * outside. The rate of evictions is as good as unlimited.
 *
 *   drained   the member is reachable: from the taint until substitutes are healthy and the old copies are gone
 *   dead      its API is down: from the taint until substitutes are healthy; then it heals, until the old copies are gone
 *
 * CPU is user and system time of the control plane's process alone; writes are what its store counted, Events and
 * heartbeats apart. CPU time and counts can be trusted on a busy machine, wall time cannot.
 *
 * Options: `--deployments N` (1000), `--only drained|dead`, `--profile DIR` writes a CPU profile of the control plane.
 */
import { parseArgs } from "node:util";
import { simulatedMembers } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { type RunningLifeboat, startLifeboat } from "../../tests/support/lifeboat.ts";
import {
  cpuSeconds,
  difference,
  memoryOf,
  ownWrites,
  print,
  printRows,
  profiler,
  sorted,
  untilQuiet,
  type Writes,
  writesOf,
} from "../bench-plane/plane.ts";
import { areMoved, copiesIn, fill, PODS_PER_NODE, SOURCE, taint, until } from "./moving.ts";

const { values } = parseArgs({
  options: {
    deployments: { type: "string", default: "1000" },
    only: { type: "string" },
    profile: { type: "string" },
  },
});
const count = Number(values.deployments);

type Variant = "drained" | "dead";

interface Measured {
  readonly variant: Variant;
  readonly healthySeconds: number;
  readonly goneSeconds: number;
  readonly cpuMsEach: number;
  readonly writes: Writes;
  readonly residentMb: number;
}

async function measure(variant: Variant): Promise<Measured> {
  const running = await startLifeboat({
    args: [
      "--members=3",
      `--member-nodes=${Math.ceil((count * 1.2) / PODS_PER_NODE)}`,
      "--feature-gates=Failover=true",
      "--resource-eviction-rate=100000",
    ],
    ...(values.profile !== undefined && { under: profiler(values.profile) }),
  });
  try {
    await running.process.printed(/^members ready$/m);
    return await drive(variant, running);
  } catch (error) {
    print(running.process.output());
    throw error;
  } finally {
    await running.stop();
  }
}

async function drive(variant: Variant, running: RunningLifeboat): Promise<Measured> {
  const plane = await connectByKubeconfig({ paths: [running.kubeconfig] }, "bench");
  const kubeconfig = `${running.dataDirectory}/${SOURCE}.kubeconfig`;
  const source = await connectByKubeconfig({ paths: [kubeconfig] }, "bench");
  try {
    return await driveBy(plane, source, variant, running.process.pid);
  } finally {
    plane.close();
    source.close();
  }
}

async function driveBy(
  plane: Client,
  source: Client,
  variant: Variant,
  pid: number,
): Promise<Measured> {
  await fill(plane, count, untilQuiet);
  if (variant === "dead") await setFault(plane, [{ mode: "api-down" }]);
  await untilQuiet(plane);
  const before = await writesOf(plane);
  const cpuBefore = cpuSeconds(pid);
  const started = performance.now();
  await taint(plane, SOURCE, [{ key: "bench", effect: "NoExecute" }]);
  await areMoved(plane, count);
  const healthySeconds = (performance.now() - started) / 1000;
  let returned = started;
  if (variant === "dead") {
    returned = performance.now();
    await setFault(plane, []);
  }
  await until("old copies are gone", async () => (await copiesIn(source)) === 0);
  const goneSeconds = (performance.now() - returned) / 1000;
  await untilQuiet(plane);
  const cpuMsEach = ((cpuSeconds(pid) - cpuBefore) * 1000) / count;
  const writes = difference(before, await writesOf(plane));
  print(
    `${variant}: healthy after ${healthySeconds.toFixed(1)} s, gone after ${goneSeconds.toFixed(1)} s`,
  );
  const { residentMb } = memoryOf(pid);
  return { variant, healthySeconds, goneSeconds, cpuMsEach, writes, residentMb };
}

async function setFault(
  plane: Client,
  faults: readonly { readonly mode: string }[],
): Promise<void> {
  const key = { namespace: "", name: SOURCE };
  const body = { spec: { faults: faults.map((fault) => ({ ...fault })) } };
  await plane.patch(simulatedMembers, key, { type: "merge", body });
}

const variants: readonly Variant[] = ["drained", "dead"];
const rows: Measured[] = [];
print(`${count} Deployments on one of three members`);
for (const variant of variants)
  if (values.only === undefined || values.only === variant) rows.push(await measure(variant));
printRows(
  rows.map(({ variant }) => variant),
  [
    [
      "taint to all substitutes healthy, s",
      rows.map((row) => row.healthySeconds.toFixed(1)),
      "<= 5",
    ],
    [
      "until old copies are gone, s (dead: after healing)",
      rows.map((row) => row.goneSeconds.toFixed(1)),
      "",
    ],
    ["control plane CPU per workload, ms", rows.map((row) => row.cpuMsEach.toFixed(1)), "<= 4"],
    ["writes per workload", rows.map((row) => (ownWrites(row.writes) / count).toFixed(1)), "<= 16"],
    ["resident memory, MB", rows.map((row) => row.residentMb.toFixed(0)), ""],
  ],
);
for (const row of rows) {
  print(`\n${row.variant}: stored per workload`);
  for (const [name, stored] of sorted(row.writes))
    print(`  ${name.padEnd(56)}${(stored / count).toFixed(2).padStart(8)}`);
}
