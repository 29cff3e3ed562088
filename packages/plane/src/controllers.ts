/**
 * The controllers of a control plane, composed: one table of what there is, by the names that `--controllers` takes.
 *
 * The names are those that operators of such control planes know (`clusterStatus`), so that their flags go on working.
 */
import {
  createAgents,
  createBootstrapTokens,
  createCertificates,
  createClusterController,
  createClusterMonitor,
  createClusterStatus,
} from "@lifeboat/controllers/clusters";
import type { PlaneContext } from "@lifeboat/controllers/context";
import {
  createApplicationFailover,
  createDefaultPolicies,
  createEvacuations,
  createFailback,
  createGracefulEviction,
  createStaleCopies,
  createTaintPolicies,
} from "@lifeboat/controllers/failover";
import { createFederatedObjects } from "@lifeboat/controllers/federated";
import {
  createFleetGauges,
  createHistory,
  createNotifications,
  createRestoredReport,
  createSettings,
  type NotificationOptions,
} from "@lifeboat/controllers/operating";
import { createScheduler, createWorkloadRebalancer } from "@lifeboat/controllers/placement";
import {
  createBindingController,
  createBindingStatus,
  createDeletionGate,
  createDependencies,
  createDetector,
  createEndorsement,
  createExecution,
  createNamespaceSync,
} from "@lifeboat/controllers/propagation";
import {
  createDetectorMonitor,
  createMultiClusterIngress,
  createRemedies,
} from "@lifeboat/controllers/remedy";
import { createTrafficBackends } from "@lifeboat/controllers/traffic";
import { type PurgeMode, purgeModeOf } from "@lifeboat/core/binding";
import type { ApprovalMode, RateOptions } from "@lifeboat/core/failover/evacuation";
import { evictionPluginNames } from "@lifeboat/core/failover/eviction-tasks";
import type { IfDiedView } from "@lifeboat/core/operating";
import type { Service } from "@lifeboat/kit";
import type { Gate } from "./gates.ts";
import { publishedSettings } from "./published-settings.ts";

export interface ControllersOptions {
  /** `*`, names, and `-name`; see `controllerNames`. */
  readonly controllers: readonly string[];
  readonly clusterStatusUpdateFrequencyMs: number;
  readonly clusterFailureThresholdMs: number;
  readonly clusterSuccessThresholdMs: number;
  /** How often silence of Pull clusters is looked for. */
  readonly clusterMonitorPeriodMs: number;
  /** How long a Pull cluster may be silent. */
  readonly clusterMonitorGracePeriodMs: number;
  /** The same for one that has never reported. */
  readonly clusterStartupGracePeriodMs: number;
  /** Whether the condition Fenced=True of a Cluster proves that it is off. */
  readonly trustFencedCondition: boolean;
  /** Anchored regular expressions of namespaces that are never propagated. */
  readonly skippedPropagatingNamespaces: readonly string[];
  /** `group`, `group/version` or `group/version/Kind` that are never propagated. */
  readonly skippedPropagatingApis: readonly string[];
  /** The gate `Failover`: whether anything but a person's order moves workloads away from a cluster. */
  readonly failover: boolean;
  /** The gates that a flag sets; the others keep the value of the last run. Absent: all of them (gates.ts). */
  readonly gatesByFlag?: readonly Gate[];
  /** The gate `StatefulFailoverInjection`: whether workloads that move carry their state. */
  readonly statefulFailoverInjection: boolean;
  /** Evictions per second over the whole fleet. */
  readonly resourceEvictionRate: number;
  /** The same, while too much of a large fleet has failed. */
  readonly secondaryResourceEvictionRate: number;
  /** The share of failed clusters above which a fleet is unhealthy, 0 to 1. */
  readonly unhealthyClusterThreshold: number;
  /** Fleets with more clusters than this are large. */
  readonly largeClusterNumThreshold: number;
  /** What becomes of old copies when a policy names no purge mode. */
  readonly noExecutePurgeMode: PurgeMode;
  /** Whether all that has to leave a faulty cluster waits for a person's approval, or only where policies ask for it (D30). */
  readonly evacuationApproval: ApprovalMode;
  /** Whether a flag sets that; otherwise it keeps the value of the last run. Absent: one does (gates.ts). */
  readonly evacuationApprovalByFlag?: boolean;
  /** The plugins any of which may end a graceful eviction. */
  readonly evictPlugins: readonly string[];
  /** How long an old copy waits for load balancers where none of ours can confirm that its traffic is gone (D27). */
  readonly trafficDrainTimeoutMs: number;
  /** How long it waits for load balancers of ours that run and do not confirm it. */
  readonly trafficDrainLimitMs: number;
  /** How long a replica that leaves a quorum waits for the application to let it go; 0: for ever (D15). */
  readonly statefulSetLetGoTimeoutMs: number;
  /** Whether replicas share out the work on Push members. */
  readonly shareMembers?: boolean;
  /** The Lease by which these controllers were elected, as `namespace/name`; absent: there is one process only. */
  readonly leaderLease?: string;
  /** Where notices of failures, and of what waits for people, are sent; absent: nowhere. */
  readonly notifications?: NotificationOptions;
}

