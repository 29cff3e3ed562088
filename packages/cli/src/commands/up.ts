/**
 * `lifeboat up`: the control plane in one process, durable on local disk, reached over TLS.
 *
 * Standard output says `ready` alone on a line when the plane serves. SIGTERM and SIGINT end it in order (stopping.ts):
 * readiness fails first, watches end, writes under way are finished, the storage is closed. Ten seconds later it is gone
 * whatever hangs; a second signal ends it at once; so does `kill -9`, and nothing acknowledged is lost by it.
 *
 * With `--members N` a process of its own runs simulated members (members/supervise-members.ts); `members ready` follows
 * when all have joined.
 */
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { createRandom } from "@lifeboat/base";
import { createRealClock, createRealIds, nextTurn } from "@lifeboat/base/adapters";
import { restoredStorage, type Storage } from "@lifeboat/apiserver";
import {
  createSigner,
  createOidc,
  createTlsServer,
  encryptedStorage,
  type EncryptionOptions,
  openLmdbStorage,
  openPki,
  openTokenCrypto,
  type TlsServer,
} from "@lifeboat/apiserver/adapters";
import {
  createManager,
  judgeAddressBy,
  type KitPorts,
  type Log,
  type Service,
} from "@lifeboat/kit";
import { createInterpretation } from "@lifeboat/controllers/context";
import { connectMemberOverHttp, createScriptWorkers } from "@lifeboat/controllers/adapters";
import { createPinoLog, createPromMetrics } from "@lifeboat/kit/adapters";
import {
  CONTROLLERS_USER,
  type ControlPlane,
  createCertificateKeeper,
  createControlPlane,
  GATEWAY_USER,
} from "@lifeboat/plane";
import { createMemberProxy, type Proxy } from "@lifeboat/proxy/adapters";
import type { Command } from "commander";
import {
  defaultDataDirectory,
  makeDirectory,
  parseLogLevel,
  seedFromProcess,
} from "../environment.ts";
import { auditFrom, auditOptions } from "../audit.ts";
import { controllerOptions, controllersFrom } from "../controller-options.ts";
import {
  pkiDirectory,
  readRestoredMark,
  refuseHalfRestored,
  refuseMoved,
  removeRestoredMark,
  storeDirectory,
} from "../data-directory.ts";
import { dnsFrom, dnsOptions } from "../dns/dns-options.ts";
import { openDns, type RunningDns } from "../dns/run-dns.ts";
import { encryptionFrom, encryptionOptions } from "../encryption.ts";
import { retiredWarnings } from "../failover-options.ts";
import { CommandFailed } from "../failure.ts";
import { isLoopback, type Listen, parseAdvertise, parseListen, urlHost } from "../listen.ts";
import {
  MAX_MEMBERS,
  membersDirectory,
  type MembersSettings,
} from "../members/member-directory.ts";
import { stopMembers, superviseMembers, untilJoined } from "../members/supervise-members.ts";
import { oidcFrom, oidcOptions } from "../oidc-options.ts";
import { notifyOptions, withNotices } from "../notify-options.ts";
import type { OptionDefinition } from "../options.ts";
import { logLevelOption } from "../process-options.ts";
import { besideGatewayOptions, gatewayBeside, type OpenTraffic } from "../gateway/open-traffic.ts";
import { refreshing } from "../plane-certificates.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { isStartedByAnother, STOP_LIMIT_MS, stopOnSignal, type Stopping } from "../stopping.ts";
import { readTokenFile } from "../token-file.ts";
import { version } from "../version.ts";
import { agentTimesFrom, memberModeOptions, memberSizeOptions } from "./members.ts";
import { tell } from "../tell.ts";

export const upOptions: readonly OptionDefinition[] = [
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    help: "Where everything is kept; default $XDG_DATA_HOME/lifeboat",
  },
  {
    name: "listen",
    type: "text",
    value: "HOST:PORT",
    default: "127.0.0.1:7443",
    help: "Where the API is served; port 0 takes a free one",
  },
  {
    name: "advertise",
    type: "text",
    value: "HOST:PORT",
    help: "How others reach it: in the server's certificate, in kubeconfigs and for agents that register; default --listen",
  },
  {
    name: "kubeconfig-dir",
    type: "text",
    value: "DIR",
    help: "Where lifeboat.kubeconfig is written; default the data directory",
  },
  {
    name: "token-auth-file",
    type: "text",
    value: "FILE",
    help: 'Static bearer tokens, one line each: token,user,uid,"group1,group2"',
  },
  {
    name: "restored",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "The data directory was put back without `lifeboat restore`: clients list again, nothing is deleted in members",
  },
  {
    name: "members",
    type: "integer",
    value: "N",
    default: "0",
    min: 0,
    max: MAX_MEMBERS,
    help: "Start so many simulated member clusters in a process of their own and join them",
  },
  ...encryptionOptions,
  ...auditOptions,
  ...memberSizeOptions,
  ...memberModeOptions,
  ...besideGatewayOptions,
  ...oidcOptions,
  ...dnsOptions,
  ...notifyOptions,
  ...controllerOptions,
  logLevelOption("warn"),
];

