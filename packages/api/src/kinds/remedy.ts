/** Remedy: what to do about clusters whose conditions match. */
import { declareKind, type DeclaredObject } from "./builder/kind-declaration.ts";
import { choice, list, object, optional, text } from "./builder/shape.ts";

export const remedyKind = declareKind({
  group: "remedy.karmada.io",
  version: "v1alpha1",
  kind: "Remedy",
  plural: "remedies",
  namespaced: false,
  description: "Actions for clusters whose conditions match.",
  categories: ["karmada-io"],
  spec: object("Which clusters, when, which actions.", {
    clusterAffinity: optional(
      object("Which clusters; absent: all.", {
        clusterNames: optional(list("Their names.", text("A cluster's name."))),
      }),
    ),
    decisionMatches: optional(
      list(
        "The actions are wanted when any of these matches; none: always.",
        object("A requirement.", {
          clusterConditionMatch: optional(
            object("A requirement on a condition of the cluster.", {
              conditionType: text("The type of the condition."),
              operator: choice("How to compare.", ["Equal", "NotEqual"]),
              conditionStatus: text("True, False or Unknown."),
            }),
          ),
        }),
      ),
    ),
    actions: optional(
      list("What to do; TrafficControl stops traffic to the cluster.", text("An action.")),
    ),
  }),
});

export type Remedy = DeclaredObject<typeof remedyKind>;
export const remedies = remedyKind.resource;
