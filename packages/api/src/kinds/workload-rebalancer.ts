/** WorkloadRebalancer: an order to place some workloads anew. */
import { declareKind, type DeclaredObject } from "./builder/kind-declaration.ts";
import { choice, integer, list, object, optional, text, time } from "./builder/shape.ts";
import { observedGeneration } from "./shared/conditions.ts";

const workload = object("A workload.", {
  apiVersion: text("Its group and version."),
  kind: text("Its kind."),
  name: text("Its name."),
  namespace: optional(text("Its namespace.")),
});

export const workloadRebalancerKind = declareKind({
  group: "apps.karmada.io",
  version: "v1alpha1",
  kind: "WorkloadRebalancer",
  plural: "workloadrebalancers",
  namespaced: false,
  description: "An order to place workloads again.",
  spec: object("The workloads to place again.", {
    workloads: list("The workloads.", workload, { minItems: 1 }),
    ttlSecondsAfterFinished: optional(
      integer("Delete the order this long after it is carried out; absent: never.", { minimum: 0 }),
    ),
  }),
  status: object("What became of it.", {
    observedWorkloads: optional(
      list(
        "Each workload.",
        object("One workload.", {
          workload,
          result: optional(choice("What became of it.", ["Successful", "Failed"])),
          reason: optional(text("Why it failed, such as ReferencedBindingNotFound.")),
        }),
      ),
    ),
    observedGeneration: optional(observedGeneration),
    finishTime: optional(time("When all workloads had a result.")),
  }),
});

export type WorkloadRebalancer = DeclaredObject<typeof workloadRebalancerKind>;
export const workloadRebalancers = workloadRebalancerKind.resource;
