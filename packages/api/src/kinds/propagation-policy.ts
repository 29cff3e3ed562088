/**
 * PropagationPolicy and ClusterPropagationPolicy: which resources go to which clusters, and what happens when a cluster
 * fails. The two differ in scope only.
 */
import { type FieldError, forbidden, invalid, required } from "../field-error.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { isEmpty, isList, objectsOf, setTo, within } from "./builder/changes.ts";
import {
  ageColumn,
  declareKind,
  type DeclaredObject,
  type KindObject,
  type KindSettings,
  type WriteContext,
} from "./builder/kind-declaration.ts";
import {
  choice,
  flag,
  integer,
  list,
  object,
  optional,
  text,
  withDefault,
} from "./builder/shape.ts";
import { resourceSelector, selectInNamespace, validateSelectors } from "./shared/affinity.ts";
import {
  failover,
  failoverWarnings,
  prepareFailover,
  validateFailover,
} from "./shared/failover.ts";
import { validatePermanentId, withPermanentId } from "./shared/permanent-id.ts";
import { placement, preparePlacement, validatePlacement } from "./shared/placement.ts";
import { dispatchingSuspension } from "./shared/suspension.ts";

const spec = object("What is propagated, and how.", {
  resourceSelectors: list("Which resources.", resourceSelector, { minItems: 1 }),
  association: optional(flag("Without meaning; use propagateDeps.")),
  propagateDeps: optional(
    flag("What the resources refer to (ConfigMaps, Secrets, ...) goes where they go."),
  ),
  placement: optional(placement),
  priority: withDefault(
    integer("Among policies that match the same resource the highest wins."),
    0,
  ),
  preemption: withDefault(
    choice("Whether this policy may take over resources that another has claimed.", [
      "Always",
      "Never",
    ]),
    "Never",
  ),
  dependentOverrides: optional(
    list(
      "Override policies that must exist before this one takes effect.",
      text("A policy's name."),
    ),
  ),
  schedulerName: withDefault(
    text("The scheduler that places the resources; cannot be changed."),
    "default-scheduler",
  ),
  failover: optional(failover),
  conflictResolution: withDefault(
    choice("What to do about an object of the same name that is already in the member.", [
      "Abort",
      "Overwrite",
    ]),
    "Abort",
  ),
  activationPreference: optional(
    choice("Lazy: a change of the policy takes effect when the resource itself changes.", ["Lazy"]),
  ),
  suspension: optional(dispatchingSuspension),
  preserveResourcesOnDeletion: optional(
    flag(
      "Leave the copies in the members when the resource is deleted here, or a cluster unjoined.",
    ),
  ),
  schedulePriority: optional(
    object(
      "The order in which workloads leave a failed cluster: those of a higher class first. Without effect on scheduling.",
      {
        priorityClassSource: choice("Where the class is defined.", ["KubePriorityClass"]),
        priorityClassName: text("The name of the class."),
      },
    ),
  ),
});

type Policy = KindObject<typeof spec>;

const shared = {
  group: "policy.karmada.io",
  version: "v1alpha1",
  categories: ["karmada-io"],
  columns: [
    { name: "CONFLICT-RESOLUTION", type: "string", jsonPath: ".spec.conflictResolution" },
    { name: "PRIORITY", type: "string", jsonPath: ".spec.priority" },
    ageColumn,
  ],
  spec,
} as const;

const POLICY_ID = "propagationpolicy.karmada.io/permanent-id";
const CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id";
const POLICY_FINALIZER = "karmada.io/propagation-policy-controller";
const CLUSTER_POLICY_FINALIZER = "karmada.io/cluster-propagation-policy-controller";

export const propagationPolicyKind = declareKind({
  ...shared,
  kind: "PropagationPolicy",
  plural: "propagationpolicies",
  namespaced: true,
  description: "Selects resources of its own namespace and the clusters they go to.",
  shortNames: ["pp"],
  prepare: (policy, context) =>
    preparePolicy(
      withFinalizer(withPermanentId(policy, POLICY_ID, context), POLICY_FINALIZER, context),
    ),
  rules: (policy, old) => validatePolicy(policy, old, POLICY_ID),
  warnings: policyWarnings,
});

export type PropagationPolicy = DeclaredObject<typeof propagationPolicyKind>;
export const propagationPolicies = propagationPolicyKind.resource;

