/**
 * Agents of many clusters in one process: the real agent with the certificate of its registration, over TLS, each with a member of
 * its own in this process. It tells how long renewals of leases take, and how far apart they are.
 */
import { setMaxListeners } from "node:events";
import { createRandom, createSeededIds } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { allowMasters, createApiServer, createMemoryStorage } from "@lifeboat/apiserver";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { createAgent, DEFAULT_AGENT } from "@lifeboat/plane/agent";
import type { ClusterAccess, FromChild, ToChild } from "./messages.ts";

const clock = createRealClock();
// Each agent listens to it in several places.
setMaxListeners(0);
const stop = new AbortController();
let renewals = 0;
let failures = 0;
let latenciesMs: number[] = [];
/** By cluster: when it was last renewed, and the longest gap so far. */
const gaps = new Map<string, { last: number; longest: number }>();

process.on("message", (message: ToChild) => {
  if (message.kind === "start") void start(message.clusters);
  else if (message.kind === "count") startCounting();
  else finish();
});

function send(message: FromChild): void {
  process.send?.(message);
}

async function start(clusters: readonly ClusterAccess[]): Promise<void> {
  const agents = await Promise.all(clusters.map((access, i) => startAgent(access, i)));
  for (const { ready } of agents) await ready;
  send({ kind: "ready" });
}

async function startAgent({ name, kubeconfig }: ClusterAccess, i: number) {
  const random = createRandom(i + 1).fork(name);
  const ports = {
    clock,
    random,
    ids: createSeededIds(random.fork("ids")),
    log: silentLog,
    metrics: silentMetrics,
  };
  const member = await createApiServer(
    { ...ports, storage: createMemoryStorage(clock, { syncDelayMs: 0 }) },
    {
      gitVersion: "v1.36.4",
      tokens: new Map(),
      authorizer: allowMasters,
      admissionPlugins: [],
      historyMaxEvents: 1000,
      historyMaxBytes: 1 << 20,
    },
  );
  void member.run(stop.signal);
  const plane = timed(name, await connectByKubeconfig({ paths: [kubeconfig] }, "bench-agent"));
  const agent = createAgent(ports, {
    ...DEFAULT_AGENT,
    cluster: name,
    plane,
    member: member.client({ name: "admin", groups: ["system:masters"] }),
    leaderElect: false,
    instance: name,
  });
  const running = agent.run(stop.signal);
  running.catch((error: unknown) => {
    process.stderr.write(`${name}: ${String(error)}\n`);
    process.exit(1);
  });
  return { ready: agent.whenReady(stop.signal) };
}

/** Measures renewals of the Lease; everything else passes. */
function timed(cluster: string, client: Client): Client {
  return new Proxy(client, {
    get: (target, property: keyof Client) => {
      const method = target[property] as (...given: readonly unknown[]) => unknown;
      if (property !== "update") return method.bind(target);
      return async (...given: Parameters<Client["update"]>) => {
        if (given[0].plural !== "leases") return target.update(...given);
        const began = performance.now();
        try {
          const answer = await target.update(...given);
          renewed(cluster, began);
          return answer;
        } catch (error) {
          failures += 1;
          throw error;
        }
      };
    },
  });
}

function renewed(cluster: string, began: number): void {
  const now = performance.now();
  renewals += 1;
  latenciesMs.push(now - began);
  const known = gaps.get(cluster) ?? { last: now, longest: 0 };
  gaps.set(cluster, { last: now, longest: Math.max(known.longest, now - known.last) });
}

function startCounting(): void {
  renewals = 0;
  failures = 0;
  latenciesMs = [];
  for (const [cluster, { last }] of gaps) gaps.set(cluster, { last, longest: 0 });
}

function finish(): void {
  const now = performance.now();
  const longestGapsMs = [...gaps.values()].map(({ last, longest }) =>
    Math.max(longest, now - last),
  );
  send({ kind: "honest", renewals, failures, latenciesMs, longestGapsMs });
  stop.abort();
  setTimeout(() => process.exit(0), 1000);
}
