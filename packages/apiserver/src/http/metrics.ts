/** What the HTTP layer counts. Names and labels are those of kube-apiserver, so that existing dashboards read them. */
import type { Counter, Gauge, Histogram, Metrics } from "@lifeboat/kit";

export interface HttpMetrics {
  readonly requests: Counter<"verb" | "resource" | "code">;
  readonly durations: Histogram<"verb">;
  readonly inFlight: Gauge<"request_kind">;
  readonly watches: Gauge;
  readonly watchesCutOff: Counter;
  readonly rejected: Counter<"request_kind">;
}

export function createHttpMetrics(metrics: Metrics): HttpMetrics {
  return {
    requests: metrics.counter({
      name: "apiserver_request_total",
      help: "Requests answered, by verb, resource and HTTP code.",
      labels: ["verb", "resource", "code"],
    }),
    durations: metrics.histogram({
      name: "apiserver_request_duration_seconds",
      help: "Time from a request to its answer, by verb; for watches until the stream begins.",
      labels: ["verb"],
      buckets: [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
      ],
    }),
    inFlight: metrics.gauge({
      name: "apiserver_current_inflight_requests",
      help: "Requests being worked on, without watches: readOnly, mutating, and lease for Leases, which are counted apart.",
      labels: ["request_kind"],
    }),
    watches: metrics.gauge({
      name: "apiserver_longrunning_requests",
      help: "Watches that are open.",
    }),
    watchesCutOff: metrics.counter({
      name: "apiserver_terminated_watchers_total",
      help: "Watches that were cut off because their client did not keep up.",
    }),
    rejected: metrics.counter({
      name: "apiserver_dropped_requests_total",
      help: "Requests refused because too many were being worked on, or because their user had its part of the room.",
      labels: ["request_kind"],
    }),
  };
}
