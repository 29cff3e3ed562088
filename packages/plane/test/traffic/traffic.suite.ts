/** A fleet with an application behind an ingress, and a load balancer on paper, for the tests of this folder. */
import {
  multiClusterIngresses,
  type MultiClusterIngress,
  type New,
  propagationPolicies,
  type PropagationPolicy,
} from "@lifeboat/api";
import type { RoutingTable } from "@lifeboat/core/traffic";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { deployment, type Fleet, newObject, oneOf, resources } from "@lifeboat/testkit";
import {
  createTrafficFollower,
  DEFAULT_FOLLOWER,
  type Leaving,
  type TrafficProvider,
} from "@lifeboat/traffic";
import { GATEWAY_USER } from "../../src/plane-rights.ts";
import type { Hands } from "../failover/failover.suite.ts";

/** A load balancer that keeps the tables it was given; while `isStuck` it takes none. */
export class PaperProvider implements TrafficProvider {
  readonly name = "paper";
  readonly tables: RoutingTable[] = [];
  isStuck = false;
  under = new Set<string>();
  why: Leaving = "ends";
  /** Until this, whoever asks for what is left waits for what was seen when it asked. */
  untilLooked: Promise<void> = Promise.resolve();

  apply(table: RoutingTable): Promise<void> {
    if (this.isStuck) return Promise.reject(new Error("stuck"));
    this.tables.push(table);
    return Promise.resolve();
  }

  async leaving(): Promise<ReadonlyMap<string, Leaving>> {
    const seen = new Map([...this.under].map((pool) => [pool, this.why] as const));
    await this.untilLooked;
    return seen;
  }

  problem(): string | undefined {
    return undefined;
  }

  /** The clusters of the last table, as `m1 m2`; a draining one as `-m1`. */
  get clusters(): string {
    const backends = this.tables.at(-1)?.pools.flatMap((pool) => pool.backends) ?? [];
    return backends
      .map(({ state, cluster }) => `${state === "draining" ? "-" : ""}${cluster}`)
      .join(" ");
  }
}

/** Starts one, with what drives it; `stops` ends it. */
export async function startProvider(
  fleet: Fleet,
  stops: AbortController[],
  instance = "one",
): Promise<PaperProvider & { stop(): void }> {
  const provider = new PaperProvider();
  const ports = {
    clock: fleet.clock,
    random: fleet.random,
    log: silentLog,
    metrics: silentMetrics,
  };
  // As the gateway of `lifeboat up`: with its rights and no more.
  const client = fleet.server.client(GATEWAY_USER);
  const follower = createTrafficFollower(ports, client, provider, {
    ...DEFAULT_FOLLOWER,
    instance,
  });
  const stop = new AbortController();
  stops.push(stop);
  void follower.run(stop.signal);
  await fleet.settle();
  return Object.assign(provider, { stop: () => stop.abort() });
}

export const ingress: New<MultiClusterIngress> = {
  apiVersion: "networking.karmada.io/v1alpha1",
  kind: "MultiClusterIngress",
  metadata: { name: "web", namespace: "default" },
  spec: {
    rules: [
      {
        host: "web.example.com",
        http: {
          paths: [
            {
              path: "/",
              pathType: "Prefix",
              backend: { service: { name: "web", port: { name: "http" } } },
            },
          ],
        },
      },
    ],
  },
};
export const KEY = { namespace: "default", name: "web" };

/** A Deployment in m1, with m2 to go to, and its Service in all clusters or where it is placed. */
export async function startApplication(
  fleet: Fleet,
  hands: Hands,
  serviceIn: object = {},
  exposed: New<MultiClusterIngress> = ingress,
  type = "LoadBalancer",
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const policy = (name: string, kind: string, apiVersion: string, placement: object) =>
    ({
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name, namespace: "default" },
      spec: { resourceSelectors: [{ apiVersion, kind, name: "web" }], placement },
    }) as New<PropagationPolicy>;
  await fleet.plane.create(propagationPolicies, policy("svc", "Service", "v1", serviceIn));
  await fleet.plane.create(
    resources.services,
    newObject(
      resources.services,
      { name: "web", namespace: "default", annotations },
      {
        spec: {
          type,
          selector: { app: "web" },
          ports: [{ name: "http", port: 80 }],
        },
      },
    ),
  );
  await hands.create(
    policy("web", "Deployment", "apps/v1", oneOf("m1", "m2")),
    resources.deployments,
    deployment("web"),
  );
  await fleet.plane.create(multiClusterIngresses, exposed);
  await fleet.advance("10s");
}
