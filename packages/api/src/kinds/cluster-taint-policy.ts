/**
 * ClusterTaintPolicy: which taints clusters get by their conditions. Two spellings, never mixed:
 *
 * - with windows: `targetCluster`, `matchConditions`, `taintsToAdd`. The taints come when the conditions have matched for
 *   `addOnMatchSeconds` and go when they have not for `removeOnMismatchSeconds`. No conditions: always.
 * - without: `targetClusters`, `addOnConditions`, `removeOnConditions`, `taints`. The taints come when all of the first
 *   match, and go only when all of the second do. No conditions: never.
 */
import { type FieldError, forbidden, required } from "../field-error.ts";
import { declareKind, type KindObject } from "./builder/kind-declaration.ts";
import { choice, integer, list, object, optional, text, withDefault } from "./builder/shape.ts";
import { clusterAffinity, validateAffinity } from "./shared/affinity.ts";
import { TAINT_EFFECTS, validateTaints } from "./shared/taints.ts";

const matchCondition = object(
  "A requirement on a condition of the cluster; a condition the cluster does not have matches nothing.",
  {
    conditionType: text("The type of the condition, such as Ready."),
    operator: choice("Whether the status must be among the values.", ["In", "NotIn"]),
    statusValues: list("The values.", choice("A status.", ["True", "False", "Unknown"])),
  },
);

const taintFields = {
  key: text("A label key.", { minLength: 1 }),
  effect: choice(
    "PreferNoSchedule makes the cluster come after others. NoSchedule keeps new workloads away. NoExecute also moves those that do not tolerate it; " +
      "placement.clusterTolerations applies. PreferNoExecute moves only those whose policy sets failover.cluster, whose " +
      "tolerationSeconds applies.",
    TAINT_EFFECTS,
  ),
  value: optional(text("A label value.")),
} as const;

const spec = object("Which clusters, when, which taints.", {
  targetCluster: optional(clusterAffinity("Which clusters; absent: all.")),
  matchConditions: optional(
    list("The taints are wanted while all of these match; none: always.", matchCondition),
  ),
  taintsToAdd: optional(
    list(
      "Taints with windows.",
      object("A taint with its windows.", {
        ...taintFields,
        addOnMatchSeconds: withDefault(
          integer("How long the conditions must match before the taint is added.", { minimum: 1 }),
          300,
        ),
        removeOnMismatchSeconds: withDefault(
          integer("How long they must not match before it is removed.", { minimum: 1 }),
          180,
        ),
      }),
    ),
  ),
  targetClusters: optional(clusterAffinity("The other spelling: which clusters; absent: all.")),
  addOnConditions: optional(
    list("The other spelling: taints are added when all match; none: never.", matchCondition),
  ),
  removeOnConditions: optional(
    list("The other spelling: taints are removed when all match; none: never.", matchCondition),
  ),
  taints: optional(
    list("The other spelling: the taints.", object("A taint.", taintFields), { minItems: 1 }),
  ),
});

export type ClusterTaintPolicy = KindObject<typeof spec>;

export const clusterTaintPolicyKind = declareKind({
  group: "policy.karmada.io",
  version: "v1alpha1",
  kind: "ClusterTaintPolicy",
  plural: "clustertaintpolicies",
  namespaced: false,
  description: "Adds taints to clusters, and removes them, by the conditions of the clusters.",
  spec,
  rules: validatePolicy,
});

export const clusterTaintPolicies = clusterTaintPolicyKind.resource;

const WITH_WINDOWS = ["targetCluster", "matchConditions", "taintsToAdd"] as const;
const WITHOUT_WINDOWS = [
  "targetClusters",
  "addOnConditions",
  "removeOnConditions",
  "taints",
] as const;

function validatePolicy({ spec: given }: ClusterTaintPolicy): FieldError[] {
  return [
    ...validateSpelling(given),
    ...validateAffinity(given.targetCluster, "spec.targetCluster"),
    ...validateAffinity(given.targetClusters, "spec.targetClusters"),
    ...validateTaints(given.taintsToAdd, "spec.taintsToAdd"),
    ...validateTaints(given.taints, "spec.taints"),
  ];
}

function validateSpelling(given: ClusterTaintPolicy["spec"]): FieldError[] {
  const first = WITH_WINDOWS.find((field) => given[field] !== undefined);
  const others = WITHOUT_WINDOWS.filter((field) => given[field] !== undefined);
  if (first !== undefined)
    return others.map((field) =>
      forbidden(
        `spec.${field}`,
        `belongs to another spelling than ${first}; the two cannot be mixed`,
      ),
    );
  return others.length > 0 && given.taints === undefined ? [required("spec.taints")] : [];
}
