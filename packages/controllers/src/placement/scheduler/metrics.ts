/** The metrics of the scheduler. */
import type { Counter, Histogram, MetricDefinition, Metrics } from "@lifeboat/kit";

const scheduleAttempts: MetricDefinition<"result" | "schedule_type"> = {
  name: "karmada_scheduler_schedule_attempts_total",
  help: "Attempts to place a binding, by result: scheduled, unschedulable or error.",
  labels: ["result", "schedule_type"],
};
const e2eDuration: MetricDefinition<"result" | "schedule_type"> = {
  name: "karmada_scheduler_e2e_scheduling_duration_seconds",
  help: "From looking at a binding to its written result.",
  labels: ["result", "schedule_type"],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5],
};
const algorithmDuration: MetricDefinition<"schedule_step"> = {
  name: "karmada_scheduler_scheduling_algorithm_duration_seconds",
  help: "How long deciding took, without any writing.",
  labels: ["schedule_step"],
  buckets: [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05],
};
const incomingBindings: MetricDefinition<"event"> = {
  name: "karmada_scheduler_queue_incoming_bindings_total",
  help: "Bindings put in line, by what happened: BindingChanged or ClusterChanged.",
  labels: ["event"],
};

export interface SchedulerMetrics {
  readonly attempts: Counter<"result" | "schedule_type">;
  readonly duration: Histogram<"result" | "schedule_type">;
  readonly algorithm: Histogram<"schedule_step">;
  readonly incoming: Counter<"event">;
}

export function declareSchedulerMetrics(metrics: Metrics): SchedulerMetrics {
  return {
    attempts: metrics.counter(scheduleAttempts),
    duration: metrics.histogram(e2eDuration),
    algorithm: metrics.histogram(algorithmDuration),
    incoming: metrics.counter(incomingBindings),
  };
}