export const DEFAULT_CONTROLLERS: ControllersOptions = Object.freeze({
  controllers: Object.freeze(["*"]),
  clusterStatusUpdateFrequencyMs: 10_000,
  clusterFailureThresholdMs: 30_000,
  clusterSuccessThresholdMs: 30_000,
  clusterMonitorPeriodMs: 5000,
  clusterMonitorGracePeriodMs: 40_000,
  clusterStartupGracePeriodMs: 60_000,
  trustFencedCondition: false,
  skippedPropagatingNamespaces: Object.freeze(["kube-.*"]),
  skippedPropagatingApis: Object.freeze([]),
  failover: false,
  statefulFailoverInjection: false,
  resourceEvictionRate: 0.5,
  secondaryResourceEvictionRate: 0.1,
  unhealthyClusterThreshold: 0.55,
  largeClusterNumThreshold: 10,
  noExecutePurgeMode: "Gracefully",
  evacuationApproval: "Policy",
  evictPlugins: evictionPluginNames,
  trafficDrainTimeoutMs: 60_000,
  trafficDrainLimitMs: 600_000,
  statefulSetLetGoTimeoutMs: 0,
});

/** The rates of evacuations that these controllers keep. */
export function evictionRatesOf(options: ControllersOptions): RateOptions {
  return {
    rate: options.resourceEvictionRate,
    secondaryRate: options.secondaryResourceEvictionRate,
    unhealthyThreshold: options.unhealthyClusterThreshold,
    largeFleetThreshold: options.largeClusterNumThreshold,
  };
}

/** What the foresight of core needs to know of these controllers. */
export function foresightSettingsOf(
  options: ControllersOptions,
): Pick<IfDiedView, "settings" | "rates"> {
  return {
    settings: {
      failover: options.failover,
      statefulFailoverInjection: options.statefulFailoverInjection,
      purgeMode: purgeModeOf(options.noExecutePurgeMode, "Gracefully"),
      failureThresholdMs: options.clusterFailureThresholdMs,
      monitorGraceMs: options.clusterMonitorGracePeriodMs,
      approval: options.evacuationApproval,
    },
    rates: evictionRatesOf(options),
  };
}

type Build = (context: PlaneContext, options: ControllersOptions) => readonly Service[];

