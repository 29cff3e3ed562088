/**
 * `lifeboat agent`: what a Pull cluster runs, inside it or anywhere that its kubeconfig reaches it from.
 *
 * 1. Standard output says `ready` alone on a line when the Cluster is registered and its Works are known.
 * 2. It ends with code 1 and a sentence when its Cluster was deleted or belongs to another member: to start again is of no use
 *    then. Everything else that fails is tried again.
 * 3. It loads neither API server nor store nor simulation (../agent/module-graph.test.ts).
 */
import { hostname } from "node:os";
import { createRandom } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import { createScriptWorkers } from "@lifeboat/controllers/adapters";
import { createInterpretation } from "@lifeboat/controllers/context";
import { createManager, KubeconfigError, type KitPorts, type Service } from "@lifeboat/kit";
import {
  createHttpClient,
  createPinoLog,
  createPromMetrics,
  type HttpClient,
  type HttpClientConfig,
  httpConfigOf,
  loadInCluster,
  loadKubeconfig,
} from "@lifeboat/kit/adapters";
import { AGENT_SECRET, type AgentOptions, AgentStopped, createAgent } from "@lifeboat/plane/agent";
import { createTunnel } from "@lifeboat/proxy/agent";
import type { Command } from "commander";
import { type HealthServer, serveHealth } from "../health-server.ts";
import { leaseOptions } from "../lease-options.ts";
import { parseListen } from "../listen.ts";
import {
  connectByToken,
  connectPlane,
  keptInFile,
  keptInSecret,
  type PlaneConnection,
} from "../agent/plane-certificate.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import type { OptionDefinition } from "../options.ts";
import { healthListenOption, logLevelOption } from "../process-options.ts";
import { parseLogLevel, seedFromProcess } from "../process-settings.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { isStartedByAnother, stopOnSignal } from "../stopping.ts";

export const agentOptions: readonly OptionDefinition[] = [
  {
    name: "karmada-kubeconfig",
    type: "text",
    value: "FILE",
    help: "How the control plane is reached, with the agent's own certificate",
  },
  {
    name: "plane-kubeconfig",
    type: "text",
    value: "FILE",
    help: "The same as --karmada-kubeconfig",
  },
  {
    name: "bootstrap-kubeconfig",
    type: "text",
    value: "FILE",
    help: "With a bootstrap token, for a certificate that ended while the agent was away",
  },
  {
    name: "cluster-name",
    type: "text",
    value: "NAME",
    help: "The name of this cluster in the control plane",
  },
  {
    name: "cluster-kubeconfig",
    type: "text",
    value: "FILE",
    help: "How the member is reached; without it, as the pod this runs in",
  },
  { name: "cluster-provider", type: "text", value: "NAME", help: "The cluster's provider" },
  { name: "cluster-region", type: "text", value: "NAME", help: "The cluster's region" },
  { name: "cluster-zones", type: "text", value: "NAMES", help: "The cluster's zones, by comma" },
  {
    name: "cluster-api-endpoint",
    type: "text",
    value: "URL",
    help: "Where the member's API server is reached from elsewhere; written on the Cluster",
  },
  {
    name: "cluster-status-update-frequency",
    type: "duration",
    value: "TIME",
    default: "10s",
    min: 100,
    help: "How often the member is probed and its status is read",
  },
  {
    name: "cluster-failure-threshold",
    type: "duration",
    value: "TIME",
    default: "30s",
    min: 0,
    help: "How long probes must fail before the cluster is not ready",
  },
  {
    name: "cluster-success-threshold",
    type: "duration",
    value: "TIME",
    default: "30s",
    min: 0,
    help: "How long probes must succeed before it is ready again",
  },
  ...leaseOptions([
    "The duration that the cluster's Lease states",
    "The part of that duration after which the Lease is renewed",
  ]),
  {
    name: "leader-elect",
    type: "text",
    value: "BOOL",
    default: "true",
    help: "true: of several replicas one carries out Works, elected by a Lease in the member",
  },
  {
    name: "agent-namespace",
    type: "text",
    value: "NAME",
    default: "karmada-system",
    help: "The agent's namespace in the member",
  },
  healthListenOption,
  logLevelOption("info"),
];

export function addAgent(program: Command): void {
  const command = program
    .command("agent")
    .description("Run the agent of a Pull cluster: it connects to the control plane");
  declareOptions(command, agentOptions).action(async () => {
    await agent(readSettings(command, agentOptions));
  });
}

