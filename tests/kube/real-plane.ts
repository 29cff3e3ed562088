/**
 * A control plane on a real kube-apiserver and etcd: our kinds as CRDs, our controllers as a process beside it, with the
 * settings of FAILOVER_FLAGS (manager-child.ts).
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { installKinds } from "@lifeboat/plane";
import {
  type BreakableFleet,
  fleetOf,
  MEMBERS,
  runLifeboat,
} from "../propagation/propagation-fleet.ts";
import { startControllerManager } from "../support/controller-manager.ts";
import { eventually } from "../support/eventually.ts";
import { freePort, type RunningProcess, startProcess } from "../support/processes.ts";
import {
  type RealApiServer,
  type RunningEtcd,
  startEtcd,
  startRealApiServer,
} from "../support/real-api-server.ts";
import { startAll, type Started, together } from "../support/started.ts";
import { registerAdmission } from "./admission-webhook.ts";
import { deaths, killed, startRealCluster } from "./real-fleet.ts";

const child = fileURLToPath(new URL("manager-child.ts", import.meta.url));

/** Real clusters, joined to a control plane whose API server is real too; only its controllers are killed. */
export function startFleetOnRealPlane(): Promise<BreakableFleet> {
  return startAll(async (started) => {
    const etcd = started.keep(await startEtcd());
    const [server, ...members] = await together([
      startRealPlane(started, etcd),
      ...MEMBERS.map((name) => startRealCluster(started, etcd, name)),
    ]);
    if (server === undefined) throw new Error("the control plane was not started");
    const port = await freePort();
    await prepare(server, port);
    let manager = await startManager(server, port);
    started.keep({ stop: () => manager.stop("SIGKILL") });
    for (const [i, name] of MEMBERS.entries())
      await runLifeboat(
        "join",
        name,
        "--cluster-kubeconfig",
        members[i]?.kubeconfig ?? "",
        "--kubeconfig",
        server.kubeconfig,
      );
    const kill = async (): Promise<void> => {
      await manager.stop("SIGKILL");
      manager = await startManager(server, port);
    };
    const kubeconfigs = members.map(({ kubeconfig }) => kubeconfig);
    return {
      ...(await fleetOf({ kill, stop: () => started.stop() }, server, kubeconfigs)),
      ...deaths(members),
    };
  });
}

/** The API server of the control plane, and beside it only what keeps house: templates must not make pods. */
async function startRealPlane(started: Started, etcd: RunningEtcd): Promise<RealApiServer> {
  const server = started.keep(await startRealApiServer({ sharing: { etcd, prefix: "plane" } }));
  started.keep(killed(await startControllerManager(server)));
  return server;
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