export const clusterPropagationPolicyKind = declareKind({
  ...shared,
  kind: "ClusterPropagationPolicy",
  plural: "clusterpropagationpolicies",
  namespaced: false,
  description: "Selects resources of any namespace, or of none, and the clusters they go to.",
  shortNames: ["cpp"],
  prepare: (policy, context) =>
    preparePolicy(
      withFinalizer(
        withPermanentId(policy, CLUSTER_POLICY_ID, context),
        CLUSTER_POLICY_FINALIZER,
        context,
      ),
    ),
  rules: (policy, old) => validatePolicy(policy, old, CLUSTER_POLICY_ID),
  warnings: policyWarnings,
});

export type ClusterPropagationPolicy = DeclaredObject<typeof clusterPropagationPolicyKind>;
export const clusterPropagationPolicies = clusterPropagationPolicyKind.resource;

/** A policy leaves only after what it claimed was released; one that is leaving may drop its finalizer. */
function withFinalizer(policy: JsonObject, name: string, { old }: WriteContext): JsonObject {
  const stored = isJsonObject(old?.["metadata"]) ? old["metadata"] : {};
  if (!isEmpty(stored["deletionTimestamp"])) return policy;
  return within(policy, "metadata", (metadata) => {
    const finalizers = metadata["finalizers"] ?? [];
    if (!isList(finalizers) || finalizers.includes(name)) return metadata;
    return { ...metadata, finalizers: [...finalizers, name] };
  });
}

function preparePolicy(policy: JsonObject): JsonObject {
  return within(policy, "spec", (given) => {
    const selected = selectInNamespace(given, policy);
    const followed = selectsImport(selected) ? setTo(selected, "propagateDeps", true) : selected;
    return within(within(followed, "placement", preparePlacement), "failover", prepareFailover);
  });
}

/** An imported Service is of no use without the slices that follow it. */
function selectsImport(given: JsonObject): boolean {
  return objectsOf(given["resourceSelectors"]).some(
    ({ apiVersion, kind }) =>
      apiVersion === "multicluster.x-k8s.io/v1alpha1" && kind === "ServiceImport",
  );
}

function validatePolicy(policy: Policy, old: Policy | undefined, idLabel: string): FieldError[] {
  const { spec: given } = policy;
  const propagateDeps = given.propagateDeps ?? false;
  return [
    ...validatePermanentId(policy, old, idLabel),
    ...requirePermanentId(policy, idLabel),
    ...validateSelectors(
      given.resourceSelectors,
      "spec.resourceSelectors",
      policy.metadata.namespace ?? "",
    ),
    ...validatePreemption(given),
    ...validatePlacement(given.placement, "spec.placement"),
    ...validateSchedulerName(given.schedulerName, old?.spec.schedulerName),
    ...validateFailover(given.failover, old?.spec.failover, "spec.failover", propagateDeps),
    ...validateSuspension(given),
  ];
}

/** What a policy asks for that is accepted and not done. */
function policyWarnings({ spec: given }: Policy, settings: KindSettings): readonly string[] {
  const keepsNothing = settings.statefulFailoverInjection === false;
  return [
    ...(keepsNothing ? failoverWarnings(given.failover, "spec.failover") : []),
    ...(given.schedulePriority === undefined
      ? []
      : [
          "spec.schedulePriority: orders what leaves a failed cluster; it has no effect on the order of scheduling",
        ]),
    ...(given.placement?.workloadAffinity === undefined
      ? []
      : [
          "spec.placement.workloadAffinity: has no effect yet; workloads are placed without regard to each other",
        ]),
  ];
}

function requirePermanentId({ metadata }: KubeObject, label: string): FieldError[] {
  return (metadata.labels?.[label] ?? "") === "" ? [required(`metadata.labels[${label}]`)] : [];
}

function validatePreemption({ preemption, resourceSelectors }: Policy["spec"]): FieldError[] {
  if (preemption !== "Always") return [];
  return resourceSelectors.flatMap(({ name = "" }, i) =>
    name === ""
      ? [
          required(
            `spec.resourceSelectors[${i}].name`,
            "a policy that preempts names its resources",
          ),
        ]
      : [],
  );
}

function validateSchedulerName(now: string | undefined, before: string | undefined): FieldError[] {
  if (before === undefined || before === now) return [];
  return [invalid("spec.schedulerName", now, "cannot be changed")];
}

function validateSuspension({ suspension }: Policy["spec"]): FieldError[] {
  const clusters = suspension?.dispatchingOnClusters?.clusterNames ?? [];
  if (suspension?.dispatching !== true || clusters.length === 0) return [];
  return [
    forbidden(
      "spec.suspension.dispatchingOnClusters",
      "cannot be used together with dispatching: true, which suspends all clusters",
    ),
  ];
}
