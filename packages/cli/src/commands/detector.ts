/**
 * `lifeboat detector`: one instance of the detector of a cluster, on one of its nodes. It probes a function of the cluster as a pod does, by
 * default name resolution, and reports to the control plane whether that works; the member's API server is not needed.
 */
import { hostname } from "node:os";
import { createRandom } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import {
  type ClusterDetectorOptions,
  createClusterDetector,
} from "@lifeboat/controllers/member-side";
import { createManager, KubeconfigError } from "@lifeboat/kit";
import {
  checkCertificates,
  createHttpClient,
  createPinoLog,
  createPromMetrics,
  httpConfigOf,
  loadInCluster,
} from "@lifeboat/kit/adapters";
import type { Command } from "commander";
import { serveHealth } from "../health-server.ts";
import { parseListen } from "../listen.ts";
import { askedProbe, probeFor, probeOptions } from "../detector-probe.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import {
  connectPlane,
  keptInFile,
  keptInSecret,
  type KubeconfigKeeper,
} from "../agent/plane-certificate.ts";
import { inWords } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { healthListenOption, logLevelOption } from "../process-options.ts";
import { parseLogLevel, seedFromProcess } from "../process-settings.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { version } from "../version.ts";
import { isStartedByAnother, stopOnSignal } from "../stopping.ts";
import { checkClusterName } from "./join.ts";

export const detectorOptions: readonly OptionDefinition[] = [
  {
    name: "karmada-kubeconfig",
    type: "text",
    value: "FILE",
    help: "How the control plane is reached, with the detector's own certificate",
  },
  {
    name: "plane-kubeconfig",
    type: "text",
    value: "FILE",
    help: "The same as --karmada-kubeconfig",
  },
  {
    name: "karmada-context",
    type: "text",
    value: "NAME",
    help: "The context of that kubeconfig; default its current one",
  },
  {
    name: "plane-context",
    type: "text",
    value: "NAME",
    help: "The same as --karmada-context",
  },
  {
    name: "cluster-name",
    type: "text",
    value: "NAME",
    help: "The name of this cluster in the control plane",
  },
  {
    name: "host-name",
    type: "text",
    value: "NAME",
    help: "The node; no second instance may have the same; default the host's name",
  },
  ...probeOptions,
  {
    name: "resolv-conf",
    type: "text",
    value: "FILE",
    default: "/etc/resolv.conf",
    help: "The name servers, search list and options, for --probe dns",
  },
  {
    name: "detect-period",
    type: "duration",
    value: "TIME",
    default: "5s",
    min: 100,
    help: "How often it is probed; no answer within it is a failure",
  },
  {
    name: "detect-failure-threshold",
    type: "duration",
    value: "TIME",
    default: "30s",
    min: 0,
    help: "How long failures must last, without a success, before the function counts as broken",
  },
  {
    name: "detect-success-threshold",
    type: "duration",
    value: "TIME",
    default: "30s",
    min: 0,
    help: "How long successes must last, without a failure, before it counts as working",
  },
  {
    name: "stale-threshold",
    type: "duration",
    value: "TIME",
    default: "60s",
    min: 30_000,
    help: "How long an instance may be silent; when all are, the control plane writes Unknown",
  },
  {
    name: "kubeconfig-secret",
    type: "text",
    value: "NAMESPACE/NAME",
    help: "In a pod: the Secret that the kubeconfig is mounted from, where a renewed certificate is kept; default the file itself",
  },
  healthListenOption,
  logLevelOption("info"),
];

export function addDetector(program: Command): void {
  const command = program
    .command("detector")
    .description(
      "Run the detector of a cluster on one of its nodes: does name resolution work, or another function?",
    );
  declareOptions(command, detectorOptions).action(async () => {
    const settings = readSettings(command, detectorOptions);
    await inWords(() => detect(settings));
  });
}

async function detect(settings: Settings): Promise<void> {
  const options = optionsFrom(settings);
  const path = settings.text("karmada-kubeconfig") ?? settings.text("plane-kubeconfig");
  if (path === undefined) throw new UsageError("--karmada-kubeconfig is needed");
  const context = settings.text("karmada-context") ?? settings.text("plane-context");
  const plane = await connectPlane(path, { context, userAgent: `lifeboat/${version}` }).catch(
    (error: unknown) => {
      if (!(error instanceof KubeconfigError)) throw error;
      throw new CommandFailed(`${error.message}; name the kubeconfig with --karmada-kubeconfig`);
    },
  );
  await checkCertificates(plane.end);
  const keeper = await keeperOf(settings, path);
  const metrics = createPromMetrics();
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    ids: createRealIds(),
    log: createPinoLog({ level: parseLogLevel(settings.requiredText("log-level")) }),
    metrics,
  };
  const detector = createClusterDetector(ports, { ...options, plane: plane.client });
  const stopping = stopOnSignal({ followsParent: isStartedByAnother(process.env, process.ppid) });
  const listen = settings.text("health-listen");
  const health =
    listen === undefined
      ? undefined
      : await serveHealth(
          {
            readiness: () => (detector.isReady() ? undefined : "no verdict was reported yet"),
            metrics: () => metrics.expose(),
          },
          parseListen(listen, "health-listen"),
        );
  const renewal = plane.renewal(ports, {
    cluster: options.cluster,
    of: "detector",
    keep: keeper.keep,
  });
  // A file with several contexts is a person's: it is not written over.
  const services =
    context !== undefined || renewal === undefined ? [detector] : [detector, renewal];
  try {
    await createManager(ports, services).run(stopping.signal);
  } finally {
    stopping.waitFor("connections to be closed");
    health?.close();
    keeper.close();
    plane.client.close();
    stopping.release();
  }
}

/** Where a renewed certificate is kept: in the member's Secret that a pod has mounted, or in the file. */
async function keeperOf(
  settings: Settings,
  path: string,
): Promise<{ readonly keep: KubeconfigKeeper; close(): void }> {
  const secret = settings.text("kubeconfig-secret");
  if (secret === undefined) return { keep: keptInFile(path), close: () => undefined };
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(secret) ?? [];
  if (namespace === undefined || name === undefined)
    throw new UsageError(`--kubeconfig-secret: "${secret}" is not valid: NAMESPACE/NAME is needed`);
  const ports = { clock: createRealClock(), environment: process.env };
  const member = createHttpClient(
    await httpConfigOf(ports, loadInCluster(process.env), "lifeboat-detector"),
  );
  return { keep: keptInSecret(member, namespace, name), close: () => member.close() };
}

/** What the flags ask for, without the connection. */
export function optionsFrom(settings: Settings): Omit<ClusterDetectorOptions, "plane"> {
  const cluster = settings.requiredText("cluster-name");
  checkClusterName(cluster);
  const asked = askedProbe(settings);
  const periodMs = settings.number("detect-period");
  return {
    cluster,
    host: settings.text("host-name") ?? hostname(),
    condition: asked.condition,
    periodMs,
    failureThresholdMs: settings.number("detect-failure-threshold"),
    successThresholdMs: settings.number("detect-success-threshold"),
    staleThresholdMs: settings.number("stale-threshold"),
    probe: probeFor(asked, { resolvConf: settings.requiredText("resolv-conf"), periodMs }),
  };
}
