/** Work: what one cluster shall hold of one resource, and what became of it there. */
import {
  ageColumn,
  conditionColumn,
  declareKind,
  type DeclaredObject,
} from "./builder/kind-declaration.ts";
import { anyObject, choice, flag, integer, list, object, optional, text } from "./builder/shape.ts";
import { conditions } from "./shared/conditions.ts";
import { validatePermanentId, withPermanentId } from "./shared/permanent-id.ts";

const spec = object("What the cluster shall hold.", {
  workload: optional(
    object("The objects.", {
      manifests: optional(list("The objects, complete.", anyObject("An object."))),
    }),
  ),
  suspendDispatching: optional(flag("true: changes are held back from the cluster.")),
  preserveResourcesOnDeletion: optional(flag("Leave the objects in the cluster on deletion.")),
});

const identifier = object("Which object.", {
  ordinal: integer("Its place in the manifests."),
  group: optional(text("Its group.")),
  version: text("Its version."),
  kind: text("Its kind."),
  resource: text("Its plural; may be empty."),
  namespace: optional(text("Its namespace.")),
  name: text("Its name."),
});

const status = object("What became of it.", {
  conditions: optional(conditions("Applied, StatusObserved, Dispatching, HasBeenHealthy.")),
  manifestStatuses: optional(
    list(
      "What each object reports.",
      object("One object.", {
        identifier,
        status: optional(anyObject("Its status.")),
        health: optional(choice("Whether it is well.", ["Healthy", "Unhealthy", "Unknown"])),
      }),
    ),
  ),
});

const WORK_ID = "work.karmada.io/permanent-id";

export const workKind = declareKind({
  group: "work.karmada.io",
  version: "v1alpha1",
  kind: "Work",
  plural: "works",
  namespaced: true,
  description: "Objects for one cluster; the namespace determines the cluster.",
  shortNames: ["wk"],
  categories: ["karmada-io"],
  columns: [
    { name: "WORKLOAD-KIND", type: "string", jsonPath: ".spec.workload.manifests[*].kind" },
    conditionColumn("APPLIED", "Applied"),
    ageColumn,
  ],
  spec,
  status,
  prepare: (work, context) => withPermanentId(work, WORK_ID, context),
  rules: (work, old) => validatePermanentId(work, old, WORK_ID),
});

export type Work = DeclaredObject<typeof workKind>;
export const works = workKind.resource;