export function addUp(program: Command): void {
  const command = program.command("up").description("Start the control plane in this process");
  declareOptions(command, upOptions).action(async () => {
    await up(readSettings(command, upOptions));
  });
}

async function up(settings: Settings): Promise<void> {
  const dataDirectory = settings.text("data-dir") ?? defaultDataDirectory();
  const kubeconfigDirectory = settings.text("kubeconfig-dir") ?? dataDirectory;
  const listen = parseListen(settings.requiredText("listen"));
  const advertise = settings.text("advertise");
  const advertised = advertise === undefined ? undefined : parseAdvertise(advertise);
  const hosts = [listen.host, ...(advertised === undefined ? [] : [advertised.host])];
  const tokenFile = settings.text("token-auth-file");
  const tokens = tokenFile === undefined ? new Map() : readTokenFile(tokenFile);
  const level = parseLogLevel(settings.requiredText("log-level"));
  const controllers = withNotices(controllersFrom(settings), settings);
  const agentTimes = agentTimesFrom(settings);
  const provider = oidcFrom(settings);
  const names = dnsFrom(settings);
  for (const warning of retiredWarnings(settings)) tell(warning);
  const openAudit = auditFrom(settings);
  const openGateway = gatewayBeside(settings);
  const encryption = encryptionFrom(settings, dataDirectory);
  makeDirectory(dataDirectory);
  makeDirectory(kubeconfigDirectory);
  refuseHalfRestored(dataDirectory);
  refuseMoved(dataDirectory);
  const mark = readRestoredMark(dataDirectory);
  const restoredFrom = mark?.takenAt ?? (settings.isOn("restored") ? "" : undefined);
  const log = createPinoLog({ level, isHuman: process.stderr.isTTY });
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    ids: createRealIds(),
    log,
    metrics: createPromMetrics(),
    storage: await openStorage(
      storeDirectory(dataDirectory),
      restoredFrom !== undefined,
      encryption,
      log,
    ),
    nextTurn,
    tokenCrypto: await openTokenCrypto(pkiDirectory(dataDirectory)),
  };
  const audit = await openAudit(ports);
  const pki = await openPki(ports.clock, pkiDirectory(dataDirectory));
  const oidc = provider === undefined ? [] : [createOidc(ports, provider)];
  const scripts = createScriptWorkers();
  const judgeAddress = judgeAddressBy({ allowsLoopback: allowsLoopbackMembers(settings, listen) });
  let proxy: Proxy | undefined;
  let traffic: OpenTraffic | undefined;
  let dns: RunningDns | undefined;
  const plane = await createControlPlane(ports, {
    version,
    tokens,
    tokenAuthenticators: oidc,
    scripts,
    signer: createSigner(() => pki.authority()),
    restoredFrom,
    auditor: audit.auditor,
    readyChecks: [
      ...(openGateway === undefined ? [] : [{ name: "gateway", check: () => traffic?.problem() }]),
      ...(names === undefined
        ? []
        : [{ name: "dns", check: () => (dns === undefined ? "not open" : dns.readiness()) }]),
    ],
    tell: (sentence) => tell(sentence),
    work: {
      controllers,
      proxy: (routes) => (proxy = createMemberProxy(ports, routes, { judgeAddress })),
      connect: connectMemberOverHttp(`lifeboat/${version}`, judgeAddress),
      interpretation: (shared, { customizations }) =>
        createInterpretation(shared, customizations, scripts),
      instance: hostname(),
    },
  });
  // The hold is on the fleet's record now.
  if (mark !== undefined) removeRestoredMark(dataDirectory);
  const tls = createTlsServer({
    handle: plane.server.handle,
    identify: plane.server.identify,
    streams: plane.server.streams,
    metrics: ports.metrics,
    ...(await pki.server(hosts)),
    clientCa: pki.bundle,
    refusalOf: (certificate) => plane.revocations.refusalOf(certificate),
    ...listen,
    log: ports.log,
  });
  const { port } = await listenOn(tls, listen, plane);
  const server = `https://${urlHost(advertised?.host ?? listen.host)}:${advertised?.port ?? port}`;
  if (names !== undefined)
    dns = await openDns(ports, plane.server.client(CONTROLLERS_USER), names, {
      instance: hostname(),
      directory: dataDirectory,
    });
  const kubeconfig = join(kubeconfigDirectory, "lifeboat.kubeconfig");
  plane.revocations.onChange(() => tls.dropRevoked());
  const refresh = refreshing({ pki, tls, hosts, server, kubeconfig });
  await refresh();
  const keeper = createCertificateKeeper(
    { ...ports, refresh },
    plane.server.client(CONTROLLERS_USER),
    hostname(),
  );
  traffic = await openGateway?.(ports, plane.server.client(GATEWAY_USER));
  // Before anybody is told that it runs, and may tell it to stop.
  const stopping = stopOnSignal({ followsParent: isStartedByAnother(process.env, process.ppid) });
  announce(server, kubeconfig, { traffic, names: dns?.address });
  const settled = {
    members: settings.number("members"),
    nodes: settings.number("member-nodes"),
    startDelaySeconds: Math.ceil(settings.number("member-start-delay") / 1000),
    kubeconfigDirectory: resolve(kubeconfigDirectory),
    planeKubeconfig: resolve(kubeconfig),
    serveHttp: settings.isOn("serve-http"),
    ...agentTimes,
  };
  const members = (signal: AbortSignal): Promise<void> =>
    runMembers(ports, plane, resolve(dataDirectory), settled, signal);
  await untilStopped(stopping, plane, tls, {
    members,
    services: createManager(ports, [
      ...keeper,
      ...oidc,
      ...(traffic === undefined ? [] : [traffic.service]),
      ...(dns?.services ?? []),
    ]),
    closeProxy: () => proxy?.close(),
    closeTraffic: () => traffic?.close(),
  });
  await dns?.close();
  await audit.close();
  await scripts.close();
}

