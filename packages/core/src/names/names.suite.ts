/** The example of the federation's names: StatefulSet store, Service etcd, eleven replicas over c1, c2 and c3. */
import type { Cluster } from "@lifeboat/api";
import type { NamesView } from "./read-sets.ts";

export const EXAMPLE_ZONE = { zone: "example.com", federation: "myfederation" } as const;
export const EXAMPLE_PODS: readonly string[] = [
  ...[0, 1, 2, 3].map((n) => `store-c1-${n}`),
  ...[0, 1, 2, 3].map((n) => `store-c2-${n}`),
  ...[0, 1, 2].map((n) => `store-c3-${n}`),
];

export interface Example {
  /** Pods in the replica list; undefined: the annotation is absent. */
  readonly listed: readonly string[] | undefined;
  readonly clusters: Readonly<Record<string, "Ready" | "NotReady" | "Blocked">>;
  /** What a pod's Service has; absent: `192.0.2.<n>`. */
  readonly services: Readonly<Record<string, unknown>>;
  readonly shares?: string;
  /** By pod: what clusters report about its Service. */
  readonly reports?: Readonly<Record<string, readonly unknown[]>>;
  readonly governing: "there" | "absent";
  readonly named: string | undefined;
}

export const EXAMPLE: Example = {
  listed: EXAMPLE_PODS,
  clusters: { c1: "Ready", c2: "Ready", c3: "Ready" },
  services: {},
  governing: "there",
  named: "true",
};

const NAMED = "federation.kubernetes.io/statefulset-lb-needed";
const LIST = "federation.kubernetes.io/stateful-replica-list";

/** The objects of the example, with changes. */
export function exampleView(changes: Partial<Example> = {}): NamesView {
  const example = { ...EXAMPLE, ...changes };
  const governing = {
    metadata: {
      annotations: {
        ...(example.named === undefined ? {} : { [NAMED]: example.named }),
        ...(example.listed === undefined ? {} : { [LIST]: example.listed.join(", ") }),
      },
    },
    spec: { clusterIP: "None", ports: [{ name: "store", port: 80 }] },
  };
  const set = {
    metadata: {
      namespace: "mynamespace",
      name: "store",
      annotations: {
        "federation.kubernetes.io/federated": "true",
        ...(example.named === undefined ? {} : { [NAMED]: example.named }),
      },
    },
    spec: { serviceName: "etcd" },
  };
  return {
    statefulSets: [set],
    service: (namespace, name) => {
      if (namespace !== "mynamespace") return undefined;
      if (name === "etcd") return example.governing === "there" ? governing : undefined;
      if (Object.hasOwn(example.services, name)) return example.services[name];
      const n = EXAMPLE_PODS.indexOf(name) + 1;
      return n === 0 ? undefined : balanced({ ip: `192.0.2.${n}` });
    },
    binding: (kind, _namespace, name) => {
      if (kind === "Service")
        return { status: { aggregatedStatus: example.reports?.[name] ?? [] } };
      if (example.shares === undefined) return undefined;
      return { metadata: { annotations: { "lifeboat.dev/federated-shares": example.shares } } };
    },
    cluster: (name) => clusterOf(name, example.clusters[name]),
  };
}

/** A Service whose load balancer gave this. */
export function balanced(...ingress: readonly unknown[]): unknown {
  return { spec: { type: "LoadBalancer" }, status: { loadBalancer: { ingress } } };
}

function clusterOf(name: string, state: string | undefined): Cluster | undefined {
  if (state === undefined) return undefined;
  const status = {
    conditions: [{ type: "Ready", status: state === "NotReady" ? "False" : "True" }],
    ...(state === "Blocked" ? { remedyActions: ["TrafficControl"] } : {}),
  };
  return { metadata: { name }, spec: {}, status } as unknown as Cluster;
}
