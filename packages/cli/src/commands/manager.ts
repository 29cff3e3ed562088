/**
 * `lifeboat manager`: one of several replicas of the controllers and the admission of a control plane, beside a kube-apiserver that
 * `lifeboat install` has prepared.
 *
 * Standard output says `ready` alone on a line when this replica serves admission and the API server trusts it, and `leading`
 * when it begins to run the controllers. SIGTERM and SIGINT end it in order (stopping.ts): readiness fails first, reviews under way
 * are answered, controllers stop, the Lease is released so that another replica leads at once.
 */
import { hostname } from "node:os";
import { evacuations, Refused } from "@lifeboat/api";
import { createTlsServer, type TlsServer } from "@lifeboat/apiserver/adapters";
import { type Handle, isMemberTarget } from "@lifeboat/apiserver";
import { createRandom, sleep } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import { connectMemberOverHttp, createScriptWorkers } from "@lifeboat/controllers/adapters";
import { createInterpretation } from "@lifeboat/controllers/context";
import { type Client, createManager, judgeAddressBy, type KitPorts, NotSent } from "@lifeboat/kit";
import { createPinoLog, createPromMetrics } from "@lifeboat/kit/adapters";
import { createPlaneManager, type PlaneManager } from "@lifeboat/plane";
import type { Command } from "commander";
import { connectToServer } from "../connect-server.ts";
import { controllersFrom } from "../controller-options.ts";
import { dnsFrom } from "../dns/dns-options.ts";
import { openDns, type RunningDns } from "../dns/run-dns.ts";
import { parseLogLevel, seedFromProcess } from "../environment.ts";
import { retiredWarnings } from "../failover-options.ts";
import { CommandFailed } from "../failure.ts";
import { inWords } from "../find-plane.ts";
import { gatewayBeside, type OpenTraffic } from "../gateway/open-traffic.ts";
import { type Listen, parseListen } from "../listen.ts";
import { type HealthServer, serveHealth } from "../health-server.ts";
import { electionFrom, managerOptions, shareFrom } from "../manager/manager-options.ts";
import { advertisedHost, memberProxy, type ReplicaProxy } from "../manager/member-proxy.ts";
import { tokenRegistration } from "../manager/token-registration.ts";
import { webhookCertificates } from "../manager/webhook-certificates.ts";
import { withNotices } from "../notify-options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { isStartedByAnother, STOP_LIMIT_MS, stopOnSignal, type Stopping } from "../stopping.ts";
import { version } from "../version.ts";
import { tell } from "../tell.ts";

export { managerOptions };

export function addManager(program: Command): void {
  const command = program
    .command("manager")
    .description("Run the controllers beside a kube-apiserver, as one of several replicas");
  declareOptions(command, managerOptions).action(() =>
    inWords(() => manage(readSettings(command, managerOptions))),
  );
}

async function manage(settings: Settings): Promise<void> {
  const webhookListen = parseListen(settings.requiredText("webhook-listen"), "webhook-listen");
  const healthListen = parseListen(settings.requiredText("health-listen"), "health-listen");
  const level = parseLogLevel(settings.requiredText("log-level"));
  const controllers = withNotices(controllersFrom(settings), settings);
  const election = electionFrom(settings);
  const share = shareFrom(settings, election);
  const names = dnsFrom(settings);
  const openGateway = gatewayBeside(settings);
  for (const warning of retiredWarnings(settings)) tell(warning);
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    ids: createRealIds(),
    log: createPinoLog({ level, isHuman: process.stderr.isTTY }),
    metrics: createPromMetrics(),
    certificates: webhookCertificates,
  };
  const client = await connectToServer(ports, settings, `lifeboat-manager/${version}`);
  const scripts = createScriptWorkers();
  const judgeAddress = judgeAddressBy({ allowsLoopback: settings.isOn("allow-loopback-members") });
  const members = settings.isOn("member-proxy")
    ? memberProxy(ports, judgeAddress, advertisedHost(settings, webhookListen))
    : undefined;
  const manager = createPlaneManager(ports, client, {
    scripts,
    ...(election === undefined ? {} : { election }),
    ...(share === undefined ? {} : { share }),
    work: {
      controllers,
      connect: connectMemberOverHttp(`lifeboat/${version}`, judgeAddress),
      interpretation: (shared, { customizations }) =>
        createInterpretation(shared, customizations, scripts),
      instance: hostname(),
    },
    tell: (sentence) => tell(sentence),
    ...(members === undefined ? {} : { proxy: members }),
    ...(settings.isOn("registration") && { registration: tokenRegistration }),
    onLeading: (isLeading) => {
      const told = isLeading ? "leading" : "no longer leading: another replica may lead";
      process.stdout.write(`${told}\n`);
    },
  });
  // Every replica answers, whether it leads or not.
  const dns =
    names === undefined
      ? undefined
      : await openDns(ports, client, names, { instance: hostname(), directory: undefined });
  const stopping = stopOnSignal({ followsParent: isStartedByAnother(process.env, process.ppid) });
  let traffic: OpenTraffic | undefined;
  const health = await serveHealth(
    {
      readiness: () => {
        if (stopping.signal.aborted) return "this replica is being stopped";
        if (!manager.isSharing())
          return "the Lease by which this replica gets its share of members is not fresh";
        if (!manager.isServed()) return "the webhook's certificate is not trusted yet";
        return dns?.readiness() ?? traffic?.problem();
      },
      metrics: () => ports.metrics.expose(),
    },
    healthListen,
  );
  try {
    if (await untilInstalled(ports, client, stopping.signal)) {
      // In every replica: serving traffic needs no leader.
      traffic = await openGateway?.(ports, client);
      if (traffic !== undefined) process.stdout.write(`${traffic.announcement}\n`);
      const beside = createManager(ports, traffic === undefined ? [] : [traffic.service]);
      await Promise.all([
        serve({ ports, manager, stopping, health, webhookListen, dns, members }),
        beside.run(stopping.signal),
      ]);
    }
  } finally {
    await traffic?.close();
    await dns?.close();
    health.close();
    client.close();
    await scripts.close();
  }
}

