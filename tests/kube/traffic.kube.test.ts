/**
 * Requests that move, on a real kube-apiserver and etcd: `lifeboat gateway` is a process of its own beside the manager, with the
 * account that installing made; the detector has its certificate from the signer of kube-controller-manager. What is killed is the
 * API server with the manager.
 */
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { allReady, MEMBERS } from "../propagation/propagation-fleet.ts";
import { signing, startControllerManager } from "../support/controller-manager.ts";
import { eventually } from "../support/eventually.ts";
import { freePort, removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { startEtcd, startRealApiServer } from "../support/real-api-server.ts";
import { startAll } from "../support/started.ts";
import { trafficSuite } from "../traffic/traffic.suite.ts";
import { killed } from "./real-fleet.ts";
import { accountKubeconfig, install, managerKubeconfig, startManager } from "./real-plane.ts";
import { startSimulatedMembers } from "./simulated-members.ts";

trafficSuite(
  () =>
    startAll(async (started) => {
      const dataDirectory = temporaryDirectory("traffic");
      started.keep({ stop: () => Promise.resolve(removeDirectory(dataDirectory)) });
      const etcd = started.keep(await startEtcd());
      const server = started.keep(await startRealApiServer({ sharing: { etcd, prefix: "plane" } }));
      const { controllers, flags } = signing(server, "24h");
      started.keep(killed(await startControllerManager(server, controllers, flags)));
      const port = await freePort();
      await install(server, port);
      const account = await managerKubeconfig(server);
      let manager = await startManager(account, port);
      started.keep({ stop: () => manager.stop("SIGKILL") });
      await startSimulatedMembers(started, server.kubeconfig, MEMBERS, ["--serve-http"]);
      const untilReady = async (): Promise<void> => {
        const client = await connectByKubeconfig({ paths: [server.kubeconfig] }, "test");
        await eventually(() => allReady(client)).finally(() => client.close());
      };
      await untilReady();
      return {
        kubeconfig: server.kubeconfig,
        gatewayKubeconfig: await accountKubeconfig(server, "lifeboat-gateway"),
        dataDirectory,
        kill: async () => {
          await manager.stop("SIGKILL");
          await server.kill();
        },
        revive: async () => {
          await server.revive();
          manager = await startManager(account, port);
          await manager.printed(/^leading$/m);
        },
        stop: () => started.stop(),
      };
    }),
  10_000,
);
