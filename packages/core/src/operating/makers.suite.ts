/** Objects for the tests of foresight: a cluster with room, a rule that taints a dead one, a workload of two replicas. */
import type { Cluster, ClusterTaintPolicy, ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";

export const NOW = instantOf(Date.UTC(2026, 0, 1));
const CREATED = "2025-12-01T00:00:00Z";

export function cluster(name: string, pods = 50): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: CREATED },
    spec: { syncMode: "Push" },
    status: {
      resourceSummary: { allocatable: { pods: String(pods) }, allocated: {}, allocating: {} },
      apiEnablements: [
        { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
      ],
      conditions: [
        { type: "Ready", status: "True", reason: "", message: "", lastTransitionTime: CREATED },
      ],
    },
  } as unknown as Cluster;
}

/** The same with an agent that pulls. */
export function pulling(given: Cluster): Cluster {
  return { ...given, spec: { ...given.spec, syncMode: "Pull" } };
}

/** `statuses`: of Ready, those that the rule is for. */
export function rule(effect: string, seconds: number, statuses = ["False"]): ClusterTaintPolicy {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "dead", uid: effect, generation: 1, creationTimestamp: CREATED },
    spec: {
      matchConditions: [{ conditionType: "Ready", operator: "In", statusValues: statuses }],
      taintsToAdd: [{ key: "dead", effect, addOnMatchSeconds: seconds }],
    },
  } as unknown as ClusterTaintPolicy;
}

export function binding(spec: object = {}, name = "web"): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      name: `${name}-deployment`,
      namespace: "default",
      uid: name,
      generation: 1,
      labels: { "propagationpolicy.karmada.io/permanent-id": "p" },
      annotations: {
        "propagationpolicy.karmada.io/namespace": "default",
        "propagationpolicy.karmada.io/name": "p",
      },
    },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name },
      replicas: 2,
      placement: {},
      clusters: [{ name: "m1", replicas: 2 }],
      schedulerName: "default-scheduler",
      ...spec,
    },
  } as unknown as ResourceBinding;
}
