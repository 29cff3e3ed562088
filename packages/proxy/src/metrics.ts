/** What the proxy counts. */
import type { Counter, Gauge, Metrics } from "@lifeboat/kit";

export interface ProxyMetrics {
  readonly requests: Counter<"member_cluster" | "code">;
  readonly inFlight: Gauge;
  /** 1 for each cluster whose tunnel is open. */
  readonly tunnels: Gauge<"member_cluster">;
}

export function createProxyMetrics(metrics: Metrics): ProxyMetrics {
  return {
    requests: metrics.counter({
      name: "lifeboat_proxy_requests_total",
      help: "Requests passed on to members, by cluster and the HTTP code that the caller got.",
      labels: ["member_cluster", "code"],
    }),
    inFlight: metrics.gauge({
      name: "lifeboat_proxy_requests_in_flight",
      help: "Requests for members under way, streams and taken connections included.",
    }),
    tunnels: metrics.gauge({
      name: "lifeboat_proxy_tunnels",
      help: "1 for each cluster whose agent has a tunnel open; sum counts them. lifeboat status shows which are away.",
      labels: ["member_cluster"],
    }),
  };
}
