/**
 * `npm run bench:propagate`: what it costs to bring Deployments to members and their status back, as a user sees it. A
 * real `lifeboat up --members N` is a process of its own, its members another; this program creates Deployments and one
 * policy over TLS and watches the templates until their status tells that every replica in every cluster is ready.
 *
 *   CPU      user and system time of the control plane's process alone, from the first create until nothing is written;
 *            what its main thread had of it apart, because V8 compiles on others, most of all in the first minute
 *   writes   what the control plane's store counted; Events and heartbeats (Leases) apart
 *   at rest  what is still written afterwards while nobody does anything
 *
 * CPU time and counts can be trusted on a busy machine, wall time cannot.
 *
 * Options: `--deployments N` (1000), `--members N` (3), `--replicas N` per cluster (2), `--only duplicated|divided`,
 * `--warm N` (0) others before, so that the measured ones meet compiled code,
 * `--rest S` seconds at rest (60), `--profile DIR` writes a CPU profile of the control plane,
 * `--node-flags "--a --b"` are given to its Node.
 */
import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type AnyObject,
  type New,
  propagationPolicies,
  type PropagationPolicy,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { type RunningLifeboat, startLifeboat } from "../../tests/support/lifeboat.ts";
import {
  countersOf,
  cpuSeconds,
  createDeployments,
  DEPLOYMENTS,
  difference,
  mainThreadSeconds,
  type Memory,
  memoryOf,
  ownWrites,
  print,
  sorted,
  total,
  untilQuiet,
  type Writes,
  writesOf,
} from "../bench-plane/plane.ts";

const { values } = parseArgs({
  options: {
    deployments: { type: "string", default: "1000" },
    members: { type: "string", default: "3" },
    replicas: { type: "string", default: "2" },
    only: { type: "string" },
    warm: { type: "string", default: "0" },
    rest: { type: "string", default: "60" },
    profile: { type: "string" },
    "node-flags": { type: "string", default: "" },
  },
});
const deploymentCount = Number(values.deployments);
const memberCount = Number(values.members);
const replicasPerCluster = Number(values.replicas);
const restSeconds = Number(values.rest);
const warmCount = Number(values.warm);

const PODS_PER_NODE = 200;
/** What the status of clusters says of their room follows at the pace of their probes, every ten seconds. */
const SETTLE_MS = 12_000;
/** Longer than anything takes that works. */
const PATIENCE_MS = 600_000;

type Variant = "duplicated" | "divided";

interface Measured extends Memory {
  readonly variant: Variant;
  readonly seconds: number;
  readonly cpuMsEach: number;
  /** The main thread's part of it. */
  readonly mainMsEach: number;
  readonly writes: Writes;
  readonly rest: Writes;
  /** Looks at keys, by `controller outcome`. */
  readonly looks: Writes;
  readonly restCpuMs: number;
}

