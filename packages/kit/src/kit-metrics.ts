/** The metrics of this package. Families are shared by all controllers and informers of a process. */
import type { Counter, Gauge, Histogram, MetricDefinition, Metrics } from "./metrics.ts";

/** How a reconcile of a key can end. */
export type ReconcileOutcome = "done" | "check_again" | "conflict" | "unavailable" | "error";

export const reconcileDuration: MetricDefinition<"controller"> = {
  name: "kit_reconcile_duration_seconds",
  help: "How long one reconcile of a key took.",
  labels: ["controller"],
  buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
};
export const reconcileOutcomes: MetricDefinition<"controller" | "outcome"> = {
  name: "kit_reconcile_outcomes_total",
  help: "Reconciles of keys, by how they ended.",
  labels: ["controller", "outcome"],
};
export const queueDepth: MetricDefinition<"controller"> = {
  name: "kit_queue_depth",
  help: "Keys that wait for a worker.",
  labels: ["controller"],
};
export const informerLists: MetricDefinition<"resource"> = {
  name: "kit_informer_lists_total",
  help: "Complete lists taken in by informers; more than one per informer means that a watch could not be resumed.",
  labels: ["resource"],
};
export const informerObjects: MetricDefinition<"resource"> = {
  name: "kit_informer_objects",
  help: "Objects held by informers, as of their last list or lost watch.",
  labels: ["resource"],
};
export const serviceRestarts: MetricDefinition<"service"> = {
  name: "kit_service_restarts_total",
  help: "Services that ended before they were asked to.",
  labels: ["service"],
};
export const leading: MetricDefinition<"lease"> = {
  name: "kit_leader",
  help: "1 while this process leads by the lease, else 0.",
  labels: ["lease"],
};
export const eventsRecorded: MetricDefinition<"outcome"> = {
  name: "kit_events_total",
  help: "Events handed to the recorder: written, or dropped because there are too many of them or the write failed.",
  labels: ["outcome"],
};

export interface ControllerMetrics {
  readonly duration: Histogram<"controller">;
  readonly outcomes: Counter<"controller" | "outcome">;
  readonly depth: Gauge<"controller">;
}

export function declareControllerMetrics(metrics: Metrics): ControllerMetrics {
  return {
    duration: metrics.histogram(reconcileDuration),
    outcomes: metrics.counter(reconcileOutcomes),
    depth: metrics.gauge(queueDepth),
  };
}
