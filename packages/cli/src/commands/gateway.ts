/**
 * `lifeboat gateway`: a load balancer for MultiClusterIngresses in a process of its own, beside the clients or at the edge.
 *
 * Standard output says `ready` alone on a line once a routing table of the control plane is served. When the control plane goes
 * away, the last table is served on. SIGTERM and SIGINT end it in order: requests under way are answered.
 */
import { join } from "node:path";
import { createRandom, sleep } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { createManager, type KitPorts } from "@lifeboat/kit";
import { createPinoLog, createPromMetrics } from "@lifeboat/kit/adapters";
import type { LocalProvider } from "@lifeboat/traffic";
import { createGateway, createHaproxy } from "@lifeboat/traffic/adapters";
import type { Command } from "commander";
import { connectToServer } from "../connect-server.ts";
import { defaultDataDirectory } from "../environment.ts";
import { UsageError } from "../failure.ts";
import { openTraffic, type OpenTraffic } from "../gateway/open-traffic.ts";
import { type Listen, parseListen } from "../listen.ts";
import { serveHealth } from "../health-server.ts";
import type { OptionDefinition } from "../options.ts";
import { healthListenOption, logLevelOption } from "../process-options.ts";
import { parseLogLevel, seedFromProcess } from "../process-settings.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { isStartedByAnother, stopOnSignal } from "../stopping.ts";
import { version } from "../version.ts";

export const gatewayOptions: readonly OptionDefinition[] = [
  {
    name: "kubeconfig",
    type: "text",
    value: "FILE",
    help: "Of the control plane; default the service account of the pod. Read again when it changes",
  },
  {
    name: "context",
    type: "text",
    value: "NAME",
    help: "The context of the kubeconfig; default its current one",
  },
  {
    name: "provider",
    type: "text",
    value: "NAME",
    default: "embedded",
    help: "embedded: this process passes requests on. haproxy: an HAProxy that it configures does",
  },
  {
    name: "haproxy",
    type: "text",
    value: "PROGRAM",
    default: "haproxy",
    help: "The program of the provider haproxy",
  },
  {
    name: "haproxy-dir",
    type: "text",
    value: "DIR",
    help: "Where its configuration and sockets are kept; default $XDG_DATA_HOME/lifeboat/haproxy",
  },
  {
    name: "listen",
    type: "text",
    value: "HOST:PORT",
    default: "127.0.0.1:8080",
    help: "Where ingresses are served over HTTP; port 0 takes a free one",
  },
  {
    name: "tls-listen",
    type: "text",
    value: "HOST:PORT",
    help: "The same over TLS, with the certificates that ingresses name; absent: HTTP only",
  },
  healthListenOption,
  {
    name: "instance",
    type: "text",
    value: "NAME",
    help: "The name of this instance's Lease in lifeboat-system; default made of provider, host and port",
  },
  {
    name: "ingress-class",
    type: "text",
    value: "NAME",
    default: "lifeboat",
    help: "Ingresses of this class are served, and those without a class",
  },
  {
    name: "drain-limit",
    type: "duration",
    value: "TIME",
    default: "30s",
    min: 0,
    help: "How long requests under way may delay the confirmation that a backend is drained",
  },
  logLevelOption("warn"),
];

export function addGateway(program: Command): void {
  const command = program
    .command("gateway")
    .description(
      "Serve MultiClusterIngresses: pass requests on to the clusters that have the backends",
    );
  declareOptions(command, gatewayOptions).action(() =>
    gateway(readSettings(command, gatewayOptions)),
  );
}

const READY_LOOK_MS = 50;

async function gateway(settings: Settings): Promise<void> {
  const listen = parseListen(settings.requiredText("listen"));
  const healthText = settings.text("health-listen");
  const healthListen =
    healthText === undefined ? undefined : parseListen(healthText, "health-listen");
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    log: createPinoLog({ level: parseLogLevel(settings.requiredText("log-level")) }),
    metrics: createPromMetrics(),
  };
  const provider = providerFrom(ports, settings, listen);
  const client = await connectToServer(ports, settings, `lifeboat-gateway/${version}`);
  const instance = settings.text("instance");
  const traffic = await openTraffic(ports, client, {
    provider,
    listen,
    ingressClass: settings.requiredText("ingress-class"),
    drainLimitMs: settings.number("drain-limit"),
    ...(instance === undefined ? {} : { instance }),
  });
  const stopping = stopOnSignal({ followsParent: isStartedByAnother(process.env, process.ppid) });
  const health =
    healthListen === undefined
      ? undefined
      : await serveHealth(
          { readiness: () => traffic.problem(), metrics: () => ports.metrics.expose() },
          healthListen,
        );
  process.stdout.write(`${traffic.announcement}\n`);
  if (health !== undefined) process.stdout.write(`Its health is served on port ${health.port}\n`);
  void announceReady(ports, traffic, stopping.signal);
  try {
    await createManager(ports, [traffic.service]).run(stopping.signal);
    stopping.waitFor("requests to be answered");
    await traffic.close();
  } finally {
    health?.close();
    client.close();
    stopping.release();
  }
}

async function announceReady(
  { clock }: KitPorts,
  traffic: OpenTraffic,
  signal: AbortSignal,
): Promise<void> {
  while (traffic.problem() !== undefined) if (!(await sleep(clock, READY_LOOK_MS, signal))) return;
  process.stdout.write("ready\n");
}

function providerFrom(ports: KitPorts, settings: Settings, listen: Listen): LocalProvider {
  const tlsText = settings.text("tls-listen");
  const tlsListen = tlsText === undefined ? {} : { tlsListen: parseListen(tlsText, "tls-listen") };
  const name = settings.requiredText("provider");
  if (name === "embedded") return createGateway(ports, { listen, ...tlsListen });
  if (name === "haproxy")
    return createHaproxy(ports, {
      listen,
      ...tlsListen,
      binary: settings.requiredText("haproxy"),
      directory: settings.text("haproxy-dir") ?? join(defaultDataDirectory(), "haproxy"),
    });
  throw new UsageError(`--provider: "${name}" is not valid: embedded or haproxy is needed`);
}
