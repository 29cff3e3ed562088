/** What the proxy counts. */
import type { Counter, Gauge, Metrics } from "@lifeboat/kit";

export interface ProxyMetrics {
  readonly requests: Counter<"member_cluster" | "code">;
  readonly inFlight: Gauge;
  readonly tunnels: Gauge;
}

export function createProxyMetrics(metrics: Metrics): ProxyMetrics {
  return {
    requests: metrics.counter({
      name: "lifeboat_proxy_requests_total",
      help: "Requests passed on to members, by cluster and HTTP code.",
      labels: ["member_cluster", "code"],
    }),
    inFlight: metrics.gauge({
      name: "lifeboat_proxy_requests_in_flight",
      help: "Requests for members under way, streams and taken connections included.",
    }),
    tunnels: metrics.gauge({
      name: "lifeboat_proxy_tunnels",
      help: "Tunnels of agents that are open.",
    }),
  };
}
