/**
 * A control plane on a real kube-apiserver and etcd, as an operator sets it up: `lifeboat install`, then replicas of
 * `lifeboat manager` as the account that installing made, with its rights and no others.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FAILOVER_FLAGS } from "../failover/failover.suite.ts";
import {
  type BreakableFleet,
  fleetOf,
  MEMBERS,
  runLifeboat,
} from "../propagation/propagation-fleet.ts";
import { signing, startControllerManager } from "../support/controller-manager.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { freePort, type RunningProcess, startProcess } from "../support/processes.ts";
import {
  type RealApiServer,
  type RunningEtcd,
  startEtcd,
  startRealApiServer,
} from "../support/real-api-server.ts";
import { startAll, type Started, together } from "../support/started.ts";
import { deaths, killed, startRealCluster } from "./real-fleet.ts";

/** Short, so that no test waits long for the next leader; long enough for a machine that is busy. */
export const LEASE_SECONDS = 6;
export const RENEW_DEADLINE_SECONDS = 4;
const ELECTION_FLAGS = [
  `--leader-elect-lease-duration=${LEASE_SECONDS}s`,
  `--leader-elect-renew-deadline=${RENEW_DEADLINE_SECONDS}s`,
  "--leader-elect-retry-period=1s",
];

/** Real clusters, joined to a control plane whose API server is real too; only its manager is killed. */
export function startFleetOnRealPlane(
  flags: readonly string[] = FAILOVER_FLAGS,
): Promise<BreakableFleet> {
  return startAll(async (started) => {
    const etcd = started.keep(await startEtcd());
    const [server, ...members] = await together([
      startRealPlane(started, etcd),
      ...MEMBERS.map((name) => startRealCluster(started, etcd, name)),
    ]);
    if (server === undefined) throw new Error("the control plane was not started");
    const port = await freePort();
    await install(server, port);
    const kubeconfig = await managerKubeconfig(server);
    let manager = await startManager(kubeconfig, port, flags);
    started.keep({ stop: () => manager.stop("SIGKILL") });
    await joinAll(server, members);
    const kill = async (): Promise<void> => {
      await manager.stop("SIGKILL");
      manager = await startManager(kubeconfig, port, flags);
    };
    const kubeconfigs = members.map((member) => member.kubeconfig);
    return {
      ...(await fleetOf({ kill, stop: () => started.stop() }, server, kubeconfigs)),
      ...deaths(members),
    };
  });
}

/** The API server of the control plane, and beside it only what keeps house: templates must not make pods. */
export async function startRealPlane(
  started: Started,
  etcd: RunningEtcd,
  flags: readonly string[] = [],
  aggregates = false,
): Promise<RealApiServer> {
  const sharing = { etcd, prefix: "plane" };
  const server = started.keep(await startRealApiServer({ sharing, flags, aggregates }));
  started.keep(killed(await startControllerManager(server)));
  return server;
}

export interface RegisteringOptions {
  readonly certificateLife?: string;
  /** More flags for kube-apiserver. */
  readonly flags?: readonly string[];
}

export interface RegisteringPlane {
  readonly server: RealApiServer;
  /** What signs the certificates that the manager has approved. */
  readonly controllerManager: RunningProcess;
}

/**
 * The same where clusters register by a token: the API server takes bootstrap tokens and passes requests for members on, and
 * kube-controller-manager signs certificates that live so long.
 */
export async function startRegisteringPlane(
  started: Started,
  etcd: RunningEtcd,
  { certificateLife = "24h", flags: more = [] }: RegisteringOptions = {},
): Promise<RegisteringPlane> {
  const sharing = { etcd, prefix: "plane" };
  const flags = ["--enable-bootstrap-token-auth", ...more];
  const server = started.keep(await startRealApiServer({ sharing, flags, aggregates: true }));
  const signer = signing(server, certificateLife);
  const running = await startControllerManager(server, signer.controllers, signer.flags);
  started.keep(killed(running));
  return { server, controllerManager: running };
}

/** `lifeboat install`, with a webhook on a port of this machine. */
export function install(server: RealApiServer, webhookPort: number): Promise<void> {
  const url = `https://127.0.0.1:${webhookPort}`;
  return runLifeboat("install", "--kubeconfig", server.kubeconfig, "--webhook-url", url);
}

/** A kubeconfig for the account of the manager, by a token that the API server gives out for it. */
export function managerKubeconfig(server: RealApiServer, name = "manager"): Promise<string> {
  return accountKubeconfig(server, "lifeboat-manager", name);
}

/** The same for any of the accounts that installing made. */
export async function accountKubeconfig(
  server: RealApiServer,
  serviceAccount: string,
  name = serviceAccount,
): Promise<string> {
  const account = `/api/v1/namespaces/lifeboat-system/serviceaccounts/${serviceAccount}`;
  // Longer than any run of the tests; a token lives an hour if nothing is asked for.
  const spec = { expirationSeconds: 86_400 };
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
  const { code, body } = await server.call("POST", `${account}/token`, request);
  const token = (body as { readonly status?: { readonly token?: string } }).status?.token;
  if (code !== 201 || token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`);
  const directory = dirname(server.kubeconfig);
  const path = join(directory, `${name}.kubeconfig`);
  const cluster = { server: server.url, "certificate-authority": join(directory, "ca.crt") };
  const config = {
    clusters: [{ name: "plane", cluster }],
    users: [{ name: "manager", user: { token } }],
    contexts: [{ name: "manager", context: { cluster: "plane", user: "manager" } }],
    "current-context": "manager",
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** Starts one replica; resolves when it serves. `under`: a program and its arguments that runs the command. */
export async function startManager(
  kubeconfig: string,
  webhookPort: number,
  flags: readonly string[] = FAILOVER_FLAGS,
  under: readonly string[] = [],
): Promise<RunningProcess> {
  const [command, ...args] = [...under, lifeboatCommand];
  const manager = startProcess(command, [
    ...args,
    "manager",
    "--kubeconfig",
    kubeconfig,
    `--webhook-listen=127.0.0.1:${webhookPort}`,
    "--health-listen=127.0.0.1:0",
    "--cluster-status-update-frequency=2s",
    "--allow-loopback-members",
    ...ELECTION_FLAGS,
    ...flags,
  ]);
  await manager.printed(/^ready$/m);
  return manager;
}

export async function joinAll(
  server: RealApiServer,
  members: readonly RealApiServer[],
): Promise<void> {
  for (const [i, name] of MEMBERS.entries())
    await runLifeboat(
      "join",
      name,
      "--cluster-kubeconfig",
      members[i]?.kubeconfig ?? "",
      "--kubeconfig",
      server.kubeconfig,
    );
}
