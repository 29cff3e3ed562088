/** The flags of the controllers, which every topology that runs them shares. */
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import { readNamespacePatterns } from "@lifeboat/core/propagation/matching";
import { type ControllersOptions, controllerNames, unknownControllers } from "@lifeboat/plane";
import { failoverFrom, failoverOptions } from "./failover-options.ts";
import { UsageError } from "./failure.ts";
import { type OptionDefinition, resolveOptions } from "./options.ts";
import { Settings } from "./settings.ts";

export const controllerOptions: readonly OptionDefinition[] = [
  {
    name: "cluster-status-update-frequency",
    type: "duration",
    value: "TIME",
    default: "10s",
    min: 100,
    help: "How often members are probed and their status is read",
  },
  {
    name: "cluster-failure-threshold",
    type: "duration",
    value: "TIME",
    default: "30s",
    min: 0,
    help: "How long probes must fail before a cluster is not ready",
  },
  {
    name: "cluster-success-threshold",
    type: "duration",
    value: "TIME",
    default: "30s",
    min: 0,
    help: "How long probes must succeed before it is ready again",
  },
  {
    name: "cluster-monitor-period",
    type: "duration",
    value: "TIME",
    default: "5s",
    min: 100,
    help: "How often Pull clusters are checked for silence",
  },
  {
    name: "cluster-monitor-grace-period",
    type: "duration",
    value: "TIME",
    default: "40s",
    min: 1000,
    help: "How long a Pull cluster may be silent before its Ready is Unknown",
  },
  {
    name: "cluster-startup-grace-period",
    type: "duration",
    value: "TIME",
    default: "60s",
    min: 1000,
    help: "The same for a Pull cluster that has never reported",
  },
  {
    name: "statefulset-let-go-timeout",
    type: "duration",
    value: "TIME",
    default: "0s",
    min: 0,
    help: "How long a replica that leaves a quorum waits for `lifeboat statefulset let-go`; 0s: for ever",
  },
  {
    name: "allow-loopback-members",
    type: "switch",
    help: "Members on loopback addresses of this machine are reached; `up` allows it while it listens on loopback alone, and for --members",
  },
  {
    name: "skipped-propagating-namespaces",
    type: "text",
    value: "REGEX,…",
    default: "kube-.*",
    help: "Namespaces that never leave the control plane, as anchored regular expressions",
  },
  {
    name: "skipped-propagating-apis",
    type: "text",
    value: "API;…",
    help: "APIs that are never propagated: group, group/version or group/version/Kind",
  },
  {
    name: "controllers",
    type: "text",
    value: "NAMES",
    default: "*",
    help: `Which controllers run: *, a name, or -name; known are ${controllerNames.join(", ")}`,
  },
  ...failoverOptions,
];

/** What the controllers are told, from the flags; throws UsageError on a value that is not valid. */
export function controllersFrom(settings: Settings): ControllersOptions {
  const controllers = listed(settings.requiredText("controllers"), ",");
  const [unknown] = unknownControllers(controllers);
  if (unknown !== undefined)
    throw new UsageError(
      `--controllers: there is no controller "${unknown}"; known are ${controllerNames.join(", ")}`,
    );
  const skippedPropagatingNamespaces = listed(
    settings.requiredText("skipped-propagating-namespaces"),
    ",",
  );
  const patterns = readNamespacePatterns(skippedPropagatingNamespaces);
  if (patterns.outcome === "invalid")
    throw new UsageError(
      `--skipped-propagating-namespaces: "${patterns.text}" is not a regular expression`,
    );
  return {
    controllers,
    clusterStatusUpdateFrequencyMs: settings.number("cluster-status-update-frequency"),
    clusterFailureThresholdMs: settings.number("cluster-failure-threshold"),
    clusterSuccessThresholdMs: settings.number("cluster-success-threshold"),
    clusterMonitorPeriodMs: settings.number("cluster-monitor-period"),
    clusterMonitorGracePeriodMs: settings.number("cluster-monitor-grace-period"),
    clusterStartupGracePeriodMs: settings.number("cluster-startup-grace-period"),
    statefulSetLetGoTimeoutMs: settings.number("statefulset-let-go-timeout"),
    skippedPropagatingNamespaces,
    skippedPropagatingApis: listed(settings.text("skipped-propagating-apis") ?? "", ";"),
    ...failoverFrom(settings),
  };
}

/** What the controllers of a running control plane were told, as it published it; undefined: it never ran any. */
export function publishedControllers(published: PublishedSettings | undefined): ControllersOptions {
  const known = new Set(controllerOptions.map(({ name }) => name));
  const file = Object.fromEntries(
    Object.entries(published ?? {}).filter(([name]) => known.has(name)),
  );
  return controllersFrom(
    new Settings(resolveOptions(controllerOptions, { flags: {}, environment: {}, file })),
  );
}

function listed(text: string, separator: string): readonly string[] {
  return text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
