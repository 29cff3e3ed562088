/**
 * The metrics of evacuations, under the names that the proposal of cluster failover gives them. Those of a cluster stay while it is
 * faulty or its evacuation goes on, and five minutes after.
 */
import type { Gauge, Histogram, MetricDefinition, Metrics } from "@lifeboat/kit";

const evictTotal: MetricDefinition<"cluster_name"> = {
  name: "evict_total",
  help: "Workloads in the eviction queue of a cluster: those that may go, and those that are held; not those that are tolerated for a time. This and all evict_* of a cluster stay while it is faulty or its evacuation goes on, and five minutes after.",
  labels: ["cluster_name"],
};
const evictKindTotal: MetricDefinition<"cluster_name" | "resource_kind"> = {
  name: "evict_kind_total",
  help: "Workloads in the eviction queue of a cluster, by kind such as apps/v1/Deployment.",
  labels: ["cluster_name", "resource_kind"],
};
const evictRate: MetricDefinition<"cluster_name"> = {
  name: "evict_rate",
  help: "Workloads per second that left the eviction queue of a cluster within the last minute.",
  labels: ["cluster_name"],
};
const evictLatency: MetricDefinition<"cluster_name"> = {
  name: "evict_processing_latency_seconds",
  help: "From the time a workload may go until it is evicted.",
  labels: ["cluster_name"],
  buckets: [0.1, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 10_800],
};
const evictSuccessRate: MetricDefinition<"cluster_name"> = {
  name: "evict_success_rate",
  help: "The share of workloads that left the cluster among all that left it, are held or were abandoned.",
  labels: ["cluster_name"],
};
const clusterFaultNum: MetricDefinition = {
  name: "cluster_fault_num",
  help: "Clusters that bear a taint which moves workloads away, without those that a person drains.",
};
const clusterFaultRate: MetricDefinition = {
  name: "cluster_fault_rate",
  help: "The share of failed clusters in the fleet, without those that a person drains.",
};

export interface EvacuationMetrics {
  readonly total: Gauge<"cluster_name">;
  readonly byKind: Gauge<"cluster_name" | "resource_kind">;
  readonly rate: Gauge<"cluster_name">;
  readonly latency: Histogram<"cluster_name">;
  readonly successRate: Gauge<"cluster_name">;
  readonly faultNum: Gauge<never>;
  readonly faultRate: Gauge<never>;
}

export function declareEvacuationMetrics(metrics: Metrics): EvacuationMetrics {
  return {
    total: metrics.gauge(evictTotal),
    byKind: metrics.gauge(evictKindTotal),
    rate: metrics.gauge(evictRate),
    latency: metrics.histogram(evictLatency),
    successRate: metrics.gauge(evictSuccessRate),
    faultNum: metrics.gauge(clusterFaultNum),
    faultRate: metrics.gauge(clusterFaultRate),
  };
}
