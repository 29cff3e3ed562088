/** A control plane on a real kube-apiserver and etcd: our kinds as CRDs, our controllers as a process beside it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { installKinds } from "@lifeboat/plane";
import {
  fleetOf,
  MEMBERS,
  type PropagationFleet,
  runLifeboat,
} from "../propagation/propagation-fleet.ts";
import { startControllerManager } from "../support/controller-manager.ts";
import { eventually } from "../support/eventually.ts";
import { freePort, type RunningProcess, startProcess } from "../support/processes.ts";
import { type RealApiServer, startEtcd, startRealApiServer } from "../support/real-api-server.ts";
import { registerAdmission } from "./admission-webhook.ts";
import { startRealCluster } from "./real-fleet.ts";

const child = fileURLToPath(new URL("manager-child.ts", import.meta.url));

/** Real clusters, joined to a control plane whose API server is real too; only its controllers are killed. */
export async function startFleetOnRealPlane(): Promise<PropagationFleet> {
  const etcd = await startEtcd();
  const [server, ...clusters] = await Promise.all([
    startRealApiServer({ sharing: { etcd, prefix: "plane" } }),
    ...MEMBERS.map((name) => startRealCluster(etcd, name)),
  ]);
  const housekeeping = await startControllerManager(server);
  const port = await freePort();
  await prepare(server, port);
  let manager = await startManager(server, port);
  for (const [i, name] of MEMBERS.entries()) {
    const member = clusters[i]?.server.kubeconfig ?? "";
    await runLifeboat(
      "join",
      name,
      "--cluster-kubeconfig",
      member,
      "--kubeconfig",
      server.kubeconfig,
    );
  }
  const plane = {
    kill: async (): Promise<void> => {
      await manager.stop("SIGKILL");
      manager = await startManager(server, port);
    },
    stop: async (): Promise<void> => {
      await manager.stop("SIGKILL");
      await housekeeping.stop("SIGKILL");
      await server.stop();
      await Promise.all(clusters.map((cluster) => cluster.stop()));
      await etcd.stop();
    },
  };
  return fleetOf(
    plane,
    server,
    clusters.map((cluster) => cluster.server.kubeconfig),
  );
}

/** Installs our kinds and has the API server ask about them. */
async function prepare(server: RealApiServer, port: number): Promise<void> {
  const client = await connectByKubeconfig({ paths: [server.kubeconfig] });
  await installKinds(client);
  await registerAdmission(client, port, readFileSync(join(dirname(server.kubeconfig), "ca.crt")));
  await eventually(async () => {
    await client.read("/apis/policy.karmada.io/v1alpha1");
    await client.read("/apis/lifeboat.dev/v1alpha1");
  });
  client.close();
}

async function startManager(server: RealApiServer, port: number): Promise<RunningProcess> {
  const flags = ["--conditions=@lifeboat/source", "--import", "tsx"];
  const manager = startProcess(process.execPath, [
    ...flags,
    child,
    server.kubeconfig,
    String(port),
  ]);
  await manager.printed(/^ready$/m);
  return manager;
}
