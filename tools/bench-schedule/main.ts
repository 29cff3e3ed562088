/**
 * `npm run bench:schedule`: how fast workloads are placed, with 100 and with 1,000 clusters and 10,000 bindings of mixed
 * placements.
 *
 *   alone      the pure function, on the same bindings
 *   durable    through the API in process: bindings stand there, the scheduler starts, each result and each status is
 *              written and synced to disk; the time until every binding is placed
 *
 * Options: `--bindings N` (default 10000), `--clusters A,B` (default 100,1000), `--dir DIR` for where data is kept.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Cluster,
  clusters,
  hasCondition,
  type New,
  type Placement,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { openLmdbStorage } from "@lifeboat/apiserver/adapters";
import { createRandom, plainMoment, SteadyTime } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import {
  builtinInterpretation,
  createFleetView,
  createMemberConnections,
  createPlaneInformers,
  createTemplates,
  type PlaneContext,
  TargetRoom,
} from "@lifeboat/controllers/context";
import { createScheduler } from "@lifeboat/controllers/placement";
import { wellKnown } from "@lifeboat/core";
import { candidateOf, type CandidateFleet, fleetOf, place } from "@lifeboat/core/placement";
import {
  type Client,
  createEventRecorder,
  createManager,
  silentLog,
  silentMetrics,
} from "@lifeboat/kit";
import { createControlPlane } from "@lifeboat/plane";

const { values } = parseArgs({
  options: {
    bindings: { type: "string", default: "10000" },
    clusters: { type: "string", default: "100,1000" },
    dir: { type: "string", default: tmpdir() },
  },
});
const bindingCount = Number(values.bindings);
const REGIONS = 8;
const WRITERS = 128;
/** Before measuring and while: a compiler must have seen the code. */
const PASSES = 5;

async function measure(clusterCount: number): Promise<void> {
  const folder = mkdtempSync(join(values.dir, "lifeboat-bench-"));
  try {
    await measureIn(folder, clusterCount);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureIn(folder: string, clusterCount: number): Promise<void> {
  const ports = {
    clock: createRealClock(),
    random: createRandom(1),
    ids: createRealIds(),
    log: silentLog,
    metrics: silentMetrics,
    storage: await openLmdbStorage(join(folder, "store")),
  };
  const controlPlane = await createControlPlane(ports, { version: "0.1.0", tokens: new Map() });
  const stop = new AbortController();
  void controlPlane.run(stop.signal);
  const plane = controlPlane.server.client({ name: "bench", groups: ["system:masters"] });
  await createAll(clusterCount, (i) => createCluster(plane, i));
  await createAll(bindingCount, (i) => plane.create(resourceBindings, newBinding(i, clusterCount)));
  const fleet = fleetOf((await plane.list(clusters)).items.map(candidateOf));
  print(`\n${clusterCount} clusters, ${bindingCount} bindings`);
  measureAlone((await plane.list(resourceBindings)).items, fleet);
  await measureDurable(ports, plane, stop);
  await controlPlane.close();
}

function measureAlone(bindings: readonly ResourceBinding[], fleet: CandidateFleet): void {
  const view = { fleet, reserved: new Map() };
  const now = plainMoment(createRealClock().now());
  const sample = bindings.slice(0, 2000);
  for (let pass = 0; pass < PASSES; pass++)
    for (const binding of sample) place({ ...view, binding }, now);
  const times: number[] = [];
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (let pass = 0; pass < PASSES; pass++)
    for (const binding of sample) {
      const from = performance.now();
      place({ ...view, binding }, now);
      times.push(performance.now() - from);
    }
  const took = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  report("alone", times.length, took, times);
  const own = sample.map((binding) => cpuOf(() => place({ ...view, binding }, now)));
  own.sort((a, b) => a - b);
  print(
    `           ${Math.round((user + system) / times.length)} µs of CPU each, ` +
      `p99 ${own[Math.floor(own.length * 0.99)] ?? 0} µs, most ${own.at(-1) ?? 0} µs`,
  );
}

/** In microseconds. On a busy machine time on the wall says how long others were let in, not how long it took. */
function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function measureDurable(
  ports: Parameters<typeof createControlPlane>[0],
  plane: Client,
  stop: AbortController,
): Promise<void> {
  const informers = createPlaneInformers(ports, plane);
  const events = createEventRecorder(ports, plane, { component: "bench", instance: "bench" });
  const times: number[] = [];
  const fleetView = createFleetView(informers);
  const time = new SteadyTime(ports.clock);
  const context: PlaneContext = {
    ...ports,
    time,
    metrics: {
      ...silentMetrics,
      histogram: (definition) => ({
        ...silentMetrics.histogram(definition),
        observe: (seconds: number) => {
          if (definition.name.endsWith("algorithm_duration_seconds")) times.push(seconds * 1000);
        },
      }),
    },
    plane,
    informers,
    fleetView,
    targetRoom: new TargetRoom({ informers, fleetView, time }),
    events,
    templates: createTemplates(ports, plane),
    connections: createMemberConnections(ports, plane, informers.clusters, () => {
      throw new Error("there are no members");
    }),
    interpretation: builtinInterpretation,
  };
  const placed = allPlaced(context);
  const memory = process.memoryUsage().heapUsed;
  const cpu = process.cpuUsage();
  const started = performance.now();
  const services = [
    informers.clusters,
    informers.resourceBindings,
    informers.clusterResourceBindings,
  ];
  void createManager(ports, [...services, events, createScheduler(context)]).run(stop.signal);
  await placed;
  const took = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  report("durable", bindingCount, took, times);
  print(
    `           ${((user + system) / bindingCount / 1000).toFixed(2)} ms of CPU each, ` +
      `${Math.round((process.memoryUsage().heapUsed - memory) / 2 ** 20)} MiB more on the heap`,
  );
  stop.abort();
}

function allPlaced({ informers }: PlaneContext): Promise<void> {
  let left = bindingCount;
  return new Promise((resolve) => {
    informers.resourceBindings.onChange((old, now) => {
      const isDone = (one: ResourceBinding | undefined): boolean =>
        hasCondition(one?.status?.conditions, "Scheduled");
      if (isDone(now) && !isDone(old) && --left === 0) resolve();
    });
  });
}

async function createAll(count: number, create: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await create(next++);
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
}

async function createCluster(plane: Client, i: number): Promise<void> {
  const created = await plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: `m${i}`, labels: { tier: i % 2 === 0 ? "gold" : "iron" } },
    spec: { syncMode: "Push", region: `r${i % REGIONS}`, zones: [`z${i % 3}`], provider: "p" },
  });
  await plane.update(clusters, { ...created, status: clusterStatus() }, { subresource: "status" });
}

