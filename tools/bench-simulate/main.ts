/**
 * `npm run bench:simulate`: what `lifeboat simulate --every` costs a person. A real `lifeboat up` holds the fleet and runs no controllers but
 * the one that publishes its settings; the command is a process of its own that reads it over TLS and decides what the failure of
 * each cluster would do.
 *
 *   seconds    from the start of the command to its end, loading Node and the code, reading and printing included
 *   CPU        user and system time of the command alone: on a busy machine the figure to trust
 *   peak       the most memory that the command had
 *
 * Options: `--fleets CLUSTERSxWORKLOADS,…` (default 100x5000,1000x50000). It exits with 1 when an aim is missed.
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type Cluster,
  clusters,
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  type KubeObject,
  type New,
  type Placement,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { openLmdbStorage } from "@lifeboat/apiserver/adapters";
import { wellKnown } from "@lifeboat/core";
import { formatPlacement } from "@lifeboat/core/placement";
import { lifeboatCommand, startLifeboat } from "../../tests/support/lifeboat.ts";
import {
  removeDirectory,
  startProcess,
  temporaryDirectory,
} from "../../tests/support/processes.ts";
import { cpuSeconds, memoryOf, print, printRows } from "../bench-plane/plane.ts";

const { values } = parseArgs({
  options: { fleets: { type: "string", default: "100x5000,1000x50000" } },
});

type Row = readonly [label: string, cells: readonly string[], aim: string];

interface Size {
  readonly clusterCount: number;
  readonly workloads: number;
}

interface Measured extends Size {
  readonly seconds: number;
  readonly cpu: number;
  readonly peakMb: number;
  readonly affected: number;
  readonly whole: number;
}

/** Seconds, by the fleet. */
const AIMS: ReadonlyMap<string, number> = new Map([
  ["100x5000", 20],
  ["1000x50000", 300],
]);
const AIM_MB = 3072;
const AT_ONCE = 1000;
const POLL_MS = 100;
const REGIONS = 8;

async function measure(size: Size): Promise<Measured> {
  const dataDirectory = temporaryDirectory("bench-simulate");
  try {
    await fill(join(dataDirectory, "store"), size);
    const args = ["--controllers=settings", "--feature-gates", "Failover=true"];
    const running = await startLifeboat({ dataDirectory, args });
    try {
      return await simulate(dataDirectory, size);
    } finally {
      await running.stop();
    }
  } finally {
    removeDirectory(dataDirectory);
  }
}

async function simulate(dataDirectory: string, size: Size): Promise<Measured> {
  const began = performance.now();
  const command = startProcess(lifeboatCommand, [
    "simulate",
    "--every",
    "--data-dir",
    dataDirectory,
  ]);
  let cpu = 0;
  let peakMb = 0;
  for (;;) {
    try {
      cpu = cpuSeconds(command.pid);
      peakMb = memoryOf(command.pid).peakMb;
    } catch {
      // It ended between two looks: what was read last is its figure.
    }
    if ((await Promise.race([command.ended, pause(POLL_MS)])) !== undefined) break;
  }
  const code = await command.ended;
  const seconds = (performance.now() - began) / 1000;
  const rows = [...command.output().matchAll(/^m\d+ +(\d+) +(\d+) /gm)];
  if ((code !== 0 && code !== 3) || rows.length !== size.clusterCount)
    throw new Error(`lifeboat simulate ended with ${code}:\n${command.output().slice(0, 2000)}`);
  const sum = (column: number): number => rows.reduce((all, row) => all + Number(row[column]), 0);
  return { ...size, seconds, cpu, peakMb, affected: sum(1), whole: sum(2) };
}

/** Puts the fleet into the store of a control plane that does not run: writing it through the API would take longer than the rest. */
async function fill(directory: string, { clusterCount, workloads }: Size): Promise<void> {
  const storage = await openLmdbStorage(directory);
  await storage.load();
  const objects = [
    rowOf(clusterTaintPolicies, RULE),
    ...Array.from({ length: clusterCount }, (_, i) => rowOf(clusters, newCluster(i))),
    ...Array.from({ length: workloads }, (_, i) =>
      rowOf(resourceBindings, newBinding(i, clusterCount)),
    ),
  ];
  for (let at = 0; at < objects.length; at += AT_ONCE) {
    const changes = objects.slice(at, at + AT_ONCE).map((make, i) => make(at + i + 1));
    await storage.commit({
      changes,
      revisionCeiling: objects.length + 10_000,
      trimHistoryBefore: at,
    });
  }
  await storage.close();
}

interface Change {
  readonly revision: number;
  readonly type: "ADDED";
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** The row of an object, as soon as its revision is known. */
function rowOf(
  { group, plural }: { readonly group: string; readonly plural: string },
  { metadata, ...object }: New<KubeObject>,
): (revision: number) => Change {
  const { namespace = "", name = "" } = metadata;
  return (revision) => {
    const identity = {
      uid: `00000000-0000-4000-8000-${String(revision).padStart(12, "0")}`,
      resourceVersion: String(revision),
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
    };
    const bytes = Buffer.from(
      JSON.stringify({ ...object, metadata: { ...metadata, ...identity } }),
    );
    return { revision, type: "ADDED", key: `${group}/${plural}/${namespace}/${name}`, bytes };
  };
}

const RULE: New<ClusterTaintPolicy> = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterTaintPolicy",
  metadata: { name: "failed" },
  spec: {
    matchConditions: [
      { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
    ],
    taintsToAdd: [{ key: "example.com/failed", effect: "NoExecute", addOnMatchSeconds: 60 }],
  },
};

function newCluster(i: number): New<Cluster> & Pick<Cluster, "status"> {
  return {
    status: CLUSTER_STATUS,
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: nameOf(i), labels: { tier: i % 2 === 0 ? "gold" : "iron" } },
    spec: { syncMode: "Push", region: `r${i % REGIONS}`, provider: "p" },
  };
}

