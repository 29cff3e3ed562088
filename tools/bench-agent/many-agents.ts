/** A hundred agents on one control plane, some of which flood it: whether a lease of the others lapses (T10). */
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { clusters, findCondition } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { startLifeboat } from "../../tests/support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../../tests/support/processes.ts";
import { newToken, registerCluster } from "../../tests/support/registration.ts";
import { cpuSeconds, type Memory, memoryOf, print } from "../bench-plane/plane.ts";
import type { ClusterAccess, FloodReport, FromChild, HonestReport, ToChild } from "./messages.ts";

/** Of the lease: what the agents have by default. */
const LEASE_MS = 40_000;
const HONEST_PROCESSES = 3;
const SIDE_BY_SIDE = 10;

export interface ManyAgents {
  readonly honest: number;
  readonly flooding: number;
  readonly seconds: number;
  readonly renewals: number;
  readonly failures: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestGapMs: number;
  /** Agents whose lease was not renewed for its duration. */
  readonly lapses: number;
  /** Honest Clusters that were seen as Unknown. */
  readonly unknown: number;
  readonly floodAnswers: Readonly<Record<string, number>>;
  readonly plane: Memory;
  readonly planeCores: number;
}

export async function measureManyAgents(
  count: number,
  flooding: number,
  seconds: number,
): Promise<ManyAgents> {
  const running = await startLifeboat();
  const directory = temporaryDirectory("bench-agents");
  const children: ChildProcess[] = [];
  const admin = await connectByKubeconfig({ paths: [running.kubeconfig] }, "bench");
  try {
    const all = await registerAll(admin, running.url, directory, count);
    const honest = all.slice(flooding);
    const honestChildren = split(honest, HONEST_PROCESSES).map((part) => {
      const child = startChild("honest-child.ts");
      children.push(child);
      return { child, ready: started(child, part) };
    });
    for (const { ready } of honestChildren) await ready;
    await untilReady(admin, honest);
    print(`${honest.length} honest agents are ready, in ${HONEST_PROCESSES} processes`);
    const flood = startChild("flood-child.ts");
    children.push(flood);
    if (flooding > 0) await started(flood, all.slice(0, flooding));
    for (const { child } of honestChildren) tell(child, { kind: "count" });
    const cpuBefore = cpuSeconds(running.process.pid);
    const unknown = await watchReady(admin, honest, seconds);
    const planeCores = (cpuSeconds(running.process.pid) - cpuBefore) / seconds;
    const plane = memoryOf(running.process.pid);
    const reports = await Promise.all(
      honestChildren.map(({ child }) => stopped<HonestReport>(child)),
    );
    const flooded = await stopped<FloodReport>(flood);
    return {
      ...summary(reports),
      honest: honest.length,
      flooding,
      seconds,
      unknown,
      floodAnswers: flooded.answers,
      plane,
      planeCores,
    };
  } catch (error) {
    print(running.process.output().slice(-4000));
    throw error;
  } finally {
    for (const child of children) child.kill("SIGKILL");
    admin.close();
    await running.stop();
    removeDirectory(directory);
  }
}

async function registerAll(
  admin: Client,
  url: string,
  directory: string,
  count: number,
): Promise<readonly ClusterAccess[]> {
  const found: ClusterAccess[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) {
      const name = `agent-${i}`;
      const token = await newToken(admin);
      const kubeconfig = await registerCluster(admin, url, name, directory, token);
      found.push({ name, kubeconfig });
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return found;
}

function split<T>(all: readonly T[], parts: number): readonly (readonly T[])[] {
  return Array.from({ length: parts }, (_, part) => all.filter((_one, i) => i % parts === part));
}

function startChild(file: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: process.execArgv });
}

function tell(child: ChildProcess, message: ToChild): void {
  child.send(message);
}

function answerOf(child: ChildProcess): Promise<FromChild> {
  return new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message as FromChild));
    child.once("exit", (code) => reject(new Error(`a child process ended with ${code}`)));
  });
}

async function started(child: ChildProcess, part: readonly ClusterAccess[]): Promise<void> {
  tell(child, { kind: "start", clusters: part });
  await answerOf(child);
}

async function stopped<T extends FromChild>(child: ChildProcess): Promise<T> {
  tell(child, { kind: "stop" });
  return (await answerOf(child)) as T;
}

async function untilReady(admin: Client, honest: readonly ClusterAccess[]): Promise<void> {
  const deadline = performance.now() + 180_000;
  for (;;) {
    const states = await readyOf(admin, honest);
    if (states.every((state) => state === "True")) return;
    if (performance.now() > deadline)
      throw new Error(`${states.filter((state) => state === "True").length} agents are ready`);
    await pause(1000);
  }
}

async function readyOf(
  admin: Client,
  honest: readonly ClusterAccess[],
): Promise<readonly string[]> {
  const names = new Set(honest.map(({ name }) => name));
  const { items } = await admin.list(clusters);
  const own = items.filter(({ metadata }) => names.has(metadata.name));
  const found = own.map(
    ({ status }) => findCondition(status?.conditions, "Ready")?.status ?? "none",
  );
  return [...found, ...Array.from({ length: names.size - found.length }, () => "none")];
}

/** How many Clusters at most were not True at one look. */
async function watchReady(
  admin: Client,
  honest: readonly ClusterAccess[],
  seconds: number,
): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let most = 0;
  while (performance.now() < until) {
    await pause(5000);
    const states = await readyOf(admin, honest).catch(() => undefined);
    if (states !== undefined) most = Math.max(most, states.filter((one) => one !== "True").length);
  }
  return most;
}

function summary(reports: readonly HonestReport[]) {
  const latencies = reports.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  const gaps = reports.flatMap(({ longestGapsMs }) => longestGapsMs);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    renewals: reports.reduce((sum, { renewals }) => sum + renewals, 0),
    failures: reports.reduce((sum, { failures }) => sum + failures, 0),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    longestGapMs: Math.max(0, ...gaps),
    lapses: gaps.filter((gap) => gap > LEASE_MS).length,
  };
}