async function measure(variant: Variant): Promise<Measured> {
  const copies = (deploymentCount + warmCount) * replicasPerCluster;
  const nodes = Math.ceil((copies * 1.2) / PODS_PER_NODE);
  const running = await startLifeboat({
    args: ["--members", String(memberCount), "--member-nodes", String(nodes)],
    under: [process.execPath, ...nodeFlags()],
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

function nodeFlags(): readonly string[] {
  const { profile, "node-flags": flags } = values;
  const given = flags.split(" ").filter((flag) => flag !== "");
  if (profile === undefined) return given;
  return [...given, "--cpu-prof", `--cpu-prof-dir=${profile}`, "--cpu-prof-interval=500"];
}

async function drive(variant: Variant, running: RunningLifeboat): Promise<Measured> {
  const client = await connectByKubeconfig({ paths: [running.kubeconfig] }, "bench");
  try {
    return await driveBy(client, variant, running.process.pid);
  } finally {
    client.close();
  }
}

async function driveBy(client: Client, variant: Variant, pid: number): Promise<Measured> {
  await untilQuiet(client);
  await client.create(propagationPolicies, policy(variant));
  const each = variant === "divided" ? replicasPerCluster * memberCount : replicasPerCluster;
  await createDeployments(client, warmCount, each, "warm");
  await untilQuiet(client);
  const before = await writesOf(client);
  const looksBefore = await looksOf(client);
  const cpuBefore = cpuSeconds(pid);
  const mainBefore = mainThreadSeconds(pid);
  const started = performance.now();
  const complete = untilComplete(client);
  await createDeployments(client, deploymentCount, each);
  const createdMs = performance.now() - started;
  await complete;
  const seconds = (performance.now() - started) / 1000;
  await untilQuiet(client);
  const cpuMsEach = ((cpuSeconds(pid) - cpuBefore) * 1000) / deploymentCount;
  const mainMsEach = ((mainThreadSeconds(pid) - mainBefore) * 1000) / deploymentCount;
  const memory = memoryOf(pid);
  const after = await writesOf(client);
  const looks = difference(looksBefore, await looksOf(client));
  print(
    `${variant}: created in ${(createdMs / 1000).toFixed(1)} s, complete in ${seconds.toFixed(1)} s`,
  );
  await pause(SETTLE_MS);
  const settled = await writesOf(client);
  const restCpu = cpuSeconds(pid);
  await pause(restSeconds * 1000);
  const restCpuMs = (cpuSeconds(pid) - restCpu) * 1000;
  const rest = difference(settled, await writesOf(client));
  return {
    variant,
    seconds,
    cpuMsEach,
    mainMsEach,
    writes: difference(before, after),
    rest,
    looks,
    restCpuMs,
    ...memory,
  };
}

/** Resolves when the status of every template tells that all of it is ready. */
function untilComplete(client: Client): Promise<void> {
  const wanted = replicasPerCluster * memberCount;
  const complete = new Set<string>();
  return new Promise((resolve, reject) => {
    const given = setTimeout(() => {
      watch.stop();
      reject(new Error(`${complete.size} of ${deploymentCount} complete after ${PATIENCE_MS} ms`));
    }, PATIENCE_MS);
    const watch = client.watch(
      DEPLOYMENTS,
      { namespace: "default", timeoutSeconds: PATIENCE_MS / 1000 },
      {
        event: (event) => {
          if (event.type === "BOOKMARK" || !isMeasured(event.object)) return;
          if (!isComplete(event.object, wanted)) return;
          complete.add(event.object.metadata.name);
          if (complete.size < deploymentCount) return;
          clearTimeout(given);
          resolve();
          watch.stop();
        },
        end: (why) => reject(new Error(`the watch ended: ${why.kind}`)),
      },
    );
  });
}

function isMeasured(template: AnyObject): boolean {
  return template.metadata.name.startsWith("bench-");
}

function isComplete(template: AnyObject, wanted: number): boolean {
  const status = (template["status"] ?? {}) as Readonly<Record<string, unknown>>;
  return (
    status["observedGeneration"] === template.metadata.generation &&
    status["readyReplicas"] === wanted &&
    status["availableReplicas"] === wanted &&
    status["updatedReplicas"] === wanted
  );
}

function looksOf(client: Client): Promise<Writes> {
  return countersOf(client, "kit_reconcile_outcomes_total");
}

function policy(variant: Variant): New<PropagationPolicy> {
  const divided = {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
  } as const;
  const replicaScheduling =
    variant === "divided" ? divided : ({ replicaSchedulingType: "Duplicated" } as const);
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { namespace: "default", name: "bench" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      placement: { replicaScheduling },
    },
  };
}

function printTable(rows: readonly Measured[]): void {
  const line = (label: string, pick: (row: Measured) => string, aim: string): void => {
    const cells = rows.map((row) => pick(row).padStart(14)).join("");
    print(`${label.padEnd(44)}${cells}${aim.padStart(10)}`);
  };
  const pairs = deploymentCount * memberCount;
  print("");
  line("", (row) => row.variant, "aim");
  line("first create to last status complete, s", (row) => row.seconds.toFixed(1), "");
  line("Deployments/s", (row) => (deploymentCount / row.seconds).toFixed(0), ">= 200");
  line("control plane CPU per Deployment, ms", (row) => row.cpuMsEach.toFixed(1), "<= 5");
  line("  of it on the main thread", (row) => row.mainMsEach.toFixed(1), "");
  line(
    "writes per Deployment and cluster",
    (row) => ((ownWrites(row.writes) - deploymentCount) / pairs).toFixed(2),
    "<= 6",
  );
  line("Events per Deployment", (row) => eventsEach(row.writes).toFixed(1), "");
  line("resident memory, MB", (row) => row.residentMb.toFixed(0), "<= 300");
  line("resident memory at most, MB", (row) => row.peakMb.toFixed(0), "");
  line("anonymous memory, MB", (row) => row.anonymousMb.toFixed(0), "");
  line(`writes in ${restSeconds} s at rest`, (row) => String(total(row.rest)), "0");
  line(`CPU in ${restSeconds} s at rest, ms`, (row) => row.restCpuMs.toFixed(0), "");
  for (const row of rows) {
    print(`\n${row.variant}: stored per Deployment`);
    for (const [name, count] of sorted(row.writes))
      print(`  ${name.padEnd(56)}${(count / deploymentCount).toFixed(2).padStart(8)}`);
    print(`${row.variant}: looks per Deployment`);
    for (const [name, count] of sorted(row.looks))
      print(`  ${name.padEnd(56)}${(count / deploymentCount).toFixed(2).padStart(8)}`);
    for (const [name, count] of row.rest) print(`  at rest: ${name} ${count} times`);
  }
}

function eventsEach(writes: Writes): number {
  return (
    ((writes.get("events create") ?? 0) + (writes.get("events update") ?? 0)) / deploymentCount
  );
}

const variants: readonly Variant[] = ["duplicated", "divided"];
const chosen = variants.filter((variant) => values.only === undefined || values.only === variant);
print(
  `${deploymentCount} Deployments, ${memberCount} members, ${replicasPerCluster} replicas in each, ${cpus().length} cores`,
);
const rows: Measured[] = [];
for (const variant of chosen) rows.push(await measure(variant));
printTable(rows);
