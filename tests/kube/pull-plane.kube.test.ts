/**
 * Failover with pull members that have registered by a token, beside a real kube-apiserver: agents with certificates of their own, under RBAC
 * and the webhook that keeps each within its own cluster. A member dies by a line that is cut.
 *
 * LIFEBOAT_STORIES=all runs every story of the suite, as .ci/weekly does.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { FAILOVER_FLAGS, failoverSuite } from "../failover/failover.suite.ts";
import {
  allReady,
  type BreakableFleet,
  fleetOf,
  MEMBERS,
} from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { startEtcd } from "../support/real-api-server.ts";
import { registerCluster } from "../support/registration.ts";
import { startAll, type Started } from "../support/started.ts";
import { killed } from "./real-fleet.ts";
import { install, managerKubeconfig, startManager, startRegisteringPlane } from "./real-plane.ts";

const MANAGER_FLAGS: readonly string[] = [
  ...FAILOVER_FLAGS,
  "--cluster-monitor-period=500ms",
  "--cluster-monitor-grace-period=4s",
];
const AGENT_FLAGS: readonly string[] = [
  "--cluster-status-update-frequency=2s",
  "--cluster-failure-threshold=2s",
  "--cluster-success-threshold=2s",
  "--cluster-lease-duration=4s",
];

/** A line to a port of this machine that can be cut, with every connection on it. */
async function startLine(port: number) {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    for (const end of [client, far]) {
      open.add(end);
      end.on("error", () => end.destroy());
      end.once("close", () => {
        open.delete(end);
        client.destroy();
        far.destroy();
      });
    }
    client.pipe(far).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  const cut = (): void => {
    isCut = true;
    for (const end of open) end.destroy();
  };
  return {
    url: `https://127.0.0.1:${address.port}`,
    cut,
    mend: () => void (isCut = false),
    stop: () => {
      cut();
      return Promise.resolve(void server.close());
    },
  };
}

async function startMembers(started: Started, directory: string): Promise<void> {
  const flags = [`--members=${MEMBERS.length}`, `--data-dir=${directory}`];
  const none = "--kubeconfig=none.kubeconfig";
  const running = startProcess(lifeboatCommand, ["members", ...flags, none]);
  started.keep(killed(running));
  await running.printed(new RegExp(`^${MEMBERS.length} members serve$`, "m"));
}

function startPullFleet(): Promise<BreakableFleet> {
  return startAll(async (started) => {
    const directory = temporaryDirectory("pull");
    started.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
    const identities = temporaryDirectory("identities");
    started.keep({ stop: () => Promise.resolve(removeDirectory(identities)) });
    const etcd = started.keep(await startEtcd());
    const { server } = await startRegisteringPlane(started, etcd);
    const webhook = await freePort();
    await install(server, webhook);
    const account = await managerKubeconfig(server);
    let manager = await startManager(account, webhook, MANAGER_FLAGS);
    started.keep({ stop: () => manager.stop("SIGKILL") });
    await startMembers(started, directory);
    const admin = await connectByKubeconfig({ paths: [server.kubeconfig] });
    const lines = new Map<string, Awaited<ReturnType<typeof startLine>>>();
    for (const name of MEMBERS) {
      const line = started.keep(await startLine(Number(new URL(server.url).port)));
      lines.set(name, line);
      const kubeconfig = await registerCluster(admin, line.url, name, identities);
      const agent = startProcess(lifeboatCommand, [
        "agent",
        `--karmada-kubeconfig=${kubeconfig}`,
        `--cluster-kubeconfig=${join(directory, `${name}.kubeconfig`)}`,
        `--cluster-name=${name}`,
        `--health-listen=127.0.0.1:${await freePort()}`,
        ...AGENT_FLAGS,
      ]);
      started.keep(killed(agent));
      await agent.printed(/^ready$/m);
    }
    await eventually(() => allReady(admin));
    admin.close();
    const kill = async (): Promise<void> => {
      await manager.stop("SIGKILL");
      manager = await startManager(account, webhook, MANAGER_FLAGS);
    };
    const kubeconfigs = MEMBERS.map((name) => join(directory, `${name}.kubeconfig`));
    return {
      ...(await fleetOf({ kill, stop: () => started.stop() }, server, kubeconfigs)),
      die: (name) => Promise.resolve(lines.get(name)?.cut()),
      revive: (name) => Promise.resolve(lines.get(name)?.mend()),
    };
  });
}

failoverSuite(
  "registered pull members, from a real kube-apiserver",
  startPullFleet,
  process.env["LIFEBOAT_STORIES"] === "all" ? "all" : "of connections",
);
