/** Makers for tests of traffic: ingresses, copies and clusters. */
import type {
  Cluster,
  EvictionTask,
  MultiClusterIngress,
  ResourceBinding,
  Work,
} from "@lifeboat/api";
import type { BackendsView, Copies } from "./backends.ts";
import type { PublishedBackends, PublishedCluster } from "./published.ts";

type Rules = NonNullable<MultiClusterIngress["spec"]["rules"]>;
export type Path = NonNullable<NonNullable<Rules[number]["http"]>["paths"]>[number];

export function pathTo(service: string, path = "/", changes: Partial<Path> = {}): Path {
  const backend = { service: { name: service, port: { number: 80 } } };
  return { path, pathType: "Prefix", backend, ...changes };
}

export function ingressOf(
  paths: readonly Path[],
  changes: {
    readonly name?: string;
    readonly host?: string;
    readonly created?: string;
    readonly blocked?: readonly string[];
    readonly published?: PublishedBackends;
    readonly spec?: Partial<MultiClusterIngress["spec"]>;
  } = {},
): MultiClusterIngress {
  const { name = "web", host = "web.example.com", created, blocked, published, spec } = changes;
  return {
    apiVersion: "networking.karmada.io/v1alpha1",
    kind: "MultiClusterIngress",
    metadata: {
      name,
      namespace: "default",
      uid: name,
      resourceVersion: "1",
      creationTimestamp: created ?? "2026-01-01T00:00:00Z",
      ...(published !== undefined && {
        annotations: { "lifeboat.dev/backends": JSON.stringify(published) },
      }),
    },
    spec: { rules: [{ host, http: { paths } }], ...spec },
    ...(blocked !== undefined && { status: { trafficBlockClusters: blocked } }),
  };
}

export function servedBy(
  clusters: Readonly<Record<string, Partial<PublishedCluster>>>,
  generation = 1,
): PublishedBackends {
  const of = ([name, given]: readonly [string, Partial<PublishedCluster>], i: number) =>
    [name, { addresses: [`10.0.0.${i + 1}`], state: "serving", weight: 1, ...given }] as const;
  return {
    generation,
    services: {
      web: {
        ports: [{ name: "http", port: 80 }],
        clusters: Object.fromEntries(Object.entries(clusters).map(of)),
        bindings: ["web-deployment", "web-service"],
      },
    },
  };
}

const LABELS = { app: "web" };
const MANIFESTS: Readonly<Record<string, object>> = {
  Service: {
    apiVersion: "v1",
    kind: "Service",
    spec: {
      selector: LABELS,
      ports: [
        { name: "http", port: 80 },
        { port: 53, protocol: "UDP" },
      ],
    },
  },
  Deployment: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    spec: { template: { metadata: { labels: LABELS } } },
  },
};

export interface CopyState {
  readonly ip?: string;
  /** The node port of port 80. */
  readonly nodePort?: number;
  /** What the member reports beside it. */
  readonly status?: object;
  readonly healthy?: boolean;
  readonly going?: boolean;
}

/** A Service or Deployment `web`: where it is placed, what leaves, and the copies that exist. */
export function copiesOf(
  kind: "Deployment" | "Service",
  result: Readonly<Record<string, number>>,
  works: Readonly<Record<string, CopyState>>,
  tasks: readonly EvictionTask[] = [],
): Copies {
  const apiVersion = kind === "Service" ? "v1" : "apps/v1";
  const binding = {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      name: `web-${kind.toLowerCase()}`,
      namespace: "default",
      uid: kind,
      resourceVersion: "1",
      generation: 1,
      labels: { "propagationpolicy.karmada.io/permanent-id": "p" },
    },
    spec: {
      resource: { apiVersion, kind, namespace: "default", name: "web" },
      clusters: Object.entries(result).map(([name, replicas]) => ({ name, replicas })),
      gracefulEvictionTasks: tasks,
    },
    status: { schedulerObservedGeneration: 1 },
  } as unknown as ResourceBinding;
  return { binding, works: Object.entries(works).map(([name, one]) => workIn(kind, name, one)) };
}

function workIn(
  kind: string,
  cluster: string,
  { ip, nodePort, status, healthy = true, going }: CopyState,
): Work {
  const condition = (type: string) => ({
    type,
    status: "True" as const,
    reason: "Test",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    observedGeneration: 1,
  });
  const identifier = { ordinal: 0, version: "v1", kind, resource: "", name: "web" };
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      name: "web",
      namespace: `karmada-es-${cluster}`,
      uid: `${kind} ${cluster}`,
      resourceVersion: "1",
      generation: 1,
      ...(going === true && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: { workload: { manifests: [MANIFESTS[kind] as never] } },
    status: {
      conditions: [condition("Applied"), condition("StatusObserved")],
      manifestStatuses: [
        {
          identifier,
          health: healthy ? "Healthy" : "Unhealthy",
          ...((ip !== undefined || nodePort !== undefined || status !== undefined) && {
            status: {
              ...(ip !== undefined && { loadBalancer: { ingress: [{ ip }] } }),
              ...(nodePort !== undefined && { nodePorts: [{ port: 80, nodePort }] }),
              ...status,
            },
          }),
        },
      ],
    },
  } as unknown as Work;
}

export function clusterNamed(name: string, ready: "True" | "False" = "True"): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { syncMode: "Push" },
    status: {
      conditions: [
        {
          type: "Ready",
          status: ready,
          reason: "Test",
          message: "",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  };
}

export function leavingFrom(fromCluster: string, purgeMode = "Gracefully"): EvictionTask {
  return {
    fromCluster,
    purgeMode: purgeMode as EvictionTask["purgeMode"] & string,
    reason: "TaintUntolerated",
    producer: "TaintManager",
  };
}

export function viewOf(
  service: Copies | undefined,
  workloads: readonly Copies[],
  changes: Partial<BackendsView> = {},
): BackendsView {
  return {
    ingress: ingressOf([pathTo("web")]),
    services: new Map(service === undefined ? [] : [["web", service]]),
    workloads,
    clusters: new Map(["a", "b", "c"].map((name) => [name, clusterNamed(name)])),
    exposures: new Map(),
    ...changes,
  };
}