/** As many APIs as a plain cluster serves, and room for everything. */
function clusterStatus(): NonNullable<Cluster["status"]> {
  const others = Array.from({ length: 20 }, (_, group) => ({
    groupVersion: `group${group}.io/v1`,
    resources: Array.from({ length: 5 }, (_other, kind) => ({
      name: `kind${kind}s`,
      kind: `Kind${kind}`,
    })),
  }));
  return {
    apiEnablements: [
      { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
      ...others,
    ],
    resourceSummary: {
      allocatable: { cpu: "64000", memory: "256000Gi", pods: "1100000" },
      allocated: { cpu: "1000", memory: "500Gi", pods: "1000" },
    },
  };
}

function newBinding(i: number, clusterCount: number): New<ResourceBinding> {
  const name = `web-${i}`;
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, namespace: "default", labels: { [wellKnown.POLICY_ID]: `p${i % 50}` } },
    spec: {
      resource: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "default",
        name,
        uid: name,
      },
      replicas: 1 + (i % 10),
      replicaRequirements: { resourceRequest: { cpu: "100m", memory: "128Mi" } },
      placement: PLACEMENTS[i % PLACEMENTS.length]?.(i, clusterCount) ?? {},
      conflictResolution: "Abort",
    },
  };
}

/** Policies as people write them: a few clusters by name, by label, spread, weighted, by room. */
const PLACEMENTS: readonly ((i: number, clusterCount: number) => Placement)[] = [
  (i, count) => ({
    clusterAffinity: { clusterNames: [0, 1, 2].map((k) => `m${(i * 7 + k) % count}`) },
    replicaScheduling: { replicaSchedulingType: "Duplicated" },
  }),
  () => ({
    clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } },
    spreadConstraints: [{ spreadByField: "cluster", minGroups: 2, maxGroups: 3 }],
    replicaScheduling: { replicaSchedulingType: "Duplicated" },
  }),
  (i, count) => ({
    clusterAffinity: { clusterNames: [0, 1, 2].map((k) => `m${(i * 3 + k) % count}`) },
    replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
  }),
  () => ({
    clusterAffinity: {
      fieldSelector: {
        matchExpressions: [{ key: "region", operator: "In", values: ["r1", "r2"] }],
      },
    },
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Weighted",
      weightPreference: { dynamicWeight: "AvailableReplicas" },
    },
  }),
  () => ({
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Aggregated",
    },
  }),
  () => ({
    spreadConstraints: [
      { spreadByField: "region", minGroups: 2, maxGroups: 2 },
      { spreadByField: "cluster", minGroups: 2, maxGroups: 4 },
    ],
    replicaScheduling: { replicaSchedulingType: "Duplicated" },
  }),
];

function report(what: string, count: number, tookMs: number, times: number[]): void {
  times.sort((a, b) => a - b);
  const at = (part: number): string => (times[Math.floor(times.length * part)] ?? 0).toFixed(3);
  print(
    `${what.padEnd(10)} ${Math.round((count / tookMs) * 1000)} placements/s; ` +
      `one decision p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1 - 1 / times.length)} ms`,
  );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

for (const count of values.clusters.split(",").map(Number)) await measure(count);
