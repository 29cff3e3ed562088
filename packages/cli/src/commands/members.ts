/**
 * `lifeboat members`: simulated member clusters in a process of their own, reached over TLS like any push member. Started
 * by `lifeboat up --members N`; by hand it serves any control plane that a kubeconfig leads to.
 *
 * 1. One process per data directory.
 * 2. The control plane may come, go and move: its kubeconfig is read again when it changes, and members run meanwhile.
 * 3. SIGTERM and SIGINT end it in order (stopping.ts). So does the end of the `lifeboat up` it runs for, after
 *    `--orphan-timeout`.
 */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { thisProcess } from "@lifeboat/apiserver/adapters";
import { createRandom, sleep } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import { type KitPorts, parseKubeconfig, silentMetrics } from "@lifeboat/kit";
import { connectByKubeconfig, createPinoLog } from "@lifeboat/kit/adapters";
import { createMemberHost, type HostedMember } from "@lifeboat/plane";
import type { Command } from "commander";
import {
  defaultDataDirectory,
  makeDirectory,
  parseLogLevel,
  seedFromProcess,
} from "../environment.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import {
  type AgentTimes,
  MAX_MEMBERS,
  memberName,
  type MembersProcess,
  membersDirectory,
  type MembersSettings,
  parentFile,
  processFile,
} from "../members/member-directory.ts";
import { type OpenedMember, openMember, type OpenMemberPorts } from "../members/open-member.ts";
import { livingOwner, writeOwner } from "../members/owner-file.ts";
import { addressPrefix, createServiceServers } from "../members/serve-services.ts";
import type { RelayTarget } from "../members/relay.ts";
import { livingMembers, MEMBERS_STOP_LIMIT_MS } from "../members/supervise-members.ts";
import { leaseOptions } from "../lease-options.ts";
import type { OptionDefinition } from "../options.ts";
import { logLevelOption } from "../process-options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { isStartedByAnother, stopOnSignal, type Stopping } from "../stopping.ts";
import { agentOptions } from "./agent.ts";

/** How large members are; of `up` and of `members`. */
export const memberSizeOptions: readonly OptionDefinition[] = [
  {
    name: "member-nodes",
    type: "integer",
    value: "N",
    default: "1",
    min: 0,
    max: 5000,
    help: "How many nodes a new simulated member has; later set by its SimulatedMember object",
  },
  {
    name: "member-start-delay",
    type: "duration",
    value: "TIME",
    default: "1s",
    min: 0,
    help: "How long a pod takes to be ready in a new simulated member; whole seconds",
  },
  {
    name: "serve-http",
    type: "switch",
    help: "Services of type LoadBalancer or NodePort in simulated members answer HTTP on loopback addresses of their own",
  },
];

/** Who connects to whom, and the Leases of agents; of `up` and of `members`. */
export const memberModeOptions: readonly OptionDefinition[] = [
  {
    name: "member-mode",
    type: "text",
    value: "MODE",
    default: "push",
    help: "push: the control plane reaches simulated members. pull: each registers by an agent of its own, which connects",
  },
  ...leaseOptions([
    "With --member-mode pull, the duration that the Leases of simulated members state; any other agent has the flag itself",
    "With --member-mode pull, the part of that duration after which their agents renew; any other agent has the flag itself",
  ]),
];

export const membersOptions: readonly OptionDefinition[] = [
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    help: "The control plane's data directory; members are kept in its folder members; default $XDG_DATA_HOME/lifeboat",
  },
  {
    name: "members",
    type: "integer",
    value: "N",
    default: "3",
    min: 1,
    max: MAX_MEMBERS,
    help: "How many members there are: member1, member2, …",
  },
  ...memberSizeOptions,
  ...memberModeOptions,
  ...agentOptions.filter(({ name }) => /^cluster-(status|failure|success)-/.test(name)),
  {
    name: "kubeconfig",
    type: "text",
    value: "FILE",
    help: "How the control plane is reached; default lifeboat.kubeconfig in the data directory",
  },
  {
    name: "kubeconfig-dir",
    type: "text",
    value: "DIR",
    help: "Where member1.kubeconfig and so on are written; default the data directory",
  },
  {
    name: "orphan-timeout",
    type: "duration",
    value: "TIME",
    default: "0s",
    min: 0,
    help: "End when the `lifeboat up` of this data directory has been gone for so long; 0s: never",
  },
  logLevelOption("warn"),
];

const LOOK_MS = 500;

/** The times of the members' agents, from the flags; undefined: they are push members. */
export function agentTimesFrom(settings: Settings): { readonly agents?: AgentTimes } {
  const mode = settings.requiredText("member-mode");
  if (mode !== "push" && mode !== "pull")
    throw new UsageError(`--member-mode: "${mode}" is not valid: push or pull is needed`);
  if (mode === "push") return {};
  return {
    agents: {
      statusUpdateFrequencyMs: settings.number("cluster-status-update-frequency"),
      failureThresholdMs: settings.number("cluster-failure-threshold"),
      successThresholdMs: settings.number("cluster-success-threshold"),
      leaseDurationMs: settings.number("cluster-lease-duration"),
      leaseRenewFraction: settings.number("cluster-lease-renew-interval-fraction"),
    },
  };
}

export function addMembers(program: Command): void {
  const command = program
    .command("members")
    .description("Run simulated member clusters and join them to a control plane");
  declareOptions(command, membersOptions).action(async () => {
    await members(readSettings(command, membersOptions));
  });
}

