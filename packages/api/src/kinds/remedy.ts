/**
 * Remedy: what to do about clusters whose conditions match.
 *
 * 1. An entry of `decisionMatches` without a comparison is refused: it could mean always or never.
 * 2. Any action is accepted. One that this control plane does not carry out is kept, and answered with a warning.
 */
import { type FieldError, notSupported, required } from "../field-error.ts";
import { ageColumn, declareKind, type KindObject } from "./builder/kind-declaration.ts";
import { choice, list, object, optional, text } from "./builder/shape.ts";

/** The action that takes traffic away from a cluster. */
export const TRAFFIC_CONTROL = "TrafficControl";
/** The actions that this control plane carries out. */
export const REMEDY_ACTIONS: readonly string[] = Object.freeze([TRAFFIC_CONTROL]);

const CONDITION_STATUSES = ["True", "False", "Unknown"];

const spec = object("Which clusters, when, which actions.", {
  clusterAffinity: optional(
    object("Which clusters; absent, or without names: all.", {
      clusterNames: optional(list("Their names.", text("A cluster's name."))),
    }),
  ),
  decisionMatches: optional(
    list(
      "The actions are wanted when any of these matches; none: always.",
      object("A requirement.", {
        clusterConditionMatch: optional(
          object(
            "A requirement on a condition of the cluster; a condition that the cluster does not have matches nothing.",
            {
              conditionType: text("The type of the condition.", { minLength: 1 }),
              operator: choice("How to compare.", ["Equal", "NotEqual"]),
              conditionStatus: text("True, False or Unknown."),
            },
          ),
        ),
      }),
    ),
  ),
  actions: optional(
    list(
      "What to do; TrafficControl stops traffic to the cluster. None: nothing.",
      text("An action.", { minLength: 1, maxLength: 253 }),
      { maxItems: 100 },
    ),
  ),
});

export type Remedy = KindObject<typeof spec>;

export const remedyKind = declareKind({
  group: "remedy.karmada.io",
  version: "v1alpha1",
  kind: "Remedy",
  plural: "remedies",
  namespaced: false,
  description: "Actions for clusters whose conditions match.",
  categories: ["karmada-io"],
  columns: [
    { name: "ACTIONS", type: "string", jsonPath: ".spec.actions" },
    { name: "CLUSTERS", type: "string", jsonPath: ".spec.clusterAffinity.clusterNames" },
    ageColumn,
  ],
  spec,
  rules: ({ spec: { decisionMatches = [] } }) => decisionMatches.flatMap(checkMatch),
  warnings: ({ spec: { actions = [] } }) =>
    actions
      .filter((action) => !REMEDY_ACTIONS.includes(action))
      .map(
        (action) =>
          `spec.actions: this control plane does not carry out ${JSON.stringify(action)}; it is only shown on the clusters`,
      ),
});

export const remedies = remedyKind.resource;

type DecisionMatch = NonNullable<Remedy["spec"]["decisionMatches"]>[number];

function checkMatch({ clusterConditionMatch }: DecisionMatch, index: number): FieldError[] {
  const field = `spec.decisionMatches[${index}].clusterConditionMatch`;
  if (clusterConditionMatch === undefined) return [required(field)];
  const { conditionStatus } = clusterConditionMatch;
  return CONDITION_STATUSES.includes(conditionStatus)
    ? []
    : [notSupported(`${field}.conditionStatus`, conditionStatus, CONDITION_STATUSES)];
}
