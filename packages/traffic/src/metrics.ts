/** What load balancers count. */
import type { Counter, Gauge, Histogram, Metrics } from "@lifeboat/kit";

export interface TrafficMetrics {
  readonly requests: Counter<"member_cluster" | "code">;
  readonly retries: Counter<"member_cluster">;
  readonly backends: Gauge<"state">;
  readonly tables: Counter<"outcome">;
  readonly applied: Histogram;
  readonly problems: Gauge;
}

export function createTrafficMetrics(metrics: Metrics): TrafficMetrics {
  return {
    requests: metrics.counter({
      name: "lifeboat_gateway_requests_total",
      help: "Requests that the gateway answered, by the cluster that served them and HTTP code; an empty cluster: by itself.",
      labels: ["member_cluster", "code"],
    }),
    retries: metrics.counter({
      name: "lifeboat_gateway_retries_total",
      help: "Requests that the gateway sent to another backend because this cluster's did not answer.",
      labels: ["member_cluster"],
    }),
    backends: metrics.gauge({
      name: "lifeboat_traffic_backends",
      help: "Backends of the routing table, by state: serving, or draining.",
      labels: ["state"],
    }),
    tables: metrics.counter({
      name: "lifeboat_traffic_tables_total",
      help: "Routing tables given to the load balancer, by outcome: applied, or failed.",
      labels: ["outcome"],
    }),
    applied: metrics.histogram({
      name: "lifeboat_traffic_apply_duration_seconds",
      help: "How long it took to carry out a routing table.",
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    }),
    problems: metrics.gauge({
      name: "lifeboat_traffic_problems",
      help: "Hosts, paths, ports and certificates of ingresses that are not served because they are not valid.",
    }),
  };
}