/** In the order in which they start; they stop in reverse. */
const CONTROLLERS: ReadonlyMap<string, Build> = new Map<string, Build>([
  [
    "settings",
    (context, options) => [
      createSettings(context, publishedSettings(options, context.registration)),
    ],
  ],
  ["cluster", createClusterController],
  [
    "bootstrapTokens",
    (context) =>
      context.registration === undefined
        ? []
        : createBootstrapTokens(context, context.registration.hmac),
  ],
  [
    "agentcsrapproving",
    (context) => {
      const signer = context.registration?.signer;
      return [
        ...createAgents(context),
        ...(signer === undefined ? [] : createCertificates(context, signer)),
      ];
    },
  ],
  [
    "clusterStatus",
    (context, options) =>
      createClusterStatus(context, {
        updateFrequencyMs: options.clusterStatusUpdateFrequencyMs,
        failureThresholdMs: options.clusterFailureThresholdMs,
        successThresholdMs: options.clusterSuccessThresholdMs,
      }),
  ],
  [
    "clusterMonitor",
    (context, options) =>
      createClusterMonitor(context, {
        periodMs: options.clusterMonitorPeriodMs,
        graceMs: options.clusterMonitorGracePeriodMs,
        startupGraceMs: options.clusterStartupGracePeriodMs,
      }),
  ],
  ["defaultTaintPolicies", (context) => [createDefaultPolicies(context)]],
  ["clustertaintpolicy", (context, { failover }) => createTaintPolicies(context, { failover })],
  [
    "namespace",
    (context, options) =>
      createNamespaceSync(context, {
        skippedNamespaces: options.skippedPropagatingNamespaces.join("|"),
      }),
  ],
  [
    "detector",
    (context, options) =>
      createDetector(context, {
        skippedNamespaces: options.skippedPropagatingNamespaces,
        skippedApis: options.skippedPropagatingApis,
      }),
  ],
  [
    "taint-manager",
    (context, options) =>
      createEvacuations(context, {
        failover: options.failover,
        statefulFailoverInjection: options.statefulFailoverInjection,
        noExecutePurgeMode: options.noExecutePurgeMode,
        approval: options.evacuationApproval,
        rates: evictionRatesOf(options),
      }),
  ],
  [
    "scheduler",
    (context, { clusterStatusUpdateFrequencyMs, statefulSetLetGoTimeoutMs }) => [
      createScheduler(context, {
        clusterStatusUpdateFrequencyMs,
        letGoTimeoutMs: statefulSetLetGoTimeoutMs,
      }),
    ],
  ],
  ["dependencies", createDependencies],
  [
    "binding",
    (context) => {
      const gate = createDeletionGate(context);
      return [gate, ...createBindingController(context, gate)];
    },
  ],
  ["execution", createExecution],
  ["endorsement", createEndorsement],
  ["bindingStatus", createBindingStatus],
  ["federatedStatefulSet", createFederatedObjects],
  ["workloadRebalancer", createWorkloadRebalancer],
  [
    "gracefulEviction",
    (context, { evictPlugins, trustFencedCondition, trafficDrainTimeoutMs, trafficDrainLimitMs }) =>
      createGracefulEviction(context, {
        plugins: evictPlugins,
        trustFencedCondition,
        trafficDrainTimeoutMs,
        trafficDrainLimitMs,
      }),
  ],
  [
    "applicationFailover",
    (context, { statefulFailoverInjection }) =>
      createApplicationFailover(context, { statefulFailoverInjection }),
  ],
  [
    "failback",
    (context, { failover, statefulFailoverInjection }) =>
      createFailback(context, { failover, statefulFailoverInjection }),
  ],
  ["staleCopies", createStaleCopies],
  ["remedy", createRemedies],
  ["detectorMonitor", createDetectorMonitor],
  ["multiClusterIngress", createMultiClusterIngress],
  ["trafficBackends", createTrafficBackends],
  ["restoredReport", (context) => [createRestoredReport(context)]],
  [
    "fleetGauges",
    (context, { trustFencedCondition }) => [createFleetGauges(context, { trustFencedCondition })],
  ],
  ["history", (context) => [createHistory(context)]],
  [
    "notifications",
    (context, { notifications, trustFencedCondition }) =>
      notifications === undefined
        ? []
        : [createNotifications(context, notifications, { trustFencedCondition })],
  ],
]);

/** The names of all controllers. */
export const controllerNames: readonly string[] = Object.freeze([...CONTROLLERS.keys()]);

/** Names that are known elsewhere and are part of another controller here, with that controller. */
const PART_OF: ReadonlyMap<string, string> = new Map([["workStatus", "execution"]]);

/** The controllers that work on members, and which replicas can therefore share out; all others decide. */
const ON_MEMBERS: ReadonlySet<string> = new Set(["clusterStatus", "execution"]);

/** `decisions`: what the leader alone runs where replicas share out members. `members`: what every replica runs for its own. */
export type ControllersPart = "all" | "decisions" | "members";

/** Builds the controllers that the options choose. Constructing starts nothing. */
export function createControllers(
  context: PlaneContext,
  options: ControllersOptions,
  part: ControllersPart = "all",
): readonly Service[] {
  return [...CONTROLLERS].flatMap(([name, build]) =>
    runsController(name, options.controllers) && isPartOf(name, part)
      ? build(context, options)
      : [],
  );
}

function isPartOf(name: string, part: ControllersPart): boolean {
  return part === "all" || ON_MEMBERS.has(name) === (part === "members");
}

/** The entries of `--controllers` that name nothing. */
export function unknownControllers(chosen: readonly string[]): readonly string[] {
  return chosen.filter((entry) => {
    const name = entry.replace(/^-/, "");
    return name !== "*" && !CONTROLLERS.has(name) && !PART_OF.has(name);
  });
}

/** Whether `--controllers` lets this one run. */
export function runsController(name: string, chosen: readonly string[]): boolean {
  if (chosen.includes(`-${name}`)) return false;
  return chosen.includes("*") || chosen.includes(name);
}