interface Serving {
  readonly ports: KitPorts;
  readonly manager: PlaneManager;
  readonly stopping: Stopping;
  readonly health: HealthServer;
  readonly webhookListen: Listen;
  readonly dns: RunningDns | undefined;
  readonly members: ReplicaProxy | undefined;
}

/** Runs the replica until it is told to stop, then ends everything in order. */
async function serve(serving: Serving): Promise<void> {
  const { ports, manager, stopping, dns, members } = serving;
  const { signal } = stopping;
  let tls: TlsServer | undefined;
  let opening: Promise<void> = Promise.resolve();
  const failed = new Promise<void>((_resolve, reject) => {
    manager.onCertificate((material) => {
      if (tls !== undefined) {
        tls.renew(material);
        return;
      }
      tls = webhookServer(serving, material);
      const server = tls;
      opening = listening(serving.webhookListen, () => server.listen()).then(({ port }) => {
        members?.listens(port);
        return announce(serving, port);
      }, reject);
    });
  });
  const names = createManager(ports, dns?.services ?? []).run(signal);
  const running = Promise.all([manager.run(signal), names]);
  await Promise.race([running, failed, aborted(signal)]);
  stopping.waitFor("admission reviews to be answered");
  members?.close();
  await tls?.close(SHUTDOWN_MS);
  stopping.waitFor("controllers to stop");
  await running;
  await opening;
  stopping.waitFor("the process to end");
}

async function announce({ manager, stopping, health, dns }: Serving, port: number): Promise<void> {
  if (!(await manager.whenServed(stopping.signal))) return;
  process.stdout.write(
    [
      `Lifeboat ${version} serves admission on port ${port} and its health on port ${health.port}`,
      ...(dns === undefined ? [] : [`and the federation's names on ${dns.address}`]),
      "",
      "ready",
      "",
    ].join("\n"),
  );
}

function webhookServer(
  { ports, manager, webhookListen }: Serving,
  material: { readonly certificate: string; readonly key: string; readonly clientCa: string },
): TlsServer {
  const { handle: forMembers } = manager;
  const handle: Handle = async (request) => {
    if (forMembers !== undefined && request.url.startsWith(APIS)) return forMembers(request);
    if (request.method !== "POST" || request.bodyTooLarge === true)
      return plain(request.bodyTooLarge === true ? 413 : 405, "POST an AdmissionReview");
    const path = request.url.split("?", 1)[0] ?? "";
    const { code, body } = await manager.review(path, new TextDecoder().decode(request.body));
    if (typeof body === "string") return plain(code, body);
    return {
      status: code,
      headers: { "content-type": "application/json" },
      body: new TextEncoder().encode(JSON.stringify(body)),
    };
  };
  return createTlsServer({
    handle,
    // API servers do not prove who they are to a webhook; what a caller gets is no secret.
    identify: () => undefined,
    streams: (url) => forMembers !== undefined && isMemberTarget(url),
    metrics: ports.metrics,
    log: ports.log,
    ...material,
    ...webhookListen,
    limits: WEBHOOK_LIMITS,
  });
}

/** Below it the aggregated group is asked for; reviews are not. */
const APIS = "/apis/";

/** An object and the one before it, each as large as etcd takes them, and what a review adds. */
const WEBHOOK_LIMITS = {
  maxBodyBytes: 8 * 1024 * 1024,
  maxUnauthenticatedBodyBytes: 8 * 1024 * 1024,
  maxUnauthenticatedPendingBytes: 128 * 1024 * 1024,
} as const;

function plain(status: number, text: string) {
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return { status, headers, body: new TextEncoder().encode(`${text}\n`) };
}

const RETRY_MS = 2000;

/** Waits for the API server; answers false when told to stop, and fails when our kinds are not served there. */
async function untilInstalled(
  { clock, log }: KitPorts,
  client: Client,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    try {
      await client.read(`/apis/${evacuations.group}/${evacuations.version}`);
      return true;
    } catch (error) {
      if (error instanceof Refused && error.status.code === 404)
        throw new CommandFailed(
          `the API server does not serve ${evacuations.group}: prepare it with \`lifeboat install\``,
        );
      if (!(error instanceof NotSent) && !(error instanceof Refused && error.status.code >= 500))
        throw error;
      log.warn("the API server does not answer, trying again", { error });
      if (!(await sleep(clock, RETRY_MS, signal))) return false;
    }
  }
}

async function listening<T>({ host, port }: Listen, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`cannot listen on ${host}:${port}: ${why}`);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** How long reviews under way may take when the replica is told to stop. */
const SHUTDOWN_MS = STOP_LIMIT_MS / 4;
