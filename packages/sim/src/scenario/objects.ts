/** The objects that people write: what a step says, as Kubernetes spells it. Pure. */
import { type AnyObject, clusterTaintPolicies, type New, type Resource } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { PolicyStep, Selected, Step, WorkloadKind } from "./scenario.ts";

/** The step of this name. */
export type Of<D extends Step["do"]> = Extract<Step, { readonly do: D }>;

export const RESOURCES: Readonly<Record<WorkloadKind | "Namespace", Resource>> = {
  Deployment: builtin("apps", "deployments", "Deployment"),
  StatefulSet: builtin("apps", "statefulsets", "StatefulSet"),
  Job: builtin("batch", "jobs", "Job"),
  Service: builtin("", "services", "Service"),
  ConfigMap: builtin("", "configmaps", "ConfigMap"),
  Namespace: { ...builtin("", "namespaces", "Namespace"), namespaced: false },
};

function builtin(group: string, plural: string, kind: string): Resource {
  return { group, version: "v1", plural, kind, namespaced: true };
}

function apiVersionOf(kind: WorkloadKind): string {
  const { group, version } = RESOURCES[kind];
  return group === "" ? version : `${group}/${version}`;
}

export function workload(step: Of<"workload">): New<AnyObject> {
  const { kind, name, namespace = "default" } = step;
  const metadata = { name, namespace, labels: { app: name } };
  return { apiVersion: apiVersionOf(kind), kind, metadata, ...bodyOf(step) };
}

function bodyOf(step: Of<"workload">): object {
  const { kind, name, replicas = 1, version = 1, uses, loadBalancer = false } = step;
  const labels = { app: name };
  if (kind === "ConfigMap") return { data: { version: String(version) } };
  if (kind === "Service")
    return {
      spec: {
        ...(loadBalancer && { type: "LoadBalancer" }),
        selector: labels,
        ports: [{ port: 80 + version, protocol: "TCP" }],
      },
    };
  const env = uses === undefined ? {} : { envFrom: [{ configMapRef: { name: uses } }] };
  const containers = [{ name: "main", image: `registry.test/app:${version}`, ...env }];
  if (kind === "Job") {
    const pods = { metadata: { labels }, spec: { containers, restartPolicy: "Never" } };
    return { spec: { completions: replicas, parallelism: replicas, template: pods } };
  }
  return {
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
      ...(kind === "StatefulSet" && { serviceName: name }),
    },
  };
}

export function policy(step: PolicyStep): New<AnyObject> {
  const { name, namespace = "default", application } = step;
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: {
      name,
      namespace,
      annotations: {
        ...(step.approval === true && { [wellKnown.APPROVAL]: "Required" }),
        ...(step.failback !== undefined && { [wellKnown.FAILBACK]: step.failback }),
      },
    },
    spec: {
      resourceSelectors: step.selects.map(selector),
      ...(step.priority !== undefined && {
        schedulePriority: {
          priorityClassSource: "KubePriorityClass",
          priorityClassName: `priority-${step.priority}`,
        },
      }),
      ...failoverOf(step),
      placement: placementOf(step),
      ...((step.dependencies === true || application !== undefined) && { propagateDeps: true }),
      ...(step.overwrite === true && { conflictResolution: "Overwrite" }),
      ...(step.preserve === true && { preserveResourcesOnDeletion: true }),
    },
  };
}

export function priorityClass(value: number): New<AnyObject> {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: `priority-${value}` },
    value,
  };
}

function selector({ kind, name }: Selected): object {
  return { apiVersion: apiVersionOf(kind), kind, name };
}

function failoverOf(step: PolicyStep): object {
  const { purgeMode, failoverAfter, state, application } = step;
  const isForClusters = [purgeMode, failoverAfter, state].some((given) => given !== undefined);
  const failover = {
    ...(isForClusters && {
      cluster: {
        ...(purgeMode !== undefined && { purgeMode }),
        ...(failoverAfter !== undefined && { tolerationSeconds: failoverAfter }),
        ...statePreservation(state),
      },
    }),
    ...(application !== undefined && { application: applicationFailover(application) }),
  };
  return Object.keys(failover).length === 0 ? {} : { failover };
}