/** Room for two thirds more than what runs there: a fleet of which one cluster may fail. */
const CLUSTER_STATUS: NonNullable<Cluster["status"]> = {
  conditions: [
    {
      type: "Ready",
      status: "True",
      reason: "ClusterReady",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ],
  apiEnablements: [
    { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
  ],
  resourceSummary: {
    allocatable: { cpu: "200", memory: "800Gi", pods: "1000" },
    allocated: { cpu: "60", memory: "80Gi", pods: "600" },
  },
};

function nameOf(i: number): string {
  return `m${i}`;
}

interface Run {
  readonly placement: Placement;
  /** Clusters of the result; the replicas are divided over them, or each has all. */
  readonly on: readonly number[];
}

type MakeRun = (i: number, count: number) => Run;

/** Policies as people write them: one of a few, two of a few, by label on as few as possible, by region. */
const RUNS: readonly [MakeRun, ...MakeRun[]] = [
  (i, count) => ({
    on: [i % count],
    placement: {
      clusterAffinity: { clusterNames: [0, 7, 13].map((k) => nameOf((i + k) % count)) },
      spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
    },
  }),
  (i, count) => ({
    on: [i % count, (i + 1) % count],
    placement: {
      clusterAffinity: { clusterNames: [0, 1, 5].map((k) => nameOf((i + k) % count)) },
      spreadConstraints: [{ spreadByField: "cluster", minGroups: 2, maxGroups: 2 }],
    },
  }),
  (i, count) => ({
    on: [i % count],
    placement: {
      clusterAffinity: {
        labelSelector: { matchLabels: { tier: (i % count) % 2 === 0 ? "gold" : "iron" } },
      },
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Aggregated",
      },
    },
  }),
  (i, count) => ({
    on: [i % count, (i + REGIONS) % count],
    placement: {
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Weighted",
        weightPreference: { dynamicWeight: "AvailableReplicas" },
      },
    },
  }),
];

function runOf(i: number, count: number): Run {
  return (RUNS[i % RUNS.length] ?? RUNS[0])(i, count);
}

const REPLICAS = 4;

function newBinding(
  i: number,
  count: number,
): New<ResourceBinding> & Pick<ResourceBinding, "status"> {
  const name = `web-${i}`;
  const { placement, on } = runOf(i, count);
  const isDivided = placement.replicaScheduling?.replicaSchedulingType === "Divided";
  const replicas = isDivided ? REPLICAS / on.length : REPLICAS;
  const result = on.map((k) => ({ name: nameOf(k), replicas }));
  return {
    status: statusOf(result),
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      name,
      namespace: "default",
      labels: { [wellKnown.POLICY_ID]: `p${i % 50}` },
      annotations: { [wellKnown.APPLIED_PLACEMENT]: formatPlacement(placement) },
    },
    spec: {
      resource: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "default",
        name,
        uid: name,
      },
      replicas: REPLICAS,
      replicaRequirements: { resourceRequest: { cpu: "100m", memory: "128Mi" } },
      placement,
      clusters: result,
      conflictResolution: "Abort",
    },
  };
}

function statusOf(
  result: readonly { readonly name: string; readonly replicas: number }[],
): NonNullable<ResourceBinding["status"]> {
  return {
    schedulerObservedGeneration: 1,
    aggregatedStatus: result.map(({ name, replicas }) => ({
      clusterName: name,
      applied: true,
      health: "Healthy" as const,
      status: { replicas, readyReplicas: replicas, updatedReplicas: replicas },
    })),
  };
}

const measured: Measured[] = [];
for (const text of values.fleets.split(",")) {
  const [clusterCount = 0, workloads = 0] = text.split("x").map(Number);
  print(`filling a control plane with ${clusterCount} clusters and ${workloads} workloads …`);
  measured.push(await measure({ clusterCount, workloads }));
}
const missed: string[] = [];
for (const one of measured) {
  const fleet = `${one.clusterCount}x${one.workloads}`;
  /** A row with an aim: at most so much; undefined: this fleet has none. */
  const aimed = (what: string, value: number, digits: number, aim: number | undefined): Row => {
    if (aim !== undefined && !(value <= aim))
      missed.push(`${fleet}: ${what}: ${value.toFixed(digits)}, aim <= ${aim}`);
    return [what, [value.toFixed(digits)], aim === undefined ? "" : `<= ${aim}`];
  };
  printRows(
    [fleet],
    [
      aimed("lifeboat simulate --every, seconds", one.seconds, 1, AIMS.get(fleet)),
      ["CPU of the command, seconds", [one.cpu.toFixed(1)], ""],
      aimed("peak memory of the command, MB", one.peakMb, 0, AIM_MB),
      ["copies lost in all failures together", [String(one.affected)], ""],
      ["of these workloads whole elsewhere", [String(one.whole)], ""],
    ],
  );
}
for (const one of missed) print(`MISSED: ${one}`);
process.exitCode = missed.length === 0 ? 0 : 1;
