/** What clusters look like from here, one series per cluster; a cluster that is gone has none. */
import type { Counter, Gauge, Histogram, MetricDefinition, Metrics } from "@lifeboat/kit";
import { clusterLastSuccess, clusterReadyState } from "../../context/cluster-metrics.ts";

type ClusterLabel = "member_cluster";
const labels = ["member_cluster"] as const;

export const clusterLastObserved: MetricDefinition<ClusterLabel> = {
  name: "cluster_last_observed_timestamp_seconds",
  help: "When the cluster was last probed, whatever came of it, in seconds since 1970. The freshness of its status: that is written on change only.",
  labels,
};
export const clusterNodes: MetricDefinition<ClusterLabel> = {
  name: "cluster_node_number",
  help: "Nodes of the cluster.",
  labels,
};
export const clusterReadyNodes: MetricDefinition<ClusterLabel> = {
  name: "cluster_ready_node_number",
  help: "Nodes of the cluster that are ready.",
  labels,
};
export const clusterMemoryAllocatable: MetricDefinition<ClusterLabel> = {
  name: "cluster_memory_allocatable_bytes",
  help: "Memory that the nodes of the cluster offer.",
  labels,
};
export const clusterCpuAllocatable: MetricDefinition<ClusterLabel> = {
  name: "cluster_cpu_allocatable_number",
  help: "Cores that the nodes of the cluster offer.",
  labels,
};
export const clusterPodsAllocatable: MetricDefinition<ClusterLabel> = {
  name: "cluster_pod_allocatable_number",
  help: "Pods that the nodes of the cluster can run.",
  labels,
};
export const clusterMemoryAllocated: MetricDefinition<ClusterLabel> = {
  name: "cluster_memory_allocated_bytes",
  help: "Memory that pods on nodes of the cluster ask for.",
  labels,
};
export const clusterCpuAllocated: MetricDefinition<ClusterLabel> = {
  name: "cluster_cpu_allocated_number",
  help: "Cores that pods on nodes of the cluster ask for.",
  labels,
};
export const clusterPodsAllocated: MetricDefinition<ClusterLabel> = {
  name: "cluster_pod_allocated_number",
  help: "Pods on nodes of the cluster.",
  labels,
};
export const clusterSyncDuration: MetricDefinition<ClusterLabel> = {
  name: "cluster_sync_status_duration_seconds",
  help: "How long a probe of the cluster took.",
  labels,
  buckets: [0.01, 0.05, 0.25, 1, 2.5, 5, 10, 30],
};
export const clusterProbeFailures: MetricDefinition<ClusterLabel> = {
  name: "lifeboat_cluster_probe_failures_total",
  help: "Probes of the cluster that failed, whether or not they were enough to change its condition Ready.",
  labels,
};

export interface ClusterMetrics {
  readonly lastSuccess: Gauge<ClusterLabel>;
  readonly failures: Counter<ClusterLabel>;
  readonly ready: Gauge<ClusterLabel>;
  readonly lastObserved: Gauge<ClusterLabel>;
  readonly nodes: Gauge<ClusterLabel>;
  readonly readyNodes: Gauge<ClusterLabel>;
  readonly memoryAllocatable: Gauge<ClusterLabel>;
  readonly cpuAllocatable: Gauge<ClusterLabel>;
  readonly podsAllocatable: Gauge<ClusterLabel>;
  readonly memoryAllocated: Gauge<ClusterLabel>;
  readonly cpuAllocated: Gauge<ClusterLabel>;
  readonly podsAllocated: Gauge<ClusterLabel>;
  readonly duration: Histogram<ClusterLabel>;
}

export function declareClusterMetrics(metrics: Metrics): ClusterMetrics {
  return {
    lastSuccess: metrics.gauge(clusterLastSuccess),
    failures: metrics.counter(clusterProbeFailures),
    ready: metrics.gauge(clusterReadyState),
    lastObserved: metrics.gauge(clusterLastObserved),
    nodes: metrics.gauge(clusterNodes),
    readyNodes: metrics.gauge(clusterReadyNodes),
    memoryAllocatable: metrics.gauge(clusterMemoryAllocatable),
    cpuAllocatable: metrics.gauge(clusterCpuAllocatable),
    podsAllocatable: metrics.gauge(clusterPodsAllocatable),
    memoryAllocated: metrics.gauge(clusterMemoryAllocated),
    cpuAllocated: metrics.gauge(clusterCpuAllocated),
    podsAllocated: metrics.gauge(clusterPodsAllocated),
    duration: metrics.histogram(clusterSyncDuration),
  };
}
