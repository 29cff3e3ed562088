/** What the benchmarks of a whole control plane share: how to load it, and how to measure its process from outside. */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { AnyObject, New, Resource } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

export const DEPLOYMENTS: Resource = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
};

const CREATORS = 32;
/** Nothing was written for this long: everything is done. */
const QUIET_MS = 1500;

/** Stored writes by `resource operation`; heartbeats (Leases) apart. */
export type Writes = ReadonlyMap<string, number>;

export interface Memory {
  readonly residentMb: number;
  readonly peakMb: number;
  readonly anonymousMb: number;
}

/** A command before which the control plane is profiled into a directory. */
export function profiler(directory: string): readonly string[] {
  return [process.execPath, "--cpu-prof", `--cpu-prof-dir=${directory}`, "--cpu-prof-interval=500"];
}

/** Creates Deployments `bench-0` … side by side; with another prefix, others. */
export async function createDeployments(
  client: Client,
  count: number,
  replicas: number,
  prefix = "bench",
): Promise<void> {
  let next = 0;
  const creator = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++)
      await client.create(DEPLOYMENTS, newDeployment(`${prefix}-${i}`, replicas));
  };
  await Promise.all(Array.from({ length: CREATORS }, creator));
}

/** A Deployment of the size that people write. */
function newDeployment(name: string, replicas: number): New<AnyObject> {
  const labels = { app: name, "app.kubernetes.io/name": name, tier: "backend", team: "platform" };
  const env = Array.from({ length: 6 }, (_, i) => ({ name: `SETTING_${i}`, value: `value-${i}` }));
  const probe = { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10 };
  const container = {
    name: "main",
    image: "registry.example/team/bench:1.2.3",
    args: ["--serve", "--port=8080"],
    ports: [{ name: "http", containerPort: 8080 }],
    env,
    resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
    livenessProbe: probe,
    readinessProbe: probe,
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace: "default", name, labels },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

/** Resolves when nothing has been stored for a while. */
export async function untilQuiet(client: Client): Promise<void> {
  let last = total(await writesOf(client));
  for (;;) {
    await pause(QUIET_MS);
    const now = total(await writesOf(client));
    if (now === last) return;
    last = now;
  }
}

const HEARTBEATS = "leases.coordination.k8s.io ";

/** What the control plane's store has counted so far. */
export async function writesOf(client: Client): Promise<Writes> {
  const counted = await countersOf(client, "lifeboat_storage_writes_total");
  return new Map([...counted].filter(([name]) => !name.startsWith(HEARTBEATS)));
}

/** A family of counters with two labels, by `label1 label2`. */
export async function countersOf(client: Client, family: string): Promise<Writes> {
  const answer = await client.read("/metrics");
  const text = typeof answer === "string" ? answer : "";
  const line = new RegExp(`^${family}\\{\\w+="([^"]+)",\\w+="([^"]+)"\\} (\\d+)$`, "gm");
  return new Map(
    [...text.matchAll(line)].map(([, first, second, count]) => [
      `${first} ${second}`,
      Number(count),
    ]),
  );
}

export function sorted(counts: Writes): readonly (readonly [string, number])[] {
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

export function difference(before: Writes, after: Writes): Writes {
  const changed = [...after].map(
    ([name, count]) => [name, count - (before.get(name) ?? 0)] as const,
  );
  return new Map(changed.filter(([, count]) => count > 0));
}

export function total(writes: Writes): number {
  return [...writes.values()].reduce((sum, count) => sum + count, 0);
}

/** All but Events. */
export function ownWrites(writes: Writes): number {
  return total(new Map([...writes].filter(([name]) => !name.startsWith("events "))));
}

/** User and system time of a process so far. The kernel counts in hundredths of a second. */
export function cpuSeconds(pid: number): number {
  return cpuIn(`/proc/${pid}/stat`);
}

/** That of its main thread alone, which runs JavaScript; V8 compiles and collects garbage on others too. */
export function mainThreadSeconds(pid: number): number {
  return cpuIn(`/proc/${pid}/task/${pid}/stat`);
}

function cpuIn(path: string): number {
  const stat = readFileSync(path, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const megabytes = (text: string, field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1024;
  return {
    residentMb: megabytes(status, "VmRSS"),
    peakMb: megabytes(status, "VmHWM"),
    anonymousMb: megabytes(rollup, "Anonymous"),
  };
}

/** A table: a column per variant, a line per figure with its aim. */
export function printRows(
  columns: readonly string[],
  lines: readonly (readonly [label: string, cells: readonly string[], aim: string])[],
): void {
  print("");
  for (const [label, cells, aim] of [["", columns, "aim"] as const, ...lines])
    print(
      `${label.padEnd(52)}${cells.map((cell) => cell.padStart(14)).join("")}${aim.padStart(10)}`,
    );
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
