/**
 * `lifeboat up`: the control plane in one process, durable on local disk, reached over TLS.
 *
 * Standard output says `ready` alone on a line when the plane serves. SIGTERM and SIGINT end it in order: readiness
 * fails first, watches end, writes under way are finished, the storage is closed. A second signal ends it at once; so
 * does `kill -9`, and nothing acknowledged is lost by it.
 */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createRandom } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import {
  createTlsServer,
  DirectoryRefused,
  openLmdbStorage,
  openPki,
  type TlsServer,
  writeKubeconfig,
} from "@lifeboat/apiserver/adapters";
import { createPinoLog, createPromMetrics } from "@lifeboat/kit/adapters";
import { type ControlPlane, createControlPlane } from "@lifeboat/plane";
import type { Command } from "commander";
import { CommandFailed, UsageError } from "../failure.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { readTokenFile } from "../token-file.ts";
import { version } from "../version.ts";

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
    name: "log-level",
    type: "text",
    value: "LEVEL",
    default: "warn",
    help: "debug, info, warn, error or silent; logs go to standard error as JSON lines",
  },
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
  const tokenFile = settings.text("token-auth-file");
  const tokens = tokenFile === undefined ? new Map() : readTokenFile(tokenFile);
  const level = parseLogLevel(settings.requiredText("log-level"));
  makeDirectory(dataDirectory);
  makeDirectory(kubeconfigDirectory);
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    ids: createRealIds(),
    log: createPinoLog({ level }),
    metrics: createPromMetrics(),
    storage: await openStorage(join(dataDirectory, "store")),
  };
  const pki = await openPki(ports.clock, join(dataDirectory, "pki"));
  const plane = await createControlPlane(ports, { version, tokens });
  const tls = createTlsServer({
    handle: plane.server.handle,
    ...(await pki.server([listen.host])),
    clientCa: pki.ca,
    ...listen,
    log: ports.log,
  });
  const { port } = await listenOn(tls, listen, plane);
  const server = `https://${urlHost(listen.host)}:${port}`;
  const kubeconfig = join(kubeconfigDirectory, "lifeboat.kubeconfig");
  const client = await pki.client("admin", ["system:masters"]);
  await writeKubeconfig(kubeconfig, { name: "lifeboat", server, ca: pki.ca, client });
  announce(server, kubeconfig);
  await untilStopped(plane, tls);
}

function announce(url: string, kubeconfig: string): void {
  process.stdout.write(
    [
      `Lifeboat ${version} serves the Kubernetes API at ${url}`,
      "",
      `  export KUBECONFIG=${kubeconfig}`,
      "  kubectl get namespaces",
      "",
      "ready",
      "",
    ].join("\n"),
  );
}

async function openStorage(directory: string): ReturnType<typeof openLmdbStorage> {
  try {
    return await openLmdbStorage(directory);
  } catch (error) {
    if (error instanceof DirectoryRefused) throw new CommandFailed(error.message);
    throw error;
  }
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

/** Runs the plane until a signal comes, then ends everything in order. */
async function untilStopped(plane: ControlPlane, tls: TlsServer): Promise<void> {
  const stop = new AbortController();
  const running = plane.run(stop.signal);
  await new Promise<void>((resolve, reject) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve();
      });
    }
    running.catch(reject);
  });
  plane.server.beginShutdown();
  stop.abort();
  await tls.close(SHUTDOWN_MS);
  await running;
  await plane.close();
}

/** How long requests under way may take when the plane is told to stop. */
const SHUTDOWN_MS = 10_000;

interface Listen {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:7443`, `[::1]:7443`, `:7443` (every interface). */
export function parseListen(text: string): Listen {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new UsageError(
      `--listen: "${text}" does not do: HOST:PORT is needed, such as 127.0.0.1:7443`,
    );
  }
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port };
}

function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

function parseLogLevel(text: string): (typeof LOG_LEVELS)[number] {
  const level = LOG_LEVELS.find((name) => name === text);
  if (level === undefined) {
    throw new UsageError(
      `--log-level: "${text}" does not do: one of ${LOG_LEVELS.join(", ")} is needed`,
    );
  }
  return level;
}

function defaultDataDirectory(): string {
  const base = process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share");
  return join(base, "lifeboat");
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`cannot make the directory ${directory}: ${why}`);
  }
}

/** Jitter must differ from process to process; nothing secret comes from it. */
function seedFromProcess(): number {
  return (process.pid * 2_654_435_761 + Math.floor(performance.timeOrigin)) >>> 0;
}
