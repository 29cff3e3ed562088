/**
 * Three real clusters on loopback and a control plane that has joined them: kube-apiserver, kube-controller-manager and
 * one etcd for all, under a prefix each. What has no container to run is played: nodes, scheduler and kubelets are those of
 * our simulated members, over the real API.
 */
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { type KitPorts, silentLog, silentMetrics } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { createNodeModel, MEMBER_DEFAULTS } from "@lifeboat/members";
import {
  fleetOf,
  KillablePlane,
  MEMBERS,
  type PropagationFleet,
  runLifeboat,
} from "../propagation/propagation-fleet.ts";
import { startControllerManager, WORKLOAD_CONTROLLERS } from "../support/controller-manager.ts";
import { eventually } from "../support/eventually.ts";
import {
  type RealApiServer,
  type RunningEtcd,
  startEtcd,
  startRealApiServer,
} from "../support/real-api-server.ts";

/** A real cluster whose workloads run. */
export interface RealCluster {
  readonly server: RealApiServer;
  stop(): Promise<void>;
}

/** Starts one cluster on a shared etcd; resolves when it can be joined. */
export async function startRealCluster(etcd: RunningEtcd, name: string): Promise<RealCluster> {
  const server = await startRealApiServer({ sharing: { etcd, prefix: name } });
  const manager = await startControllerManager(server, WORKLOAD_CONTROLLERS);
  const client = await connectByKubeconfig({ paths: [server.kubeconfig] });
  const stop = new AbortController();
  const nodes = createNodeModel(ports(), client, {
    ...MEMBER_DEFAULTS,
    startDelayMs: 300,
    stopDelayMs: 100,
    runMs: 500,
  }).run(stop.signal);
  const systemNamespace = async (): Promise<void> => {
    const { code } = await server.call("GET", "/api/v1/namespaces/kube-system");
    if (code !== 200) throw new Error(`${name} has no namespace kube-system yet`);
  };
  await eventually(systemNamespace);
  return {
    server,
    stop: async () => {
      stop.abort();
      await nodes;
      client.close();
      await manager.stop("SIGKILL");
      await server.stop();
    },
  };
}

/** `lifeboat up`, with real clusters joined by `lifeboat join`. */
export async function startRealFleet(): Promise<PropagationFleet> {
  const etcd = await startEtcd();
  const plane = new KillablePlane();
  const [running, ...clusters] = await Promise.all([
    plane.start(),
    ...MEMBERS.map((name) => startRealCluster(etcd, name)),
  ]);
  const kubeconfigs = clusters.map(({ server }) => server.kubeconfig);
  for (const [i, name] of MEMBERS.entries())
    await runLifeboat(
      "join",
      name,
      "--cluster-kubeconfig",
      kubeconfigs[i] ?? "",
      "--data-dir",
      plane.directory,
    );
  return fleetOf(plane, running, kubeconfigs, async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    await etcd.stop();
  });
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
