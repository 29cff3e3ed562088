/** One agent with many Works: what its process takes while it carries them out, and at rest. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { propagationPolicies, works } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { startLifeboat } from "../../tests/support/lifeboat.ts";
import {
  cpuSeconds,
  createDeployments,
  type Memory,
  memoryOf,
  print,
} from "../bench-plane/plane.ts";

const PODS_PER_NODE = 200;
const PATIENCE_MS = 600_000;
const LOOK_MS = 1000;
/** Until probes and compilers are at rest. */
const SETTLE_MS = 30_000;

export interface OneAgent {
  /** While the Works came. */
  readonly busy: Memory;
  readonly rest: Memory;
  /** Thousandths of a core, over the time at rest. */
  readonly restMilliCpu: number;
  readonly appliedSeconds: number;
}

/** Runs `lifeboat up` with one simulated Pull member, whose agent is a process of its own. */
export async function measureOneAgent(count: number, restSeconds: number): Promise<OneAgent> {
  const nodes = Math.ceil((count * 1.2) / PODS_PER_NODE);
  const members = ["--members", "1", "--member-mode", "pull", "--member-nodes", String(nodes)];
  const running = await startLifeboat({ args: members });
  try {
    await running.process.printed(/^members ready$/m);
    const client = await connectByKubeconfig({ paths: [running.kubeconfig] }, "bench");
    try {
      return await drive(client, agentUnder(running.dataDirectory), count, restSeconds);
    } finally {
      client.close();
    }
  } catch (error) {
    print(running.process.output());
    throw error;
  } finally {
    await running.stop();
  }
}

async function drive(
  client: Client,
  pid: number,
  count: number,
  restSeconds: number,
): Promise<OneAgent> {
  print(`the agent is process ${pid}, with nothing to do: ${megabytes(memoryOf(pid))}`);
  await client.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { namespace: "default", name: "bench" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      placement: { replicaScheduling: { replicaSchedulingType: "Duplicated" } },
    },
  });
  const started = performance.now();
  await createDeployments(client, count, 1);
  await untilHealthy(client, count);
  const appliedSeconds = (performance.now() - started) / 1000;
  const busy = memoryOf(pid);
  print(`${count} Works applied and healthy in ${appliedSeconds.toFixed(1)} s: ${megabytes(busy)}`);
  await pause(SETTLE_MS);
  const before = cpuSeconds(pid);
  await pause(restSeconds * 1000);
  const restMilliCpu = ((cpuSeconds(pid) - before) / restSeconds) * 1000;
  return { busy, rest: memoryOf(pid), restMilliCpu, appliedSeconds };
}

async function untilHealthy(client: Client, count: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { items } = await client.list(works);
    const healthy = items.filter((work) => JSON.stringify(work).includes('"health":"Healthy"'));
    if (healthy.length >= count) return;
    if (performance.now() > deadline)
      throw new Error(`${healthy.length} of ${count} Works are healthy after ${PATIENCE_MS} ms`);
    await pause(LOOK_MS);
  }
}

/** The process of the agent whose kubeconfig is below this directory. */
function agentUnder(directory: string): number {
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const words = commandOf(entry);
    if (words.includes("agent") && words.some((word) => word.startsWith(`${directory}/`)))
      return Number(entry);
  }
  throw new Error("there is no agent's process");
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

export function megabytes({ residentMb, anonymousMb, peakMb }: Memory): string {
  return `${residentMb.toFixed(0)} MB resident (${anonymousMb.toFixed(0)} anonymous, ${peakMb.toFixed(0)} at most)`;
}