async function members(settings: Settings): Promise<void> {
  const dataDirectory = settings.text("data-dir") ?? defaultDataDirectory();
  const directory = membersDirectory(dataDirectory);
  const asked: MembersSettings = {
    members: settings.number("members"),
    nodes: settings.number("member-nodes"),
    startDelaySeconds: Math.ceil(settings.number("member-start-delay") / 1000),
    kubeconfigDirectory: resolve(settings.text("kubeconfig-dir") ?? dataDirectory),
    planeKubeconfig: resolve(
      settings.text("kubeconfig") ?? join(dataDirectory, "lifeboat.kubeconfig"),
    ),
    serveHttp: settings.isOn("serve-http"),
    ...agentTimesFrom(settings),
  };
  makeDirectory(directory);
  makeDirectory(asked.kubeconfigDirectory);
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    ids: createRealIds(),
    log: createPinoLog({ level: parseLogLevel(settings.requiredText("log-level")) }),
    metrics: silentMetrics,
  };
  const orphanMs = settings.number("orphan-timeout");
  // One that runs for an `up` outlives it for a while: that is what the time is for.
  const followsParent = orphanMs === 0 && isStartedByAnother(process.env, process.ppid);
  const stopping = stopOnSignal({ limitMs: MEMBERS_STOP_LIMIT_MS, followsParent });
  const self = claimDirectory(directory, asked);
  const opened = await openAll(ports, directory, asked);
  writeOwner(processFile(directory), { ...self, isServing: true });
  process.stdout.write(`${asked.members} members serve\n`);
  const hosted = opened.map((one) => one.hosted);
  await Promise.all([
    ...hosted.map(({ member }) => member.run(stopping.signal)),
    ...(asked.serveHttp ? hosted : []).map(({ member }) =>
      createServiceServers(ports, member).run(stopping.signal),
    ),
    followPlane(ports, hosted, asked.planeKubeconfig, stopping.signal),
    endWithParent(ports, directory, orphanMs, stopping),
  ]);
  stopping.waitFor("the members' data to be closed");
  await Promise.all(opened.map((one) => one.close()));
}

function claimDirectory(directory: string, settings: MembersSettings): MembersProcess {
  const other = livingMembers(directory);
  if (other !== undefined)
    throw new CommandFailed(`process ${other.pid} already runs the members in ${directory}`);
  const self = { ...thisProcess(), settings, isServing: false };
  writeOwner(processFile(directory), self);
  return self;
}

async function openAll(
  ports: OpenMemberPorts,
  directory: string,
  settings: MembersSettings,
): Promise<readonly OpenedMember[]> {
  const { nodes, startDelaySeconds, kubeconfigDirectory, agents } = settings;
  const pull =
    agents === undefined
      ? undefined
      : { times: agents, target: targetOf(settings.planeKubeconfig) };
  const spec = { nodes, podStartSeconds: startDelaySeconds, podStopSeconds: 1 };
  const names = Array.from({ length: settings.members }, (_, i) => memberName(i + 1));
  return Promise.all(
    names.map((name) =>
      openMember(ports, {
        name,
        directory: join(directory, name),
        kubeconfigDirectory,
        spec,
        addressPrefix: addressPrefix(name, settings.serveHttp),
        endpointSlices: settings.serveHttp,
        ...(pull !== undefined && { pull }),
      }),
    ),
  );
}

/** Where the control plane of the kubeconfig is; asked for each connection, because it may move. */
function targetOf(kubeconfig: string): () => RelayTarget | undefined {
  return () => {
    try {
      const text = readOrEmpty(kubeconfig);
      const { clusters } = parseKubeconfig(text, dirname(kubeconfig), kubeconfig);
      const [cluster] = clusters.values();
      const { hostname, port } = new URL(cluster?.server ?? "");
      return { host: hostname.replaceAll(/^\[|\]$/g, ""), port: Number(port || 443) };
    } catch {
      // Not written yet.
      return undefined;
    }
  };
}

/** Follows the SimulatedMember objects of the control plane that the kubeconfig leads to at the time. */
async function followPlane(
  ports: KitPorts,
  hosted: readonly HostedMember[],
  kubeconfig: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const text = readOrEmpty(kubeconfig);
    if (text === "") {
      await sleep(ports.clock, LOOK_MS, signal);
      continue;
    }
    const session = new AbortController();
    const client = await connectByKubeconfig({ paths: [kubeconfig] }, "lifeboat-members");
    const host = createMemberHost(ports, client, hosted);
    const running = host.run(AbortSignal.any([signal, session.signal]));
    while (!signal.aborted && readOrEmpty(kubeconfig) === text)
      await sleep(ports.clock, LOOK_MS, signal);
    session.abort();
    client.close();
    await running;
  }
}

/** Ends this process when the one it runs for has been gone for so long. */
async function endWithParent(
  { clock, log }: KitPorts,
  directory: string,
  timeoutMs: number,
  stopping: Stopping,
): Promise<void> {
  if (timeoutMs === 0) return;
  let lastSeen = clock.monotonic();
  while (!stopping.signal.aborted) {
    if (livingOwner(parentFile(directory)) !== undefined) lastSeen = clock.monotonic();
    else if (clock.monotonic() - lastSeen >= timeoutMs) {
      log.info("the control plane's process is gone, ending", { timeoutMs });
      stopping.stop();
      return;
    }
    await sleep(clock, LOOK_MS, stopping.signal);
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
