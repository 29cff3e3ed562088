/**
 * `npm run bench:traffic`: how soon traffic leaves a cluster, what that writes, and what a request through the gateway costs beside
 * HAProxy.
 *
 *   from the report of a condition to the last new request at the cluster that a Remedy blocks for it: one ingress has a backend
 *   there, or 100 have, of 20 clusters each; and the writes of the control plane that this takes
 *   requests per second and CPU per request of `lifeboat gateway`, embedded and haproxy, under the same load in turn
 *
 * The control plane is a process of its own with the controllers of Remedies and ingresses; members are not needed, what they
 * report is written by hand. Needs h2load and haproxy.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import {
  type Cluster,
  clusters,
  type MultiClusterIngress,
  multiClusterIngresses,
  type New,
  remedies,
  resourceBindings,
  setCondition,
} from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { lifeboatCommand, startLifeboat } from "../../tests/support/lifeboat.ts";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../../tests/support/processes.ts";
import { difference, sorted, type Writes, writesOf } from "../bench-plane/plane.ts";

const CLUSTERS = 20;
const INGRESSES = 100;
const SECONDS = 5;
/** Every ingress but `solo` has a backend in `c1`; `solo` alone has one in the cluster `solo`. */
const CASES = [
  { cluster: "solo", address: addressOf(CLUSTERS + 1), names: ["solo"], rounds: 10, aimMs: 50 },
  { cluster: "c1", address: addressOf(1), names: ingressNames(), rounds: 3, aimMs: 2000 },
] as const;

/** When each cluster last got a request, by the address that it came to; all addresses are this machine's. */
const lastAt = new Map<string, number>();

function startBackends(): Promise<Server> {
  const server = createServer((request, response) => {
    lastAt.set(request.socket.localAddress ?? "", performance.now());
    response.end("ok");
  });
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve) => server.listen(0, "0.0.0.0", () => resolve(server)));
}

function addressOf(cluster: number): string {
  return `127.77.0.${cluster}`;
}

function ingressNames(): readonly string[] {
  return Array.from({ length: INGRESSES }, (_, i) => `i${i + 1}`);
}

/** The clusters of a Service, by name, with the number of their address. */
function clustersOf(service: string): readonly (readonly [name: string, number: number])[] {
  const all = Array.from({ length: CLUSTERS }, (_, i) => [`c${i + 1}`, i + 1] as const);
  return service === "solo" ? [...all.slice(1), ["solo", CLUSTERS + 1]] : all;
}

function ingress(name: string, service: string, port: number): New<MultiClusterIngress> {
  const published = Object.fromEntries(
    clustersOf(service).map(([cluster, number]) => [
      cluster,
      { addresses: [addressOf(number)], state: "serving", weight: 1 },
    ]),
  );
  const services = {
    [service]: { ports: [{ name: "http", port }], clusters: published, bindings: [] },
  };
  const backend = { service: { name: service, port: { number: port } } };
  return {
    apiVersion: "networking.karmada.io/v1alpha1",
    kind: "MultiClusterIngress",
    metadata: {
      name,
      namespace: "default",
      annotations: { "lifeboat.dev/backends": JSON.stringify({ generation: 1, services }) },
    },
    spec: {
      rules: [
        {
          host: `${name}.example.com`,
          http: { paths: [{ path: "/", pathType: "Prefix", backend }] },
        },
      ],
    },
  };
}

/** A Service, as members report it from all its clusters. */
async function createService(plane: Client, service: string): Promise<void> {
  const metadata = { name: `${service}-service`, namespace: "default" };
  const resource = { apiVersion: "v1", kind: "Service", namespace: "default", name: service };
  const binding = await plane.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata,
    spec: { resource },
  });
  const aggregatedStatus = clustersOf(service).map(([clusterName]) => ({
    clusterName,
    applied: true,
  }));
  const status = { ...binding.status, aggregatedStatus };
  await plane.update(resourceBindings, { ...binding, status }, { subresource: "status" });
}

async function createFleet(plane: Client): Promise<void> {
  for (const name of [...clustersOf("web").map(([one]) => one), "solo"]) {
    await plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: { syncMode: "Push", apiEndpoint: "https://127.0.0.1:1" },
    });
    await report(plane, name, true);
  }
  for (const service of ["solo", "web"]) await createService(plane, service);
  await plane.create(remedies, {
    apiVersion: "remedy.karmada.io/v1alpha1",
    kind: "Remedy",
    metadata: { name: "names" },
    spec: {
      decisionMatches: [
        {
          clusterConditionMatch: {
            conditionType: CONDITION,
            operator: "Equal",
            conditionStatus: "False",
          },
        },
      ],
      actions: ["TrafficControl"],
    },
  });
}

const CONDITION = "ServiceDomainNameResolutionReady";

/** What a detector writes when its verdict changes. */
async function report(plane: Client, name: string, isWell: boolean): Promise<void> {
  const cluster: Cluster = await plane.get(clusters, { namespace: "", name });
  const conditions = setCondition(
    cluster.status?.conditions,
    { type: CONDITION, status: isWell ? "True" : "False", reason: "Bench", message: "" },
    instantOf(Date.now()),
  );
  const status = { ...cluster.status, conditions };
  await plane.update(clusters, { ...cluster, status }, { subresource: "status" });
}

interface Switch {
  /** From the report to the last new request at the cluster. */
  readonly ms: number;
  readonly writes: Writes;
}

