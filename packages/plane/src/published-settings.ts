/** What a control plane publishes about how it was started: the flags that decide about failover, as written. */
import { formatDuration } from "@lifeboat/base";
import type { TokenRegistration } from "@lifeboat/controllers/context";
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import type { ControllersOptions } from "./controllers.ts";
import { formatGates } from "./gates.ts";

/** Clusters register, and kube-controller-manager signs what this process approves. A process that signs itself publishes nothing. */
export const SIGNED_BY_OTHERS = "approved";

/** The settings to publish, by the names of their flags. */
export function publishedSettings(
  options: ControllersOptions,
  registration?: TokenRegistration,
): PublishedSettings {
  return {
    "feature-gates": formatGates(options),
    "resource-eviction-rate": String(options.resourceEvictionRate),
    "secondary-resource-eviction-rate": String(options.secondaryResourceEvictionRate),
    "unhealthy-cluster-threshold": String(options.unhealthyClusterThreshold),
    "large-cluster-num-threshold": String(options.largeClusterNumThreshold),
    "no-execute-taint-eviction-purge-mode": options.noExecutePurgeMode,
    "evacuation-approval": options.evacuationApproval,
    "evict-plugins": options.evictPlugins.length === 0 ? "none" : options.evictPlugins.join(","),
    "cluster-status-update-frequency": formatDuration(options.clusterStatusUpdateFrequencyMs),
    "cluster-failure-threshold": formatDuration(options.clusterFailureThresholdMs),
    "cluster-success-threshold": formatDuration(options.clusterSuccessThresholdMs),
    "cluster-monitor-grace-period": formatDuration(options.clusterMonitorGracePeriodMs),
    "trust-fenced-condition": String(options.trustFencedCondition),
    "traffic-drain-timeout": formatDuration(options.trafficDrainTimeoutMs),
    "traffic-drain-limit": formatDuration(options.trafficDrainLimitMs),
    "statefulset-let-go-timeout": formatDuration(options.statefulSetLetGoTimeoutMs),
    controllers: options.controllers.join(","),
    ...(registration?.signer === undefined || "sign" in registration.signer
      ? {}
      : { registration: SIGNED_BY_OTHERS }),
    ...(options.shareMembers === true ? { "share-members": "true" } : {}),
    ...(options.notifications === undefined ? {} : { notify: options.notifications.destination }),
    ...(options.leaderLease === undefined ? {} : { "leader-elect-resource": options.leaderLease }),
  };
}
