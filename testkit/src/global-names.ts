/** A federated StatefulSet with global names as the control plane has it: its Services, its clusters, and what they report. */
import {
  type AnyObject,
  clusters,
  namespaces,
  type New,
  services,
  statefulSets,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

export interface GlobalExample {
  /** How many replicas each cluster has: `{ c1: 4 }`. */
  readonly shares: Readonly<Record<string, number>>;
  readonly set?: string;
}

const NAMESPACE = "mynamespace";
const GOVERNING = "etcd";
const NAMED = "federation.kubernetes.io/statefulset-lb-needed";
const FEDERATED = "federation.kubernetes.io/federated";
const REPLICAS = "federation.kubernetes.io/stateful-replica-list";
const PORTS = [{ name: "store", port: 80 }];

export function podsOf({ shares, set = "store" }: GlobalExample): readonly string[] {
  return Object.entries(shares).flatMap(([cluster, count]) =>
    Array.from({ length: count }, (_none, ordinal) => `${set}-${cluster}-${ordinal}`),
  );
}

/** Makes all objects; every pod has the address `192.0.<n / 250>.<n % 250 + 1>`, every cluster is Ready. */
export async function putGlobalExample(plane: Client, example: GlobalExample): Promise<void> {
  const { shares, set = "store" } = example;
  const pods = podsOf(example);
  await plane.create(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: NAMESPACE },
  });
  for (const name of Object.keys(shares)) {
    await plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: { syncMode: "Pull" },
    });
    await reportReady(plane, name, "True");
  }
  await plane.create(
    services,
    service(
      GOVERNING,
      { clusterIP: "None", selector: { app: "etcd" } },
      {
        [NAMED]: "true",
        [REPLICAS]: pods.join(", "),
      },
    ),
  );
  await plane.create(statefulSets, statefulSet(set, pods.length));
  for (const [index, pod] of pods.entries()) {
    const balanced = { type: "LoadBalancer", selector: { "federated-statefulset": pod } };
    const made = await plane.create(services, service(pod, balanced));
    await giveAddress(plane, made, [`192.0.${Math.floor(index / 250)}.${(index % 250) + 1}`]);
  }
}

/** Writes what a load balancer gave. */
export async function giveAddress(
  plane: Client,
  object: AnyObject,
  addresses: readonly string[],
): Promise<void> {
  const ingress = addresses.map((ip) => ({ ip }));
  await plane.update(
    services,
    { ...object, status: { loadBalancer: { ingress } } },
    { subresource: "status" },
  );
}

/** Writes the condition Ready of a Cluster. */
export async function reportReady(
  plane: Client,
  name: string,
  status: "True" | "False",
): Promise<void> {
  const cluster = await plane.get(clusters, { namespace: "", name });
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const ready = { type: "Ready", status, reason: "Reported", message: "", lastTransitionTime };
  await plane.update(
    clusters,
    { ...cluster, status: { ...cluster.status, conditions: [ready] } },
    { subresource: "status" },
  );
}

/** Writes which identities are assigned, as a scale-down does. */
export async function assignPods(plane: Client, pods: readonly string[]): Promise<void> {
  const body = { metadata: { annotations: { [REPLICAS]: pods.join(", ") } } };
  await plane.patch(services, { namespace: NAMESPACE, name: GOVERNING }, { type: "merge", body });
}

function service(
  name: string,
  spec: Readonly<Record<string, unknown>>,
  annotations: Readonly<Record<string, string>> = {},
): New<AnyObject> {
  const metadata = { namespace: NAMESPACE, name, annotations };
  return { apiVersion: "v1", kind: "Service", metadata, spec: { ports: PORTS, ...spec } };
}

function statefulSet(name: string, replicas: number): New<AnyObject> {
  const labels = { app: "etcd" };
  const annotations = { [FEDERATED]: "true", [NAMED]: "true" };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: "etcd", image: "etcd:3" }] },
  };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { namespace: NAMESPACE, name, annotations },
    spec: { serviceName: GOVERNING, replicas, selector: { matchLabels: labels }, template },
  };
}