/** Reports the condition of a cluster while requests come all the time. */
async function measureSwitch(
  plane: Client,
  port: number,
  { cluster, address, names }: (typeof CASES)[number],
): Promise<Switch> {
  const over = new AbortController();
  const clients = Array.from({ length: 20 }, async (_, i) => {
    for (let turn = i; !over.signal.aborted; turn++)
      await fetchOnce(port, `${names[turn % names.length]}.example.com`);
  });
  await wait(500);
  const before = await writesOf(plane);
  const began = performance.now();
  await report(plane, cluster, false);
  await wait(3000);
  const ms = Math.max(0, (lastAt.get(address) ?? 0) - began);
  const writes = difference(before, await writesOf(plane));
  await report(plane, cluster, true);
  await wait(1000);
  over.abort();
  await Promise.all(clients);
  return { ms, writes };
}

async function fetchOnce(port: number, host: string): Promise<void> {
  const { get } = await import("node:http");
  await new Promise<void>((resolve, reject) => {
    get({ port, path: "/", headers: { host } }, (response) => {
      response.resume().once("end", resolve);
    }).once("error", reject);
  });
}

/** Seconds of CPU of a process and everything below it. */
function cpuSeconds(pid: number): number {
  const stats = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, "utf8");
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
        const ticks = Number(fields[11]) + Number(fields[12]);
        return [{ pid: Number(name), parent: Number(fields[1]), ticks }];
      } catch {
        // It ended meanwhile.
        return [];
      }
    });
  const below = (parent: number): number =>
    stats
      .filter((one) => one.parent === parent)
      .reduce((sum, one) => sum + one.ticks + below(one.pid), 0);
  const own = stats.find((one) => one.pid === pid)?.ticks ?? 0;
  return (own + below(pid)) / 100;
}

/** The load is a process of its own; the backends answer in this one, so nothing here may block. */
async function measureLoad(gateway: RunningProcess, port: number): Promise<string> {
  const before = cpuSeconds(gateway.pid);
  const { stdout: output } = await promisify(execFile)("h2load", [
    "--h1",
    "-c",
    "20",
    "-t",
    "1",
    "-D",
    String(SECONDS),
    `--connect-to=127.0.0.1:${port}`,
    "http://i1.example.com/",
  ]);
  const cpu = cpuSeconds(gateway.pid) - before;
  const perSecond = Number(/finished in [^,]+, ([\d.]+) req\/s/.exec(output)?.[1] ?? 0);
  const [, total = "0"] = /requests: (\d+) total/.exec(output) ?? [];
  const [, good = "0"] = /status codes: (\d+) 2xx/.exec(output) ?? [];
  const micros = (cpu * 1e6) / Math.max(1, Number(good));
  return `${perSecond.toFixed(0)} requests/s, ${micros.toFixed(0)} µs of CPU each (${good} of ${total} answered with 2xx)`;
}

function medianOf(sortedMs: readonly number[]): number {
  const upper = Math.floor(sortedMs.length / 2);
  const lower = Math.ceil(sortedMs.length / 2) - 1;
  return ((sortedMs[lower] ?? 0) + (sortedMs[upper] ?? 0)) / 2;
}

function verdict(median: number, most = 0, aimMs: number): string {
  if (most <= aimMs) return "met by every round";
  return median <= aimMs ? "met by the median alone" : "missed";
}

const directory = temporaryDirectory("bench-traffic");
const backends = await startBackends();
const { port: backendPort } = backends.address() as { readonly port: number };
const plane = await startLifeboat({ args: ["--controllers=remedy,multiClusterIngress"] });
const client = await connectByKubeconfig({ paths: [plane.kubeconfig] }, "bench");
await createFleet(client);
await client.create(multiClusterIngresses, ingress("solo", "solo", backendPort));
for (const name of ingressNames())
  await client.create(multiClusterIngresses, ingress(name, "web", backendPort));
try {
  for (const provider of ["embedded", "haproxy"]) {
    const gateway = startProcess(lifeboatCommand, [
      "gateway",
      "--kubeconfig",
      plane.kubeconfig,
      "--provider",
      provider,
      "--listen",
      "127.0.0.1:0",
      "--haproxy-dir",
      `${directory}/${provider}`,
    ]);
    await gateway.printed(/^ready$/m);
    const port = Number((await gateway.printed(/http:\/\/127\.0\.0\.1:(\d+)/))[1]);
    await wait(1500);
    process.stdout.write(`${provider}: ${await measureLoad(gateway, port)}\n`);
    for (const one of CASES) {
      const rounds: Switch[] = [];
      for (let round = 0; round < one.rounds; round++)
        rounds.push(await measureSwitch(client, port, one));
      rounds.sort((a, b) => a.ms - b.ms);
      const middle = medianOf(rounds.map(({ ms }) => ms));
      const most = rounds.at(-1);
      const written = sorted(most?.writes ?? new Map()).map(([what, count]) => `${count} ${what}`);
      process.stdout.write(
        `${provider}: ${one.names.length} of ${INGRESSES + 1} ingresses × ${CLUSTERS} clusters: ` +
          `last new request ${middle.toFixed(1)} ms after the report (median of ${rounds.length}, ` +
          `most ${most?.ms.toFixed(1)}; aim ${one.aimMs}: ${verdict(middle, most?.ms, one.aimMs)}); ` +
          `writes with the report itself: ${written.join(", ")}\n`,
      );
    }
    await gateway.stop();
  }
} finally {
  client.close();
  await plane.stop();
  backends.close();
  backends.closeAllConnections();
  removeDirectory(directory);
}
