/** The metrics of the detector, under the names that dashboards of the field know. */
import type { Counter, Histogram, MetricDefinition, Metrics } from "@lifeboat/kit";

const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];

export const matchDuration: MetricDefinition = {
  name: "resource_match_policy_duration_seconds",
  help: "How long it took to find the policy of a template.",
  buckets: SECONDS,
};
export const applyDuration: MetricDefinition = {
  name: "resource_apply_policy_duration_seconds",
  help: "How long it took to bring a template and its binding in line with their policy, where they were not.",
  buckets: SECONDS,
};
export const applyAttempts: MetricDefinition<"result"> = {
  name: "policy_apply_attempts_total",
  help: "Attempts to bring a template and its binding in line with their policy: success or error.",
  labels: ["result"],
};
export const preemptions: MetricDefinition<"result"> = {
  name: "policy_preemption_total",
  help: "Attempts of policies to take a template over from another: success or error.",
  labels: ["result"],
};

export interface DetectorMetrics {
  readonly matchDuration: Histogram<never>;
  readonly applyDuration: Histogram<never>;
  readonly applyAttempts: Counter<"result">;
  readonly preemptions: Counter<"result">;
}

export function declareDetectorMetrics(metrics: Metrics): DetectorMetrics {
  return {
    matchDuration: metrics.histogram(matchDuration),
    applyDuration: metrics.histogram(applyDuration),
    applyAttempts: metrics.counter(applyAttempts),
    preemptions: metrics.counter(preemptions),
  };
}
