/** Metrics of clusters that two controllers set: one of Push clusters, another of Pull clusters. */
import type { MetricDefinition } from "@lifeboat/kit";

export const clusterLastSuccess: MetricDefinition<"member_cluster"> = {
  name: "lifeboat_cluster_last_success_timestamp_seconds",
  help: "When the cluster last answered a probe (Push), or its agent was last heard of (Pull), by the control plane's own clock, in seconds since 1970.",
  labels: ["member_cluster"],
};

export const clusterReadyState: MetricDefinition<"member_cluster"> = {
  name: "cluster_ready_state",
  help: "1 while the condition Ready of the cluster is True, else 0.",
  labels: ["member_cluster"],
};