async function agent(settings: Settings): Promise<void> {
  const options = optionsFrom(settings);
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    ids: createRealIds(),
    log: createPinoLog({ level: parseLogLevel(settings.requiredText("log-level")) }),
    metrics: createPromMetrics(),
  };
  const stopping = stopOnSignal({ followsParent: isStartedByAnother(process.env, process.ppid) });
  const planePath = planeKubeconfig(settings);
  const connection = await inSentences("the control plane", "--karmada-kubeconfig", () =>
    connectPlane(planePath),
  );
  const plane = connection.client;
  const memberEnd = await memberConfig(settings.text("cluster-kubeconfig"));
  const member = createHttpClient(memberEnd);
  const scripts = createScriptWorkers();
  const { cluster } = options;
  // In the replica that leads: the newest tunnel of a cluster ends the one before it.
  const tunnel = createTunnel(ports, { cluster, plane: connection.end, member: memberEnd });
  const running = createAgent(
    {
      ...ports,
      interpretation: (shared, customizations) =>
        createInterpretation(shared, customizations, scripts),
    },
    { ...options, plane, member, leading: [tunnel] },
  );
  let isReady = false;
  let health: HealthServer | undefined;
  try {
    const listen = settings.text("health-listen");
    if (listen !== undefined)
      health = await serveHealth(
        {
          readiness: () => (isReady ? undefined : "not registered yet"),
          metrics: () => ports.metrics.expose(),
        },
        parseListen(listen, "health-listen"),
      );
    void running.whenReady(stopping.signal).then((ready) => {
      isReady = ready;
      if (ready) process.stdout.write("ready\n");
    });
    const renewal = await renewalOf(ports, settings, connection, member);
    await runBoth(running, createManager(ports, renewal), stopping.signal);
  } catch (error) {
    if (error instanceof AgentStopped) throw new CommandFailed(error.message);
    throw error;
  } finally {
    stopping.waitFor("connections to be closed");
    health?.close();
    await scripts.close();
    plane.close();
    member.close();
    stopping.release();
  }
}

/** What the flags say, without the connections; throws UsageError on a value that is not valid. */
export function optionsFrom(settings: Settings): Omit<AgentOptions, "plane" | "member"> {
  const cluster = settings.text("cluster-name");
  if (cluster === undefined) throw new UsageError("--cluster-name is needed");
  const optional = (field: string, name: string) => {
    const value = settings.text(name);
    return value === undefined ? {} : { [field]: value };
  };
  const zones = (settings.text("cluster-zones") ?? "")
    .split(",")
    .map((zone) => zone.trim())
    .filter((zone) => zone !== "");
  return {
    cluster,
    ...optional("provider", "cluster-provider"),
    ...optional("region", "cluster-region"),
    ...optional("apiEndpoint", "cluster-api-endpoint"),
    ...(zones.length > 0 && { zones }),
    statusUpdateFrequencyMs: settings.number("cluster-status-update-frequency"),
    failureThresholdMs: settings.number("cluster-failure-threshold"),
    successThresholdMs: settings.number("cluster-success-threshold"),
    leaseDurationMs: settings.number("cluster-lease-duration"),
    leaseRenewFraction: settings.number("cluster-lease-renew-interval-fraction"),
    leaderElect: switchFrom(settings.requiredText("leader-elect")),
    namespace: settings.requiredText("agent-namespace"),
    instance: hostname(),
  };
}

function switchFrom(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new UsageError(`--leader-elect: "${text}" is not valid: true or false is needed`);
}

function planeKubeconfig(settings: Settings): string {
  const path = settings.text("karmada-kubeconfig") ?? settings.text("plane-kubeconfig");
  if (path === undefined) throw new UsageError("--karmada-kubeconfig is needed");
  return path;
}

/** Runs the agent until it ends, and as long what renews its certificate. */
async function runBoth(
  agentService: Pick<Service, "run">,
  beside: Pick<Service, "run">,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const running = beside.run(AbortSignal.any([signal, stop.signal]));
  try {
    await agentService.run(signal);
  } finally {
    stop.abort();
    await running;
  }
}

/** What renews the agent's certificate. In a pod the new one is kept in the Secret that the kubeconfig is mounted from. */
async function renewalOf(
  ports: KitPorts,
  settings: Settings,
  connection: PlaneConnection,
  member: HttpClient,
): Promise<readonly Service[]> {
  const isPod = settings.text("cluster-kubeconfig") === undefined;
  const tokenPath = settings.text("bootstrap-kubeconfig");
  const bootstrap =
    tokenPath === undefined
      ? undefined
      : await inSentences("the control plane", "--bootstrap-kubeconfig", () =>
          connectByToken(tokenPath),
        );
  const renewal = connection.renewal(ports, {
    cluster: settings.requiredText("cluster-name"),
    keep: isPod
      ? keptInSecret(member, settings.requiredText("agent-namespace"), AGENT_SECRET)
      : keptInFile(planeKubeconfig(settings)),
    ...(bootstrap === undefined ? {} : { bootstrap }),
  });
  return renewal === undefined ? [] : [renewal];
}

/** Certificates and tokens that the kubeconfig names by file are followed as they rotate. */
function memberConfig(path: string | undefined): Promise<HttpClientConfig> {
  return inSentences("the member", "--cluster-kubeconfig", async () => {
    const access =
      path === undefined ? loadInCluster(process.env) : await loadKubeconfig({ paths: [path] });
    const ports = { clock: createRealClock(), environment: process.env };
    return httpConfigOf(ports, access, "lifeboat-agent");
  });
}

async function inSentences<T>(what: string, option: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new CommandFailed(
      `${what} cannot be reached: ${error.message}; name its kubeconfig with ${option}`,
    );
  }
}