function applicationFailover(given: NonNullable<PolicyStep["application"]>): object {
  const { tolerationSeconds, purgeMode, gracePeriodSeconds, state } = given;
  return {
    decisionConditions: { tolerationSeconds },
    purgeMode,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...statePreservation(state),
  };
}

function statePreservation(state: PolicyStep["state"]): object {
  if (state === undefined) return {};
  const rules = Object.entries(state).map(([aliasLabelName, jsonPath]) => ({
    aliasLabelName,
    jsonPath,
  }));
  return { statePreservation: { rules } };
}

function placementOf(step: PolicyStep): object {
  const { clusters: clusterNames, affinities, tolerates, divided = false } = step;
  const spread = step.oneCopy === true ? { min: 1, max: 1 } : step.spread;
  const preference = step.aggregated === true ? "Aggregated" : "Weighted";
  return {
    ...(spread !== undefined && { spreadConstraints: [spreadConstraint(spread)] }),
    ...(affinities === undefined
      ? clusterNames !== undefined && { clusterAffinity: { clusterNames } }
      : { clusterAffinities: affinities.map(affinityGroup) }),
    ...(tolerates !== undefined && { clusterTolerations: [toleration(tolerates)] }),
    replicaScheduling: {
      replicaSchedulingType: divided ? "Divided" : "Duplicated",
      ...(divided && { replicaDivisionPreference: preference }),
    },
  };
}

function spreadConstraint({ min, max }: NonNullable<PolicyStep["spread"]>): object {
  return {
    spreadByField: "cluster",
    ...(min !== undefined && { minGroups: min }),
    ...(max !== undefined && { maxGroups: max }),
  };
}

function affinityGroup(clusterNames: readonly string[], i: number): object {
  return { affinityName: `group-${i + 1}`, clusterNames };
}

function toleration({ effect, seconds }: NonNullable<PolicyStep["tolerates"]>): object {
  const forSoLong = seconds === undefined ? {} : { tolerationSeconds: seconds };
  return { operator: "Exists", effect, ...forSoLong };
}

export function taintPolicy(step: Of<"taint-policy">): New<AnyObject> {
  const { name, condition, statuses, unless, effect, key = `test/${name}` } = step;
  const matching = { conditionType: condition, operator: "In", statusValues: statuses };
  return {
    apiVersion: `${clusterTaintPolicies.group}/${clusterTaintPolicies.version}`,
    kind: clusterTaintPolicies.kind,
    metadata: { name },
    spec: {
      matchConditions: [
        matching,
        ...(unless === undefined
          ? []
          : [
              {
                conditionType: unless.condition,
                operator: "NotIn",
                statusValues: unless.statuses,
              },
            ]),
      ],
      taintsToAdd: [
        {
          key,
          effect,
          // Windows of 0 seconds are refused at admission; scenarios from before that mean the shortest one.
          addOnMatchSeconds: Math.max(1, step.addAfter),
          removeOnMismatchSeconds: Math.max(1, step.removeAfter),
        },
      ],
    },
  };
}

export function override(step: Of<"override">): New<AnyObject> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: step.name, namespace: "default" },
    spec: {
      resourceSelectors: [selector(step.selects)],
      overrideRules: [
        {
          targetCluster: { clusterNames: [step.cluster] },
          overriders: { plaintext: [patchOf(step)] },
        },
      ],
    },
  };
}

function patchOf({ selects, value }: Of<"override">): object {
  const image = "/spec/template/spec/containers/0/image";
  if (selects.kind === "ConfigMap") return { path: "/data/version", operator: "replace", value };
  if (selects.kind === "Service")
    return { path: "/spec/sessionAffinity", operator: "add", value: "ClientIP" };
  return { path: image, operator: "replace", value };
}
