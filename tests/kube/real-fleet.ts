/**
 * Three real clusters on loopback and a control plane that has joined them: kube-apiserver, kube-controller-manager and
 * one etcd for all, under a prefix each. What has no container to run is played: nodes, scheduler and kubelets are those of
 * our simulated members, over the real API.
 */
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { type KitPorts, silentLog, silentMetrics } from "@lifeboat/kit";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { createNodeModel, MEMBER_DEFAULTS } from "@lifeboat/members";
import {
  type BreakableFleet,
  fleetOf,
  KillablePlane,
  MEMBERS,
  runLifeboat,
} from "../propagation/propagation-fleet.ts";
import { startControllerManager, WORKLOAD_CONTROLLERS } from "../support/controller-manager.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes.ts";
import {
  type RealApiServer,
  type RunningEtcd,
  startEtcd,
  startRealApiServer,
} from "../support/real-api-server.ts";
import { startAll, type Started, together } from "../support/started.ts";

/** Starts one cluster on a shared etcd; resolves when it can be joined. */
export async function startRealCluster(
  started: Started,
  etcd: RunningEtcd,
  name: string,
  nodes = 1,
  controllers: readonly string[] = WORKLOAD_CONTROLLERS,
): Promise<RealApiServer> {
  const server = started.keep(await startRealApiServer({ sharing: { etcd, prefix: name } }));
  started.keep(killed(await startControllerManager(server, controllers)));
  started.keep(playNodes(await connectByKubeconfig({ paths: [server.kubeconfig] }), nodes));
  await eventually(async () => {
    const { code } = await server.call("GET", "/api/v1/namespaces/kube-system");
    if (code !== 200) throw new Error(`${name} has no namespace kube-system yet`);
  });
  return server;
}

/** Nodes on which pods get ready, over the API of a cluster. */
function playNodes(client: HttpClient, nodes: number): { stop(): Promise<void> } {
  const end = new AbortController();
  const named = Array.from({ length: nodes }, (_, i) =>
    MEMBER_DEFAULTS.nodes.map((node) => ({
      ...node,
      name: `node-${i + 1}`,
      address: `192.0.2.${i + 1}`,
    })),
  ).flat();
  const options = {
    ...MEMBER_DEFAULTS,
    nodes: named,
    startDelayMs: 300,
    stopDelayMs: 100,
    runMs: 500,
  };
  const running = createNodeModel(ports(), client, options).run(end.signal);
  return {
    stop: async () => {
      end.abort();
      await running;
      client.close();
    },
  };
}

/** A process that is ended without being asked. */
export function killed(running: RunningProcess): { stop(): Promise<unknown> } {
  return { stop: () => running.stop("SIGKILL") };
}

/** `lifeboat up` with more flags, and real clusters joined by `lifeboat join`. */
export function startRealFleet(
  flags: readonly string[] = [],
  names = MEMBERS,
  nodes = 1,
  controllers: readonly string[] = WORKLOAD_CONTROLLERS,
): Promise<BreakableFleet> {
  return startAll(async (started) => {
    const etcd = started.keep(await startEtcd());
    const plane = started.keep(new KillablePlane(flags));
    const running = await plane.start();
    const servers: RealApiServer[] = [];
    // So many at a time: more would wait for each other longer than their starts may take.
    for (let at = 0; at < names.length; at += MEMBERS.length) {
      const some = names.slice(at, at + MEMBERS.length);
      const starts = some.map((name) => startRealCluster(started, etcd, name, nodes, controllers));
      servers.push(...(await together(starts)));
    }
    const kubeconfigs = servers.map(({ kubeconfig }) => kubeconfig);
    for (const [i, name] of names.entries())
      await runLifeboat(
        "join",
        name,
        "--cluster-kubeconfig",
        kubeconfigs[i] ?? "",
        "--data-dir",
        plane.directory,
      );
    const whole = { kill: () => plane.kill(), stop: () => started.stop() };
    return {
      ...(await fleetOf(whole, running, kubeconfigs, names)),
      ...deaths(servers, names),
    };
  });
}

/** How members whose API servers these are die and return. */
export function deaths(
  servers: readonly RealApiServer[],
  names = MEMBERS,
): Pick<BreakableFleet, "die" | "revive"> {
  const server = (name: string): RealApiServer => {
    const found = servers[names.indexOf(name)];
    if (found === undefined) throw new Error(`there is no member ${name}`);
    return found;
  };
  return { die: (name) => server(name).kill(), revive: (name) => server(name).revive() };
}

/** The ports of what this process plays, in real time. */
function ports(): KitPorts {
  return {
    clock: createRealClock(),
    random: createRandom(1),
    log: silentLog,
    metrics: silentMetrics,
  };
}
