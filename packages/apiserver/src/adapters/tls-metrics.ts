/** What the transport counts. */
import type { Counter, Gauge, Metrics } from "@lifeboat/kit";

export interface BodyMetrics {
  readonly pending: Gauge<"authenticated">;
  readonly dropped: Counter<"authenticated">;
}

export function createBodyMetrics(metrics: Metrics): BodyMetrics {
  return {
    pending: metrics.gauge({
      name: "lifeboat_request_body_bytes",
      help: "Memory that bodies of requests take until they are answered, of authenticated clients and of others.",
      labels: ["authenticated"],
    }),
    dropped: metrics.counter({
      name: "lifeboat_request_bodies_dropped_total",
      help: "Bodies that were dropped while they arrived, because too much memory was held for bodies.",
      labels: ["authenticated"],
    }),
  };
}
