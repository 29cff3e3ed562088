/** The metrics of execution, under the names that dashboards of this field use. */
import type { Counter, Histogram, MetricDefinition, Metrics } from "@lifeboat/kit";

type WriteLabel = "result" | "apiversion" | "kind" | "member_cluster";

export const syncDuration: MetricDefinition<"result"> = {
  name: "work_sync_workload_duration_seconds",
  help: "How long it took to bring the objects of a Work to its cluster.",
  labels: ["result"],
  buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60],
};
export const creations: MetricDefinition<WriteLabel | "recreate"> = {
  name: "create_resource_to_cluster",
  help: "Objects created in members; recreate: true when they had been deleted there.",
  labels: ["result", "apiversion", "kind", "member_cluster", "recreate"],
};
export const updates: MetricDefinition<WriteLabel | "operationResult"> = {
  name: "update_resource_to_cluster",
  help: "Objects updated in members.",
  labels: ["result", "apiversion", "kind", "member_cluster", "operationResult"],
};
export const deletions: MetricDefinition<WriteLabel> = {
  name: "delete_resource_from_cluster",
  help: "Objects deleted in members.",
  labels: ["result", "apiversion", "kind", "member_cluster"],
};

export interface ExecutionMetrics {
  readonly duration: Histogram<"result">;
  readonly creations: Counter<WriteLabel | "recreate">;
  readonly updates: Counter<WriteLabel | "operationResult">;
  readonly deletions: Counter<WriteLabel>;
}

export function declareExecutionMetrics(metrics: Metrics): ExecutionMetrics {
  return {
    duration: metrics.histogram(syncDuration),
    creations: metrics.counter(creations),
    updates: metrics.counter(updates),
    deletions: metrics.counter(deletions),
  };
}