/**
 * Whether members on loopback are reached. Callers of a control plane that listens on loopback alone are on this machine already;
 * simulated members live there.
 */
function allowsLoopbackMembers(settings: Settings, listen: Listen): boolean {
  const hasMembers = settings.number("members") > 0;
  return settings.isOn("allow-loopback-members") || hasMembers || isLoopback(listen.host);
}

/** Looks after the simulated members, where there shall be any, and says when they have joined. */
async function runMembers(
  ports: KitPorts,
  plane: ControlPlane,
  dataDirectory: string,
  settings: MembersSettings,
  signal: AbortSignal,
): Promise<void> {
  const directory = membersDirectory(dataDirectory);
  if (settings.members === 0) {
    // Those of an earlier run would end by themselves; nobody asked for them any more.
    await stopMembers(ports.clock, directory);
    return;
  }
  makeDirectory(directory);
  const client = plane.server.client(CONTROLLERS_USER);
  const joined = untilJoined(ports, client, directory, settings, signal).then((areReady) => {
    if (areReady) process.stdout.write("members ready\n");
  });
  await Promise.all([joined, superviseMembers(ports, directory, settings, dataDirectory, signal)]);
}

interface BesideTheApi {
  readonly traffic: OpenTraffic | undefined;
  /** Where names are answered. */
  readonly names: string | undefined;
}

function announce(url: string, kubeconfig: string, { traffic, names }: BesideTheApi): void {
  process.stdout.write(
    [
      `Lifeboat ${version} serves the Kubernetes API at ${url}`,
      ...(names === undefined ? [] : [`and the federation's names on ${names}`]),
      "",
      `  export KUBECONFIG=${kubeconfig}`,
      "  kubectl get namespaces",
      "",
      ...(traffic === undefined ? [] : [traffic.announcement, ""]),
      "See workloads survive a cluster: npx lifeboat demo --fast",
      "",
      "ready",
      "",
    ].join("\n"),
  );
}

async function openStorage(
  directory: string,
  isRestored: boolean,
  encryption: Pick<EncryptionOptions, "keyring" | "tables">,
  log: Log,
): Promise<Storage> {
  const tell = (sentence: string): void => log.warn(sentence);
  const onDisk = await openLmdbStorage(directory, { warn: tell });
  const storage = encryptedStorage(onDisk, { ...encryption, tell });
  return isRestored ? restoredStorage(storage) : storage;
}

async function listenOn(
  tls: TlsServer,
  listen: Listen,
  plane: ControlPlane,
): Promise<{ readonly port: number }> {
  try {
    return await tls.listen();
  } catch (error) {
    await plane.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`cannot listen on ${listen.host}:${listen.port}: ${why}`);
  }
}

/** Runs the plane until it is told to stop, then ends everything in order. */
async function untilStopped(
  stopping: Stopping,
  plane: ControlPlane,
  tls: TlsServer,
  beside: {
    readonly members: (signal: AbortSignal) => Promise<void>;
    readonly services: Pick<Service, "run">;
    readonly closeProxy: () => void;
    readonly closeTraffic: () => Promise<void> | undefined;
  },
): Promise<void> {
  const { signal } = stopping;
  const running = Promise.all([
    plane.run(signal),
    beside.members(signal),
    beside.services.run(signal),
  ]);
  await Promise.race([running, aborted(signal)]);
  plane.server.beginShutdown();
  stopping.waitFor("connections to close");
  beside.closeProxy();
  await Promise.all([tls.close(SHUTDOWN_MS), beside.closeTraffic()]);
  stopping.waitFor("controllers and simulated members to stop");
  await running;
  stopping.waitFor("the data directory to take the last writes");
  await plane.close();
  stopping.waitFor("the process to end");
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** How long requests under way may take when the plane is told to stop: half of what all of it may take. */
const SHUTDOWN_MS = STOP_LIMIT_MS / 2;
