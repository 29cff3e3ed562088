/** Failover by hand beside a real kube-apiserver: every verb as on the embedded control plane. */
import { byHandSuite, BY_HAND_FLAGS } from "../failover/by-hand.suite.ts";
import { allReady, MEMBERS } from "../propagation/propagation-fleet.ts";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { eventually } from "../support/eventually.ts";
import { createKubectl } from "../support/kubectl.ts";
import { freePort } from "../support/processes.ts";
import { startEtcd } from "../support/real-api-server.ts";
import { startAll } from "../support/started.ts";
import { install, managerKubeconfig, startManager, startRealPlane } from "./real-plane.ts";
import { startSimulatedMembers } from "./simulated-members.ts";

byHandSuite("from a real kube-apiserver", () =>
  startAll(async (started) => {
    const etcd = started.keep(await startEtcd());
    const server = await startRealPlane(started, etcd);
    const port = await freePort();
    await install(server, port);
    const flags = [...BY_HAND_FLAGS, "--feature-gates=StatefulFailoverInjection=true"];
    const manager = await startManager(await managerKubeconfig(server), port, flags);
    started.keep({ stop: () => manager.stop("SIGKILL") });
    await startSimulatedMembers(started, server.kubeconfig, MEMBERS);
    const plane = await connectByKubeconfig({ paths: [server.kubeconfig] });
    await eventually(() => allReady(plane));
    plane.close();
    const kubectl = createKubectl(server);
    const stop = (): Promise<void> => {
      kubectl.close();
      return started.stop();
    };
    return { kubectl, reach: ["--kubeconfig", server.kubeconfig], hasProbes: false, stop };
  }),
);
