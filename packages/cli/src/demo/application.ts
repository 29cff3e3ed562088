/** What the demonstration gives its control plane: an application of five workloads, and when a cluster counts as failed. */
import {
  type AnyObject,
  clusterTaintPolicies,
  type ClusterTaintPolicy,
  deployments,
  namespaces,
  type New,
  propagationPolicies,
  type PropagationPolicy,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

export const NAMESPACE = "demo";
/** The label by which the workloads carry their state to the next cluster. */
export const STATE_LABEL = "demo/ready";
/** The taint of a cluster that does not answer. */
export const TAINT = "demo/unreachable";

/** One runs everywhere, a part in each cluster; the others run whole in one cluster and carry state. */
const SPREAD = { name: "web", replicas: 6 };
const WHOLE = [
  { name: "cart", replicas: 2 },
  { name: "ledger", replicas: 3 },
  { name: "mail", replicas: 1 },
  { name: "search", replicas: 2 },
];

/** How many replicas each workload has, by name. */
export const REPLICAS: ReadonlyMap<string, number> = new Map(
  [SPREAD, ...WHOLE].map(({ name, replicas }) => [name, replicas]),
);

/** Creates everything; `windowSeconds`: how long a cluster must not answer before it has failed. */
export async function deployApplication(plane: Client, windowSeconds: number): Promise<void> {
  await plane.create(clusterTaintPolicies, taintPolicy(windowSeconds));
  await plane.create(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: NAMESPACE },
  });
  await plane.create(propagationPolicies, spreadPolicy());
  await plane.create(propagationPolicies, wholePolicy());
  for (const { name, replicas } of [SPREAD, ...WHOLE])
    await plane.create(deployments, deployment(name, replicas));
}

function taintPolicy(windowSeconds: number): New<ClusterTaintPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "demo" },
    spec: {
      matchConditions: [
        { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
      ],
      taintsToAdd: [
        {
          key: TAINT,
          effect: "NoExecute",
          addOnMatchSeconds: windowSeconds,
          removeOnMismatchSeconds: windowSeconds,
        },
      ],
    },
  };
}

function selected(name: string): { apiVersion: string; kind: string; name: string } {
  return { apiVersion: "apps/v1", kind: "Deployment", name };
}

function spreadPolicy(): New<PropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "spread", namespace: NAMESPACE },
    spec: {
      resourceSelectors: [selected(SPREAD.name)],
      placement: {
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Weighted",
        },
      },
    },
  };
}

function wholePolicy(): New<PropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "whole", namespace: NAMESPACE },
    spec: {
      resourceSelectors: WHOLE.map(({ name }) => selected(name)),
      placement: {
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Aggregated",
        },
      },
      failover: {
        cluster: {
          purgeMode: "Gracefully",
          tolerationSeconds: 0,
          statePreservation: {
            rules: [{ aliasLabelName: STATE_LABEL, jsonPath: "{ .readyReplicas }" }],
          },
        },
      },
    },
  };
}

export function deployment(name: string, replicas: number): New<AnyObject> {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: NAMESPACE, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "main", image: "registry.example/main:1" }] },
      },
    },
  };
}
