/** StatefulSet (apps/v1). Claims that the set makes from its own templates are not dependencies. */
import { countAt, type Fields, fieldsAt, listAt, textAt, withValue } from "../../fields.ts";
import type { Dependency, KindHooks } from "../interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { replicasOf } from "../pod-requirements.ts";
import { aggregateWorkload, type Counters, reflectWorkload } from "../statuses.ts";
import { isRolledOut } from "./deployment.ts";

const COUNTERS: Counters = {
  always: ["replicas", "availableReplicas"],
  nonZero: ["currentReplicas", "readyReplicas", "updatedReplicas"],
};

export const statefulSet: KindHooks = {
  replicas: (object) =>
    replicasOf(countAt(object, "spec", "replicas"), fieldsAt(object, "spec", "template", "spec")),
  reviseReplicas: (object, replicas) => withValue(object, ["spec", "replicas"], replicas),
  reflectStatus: (object) => reflectWorkload(object, COUNTERS),
  health: (object) => (isRolledOut(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (template, items) => aggregateWorkload(template, items, COUNTERS),
  dependencies: dependenciesOf,
};

function dependenciesOf(object: Fields): Dependency[] {
  const own = new Set(
    listAt(object, "spec", "volumeClaimTemplates").map((claim) =>
      textAt(claim, "metadata", "name"),
    ),
  );
  return podDependencies(object, fieldsAt(object, "spec", "template", "spec")).filter(
    ({ kind, name }) => kind !== "PersistentVolumeClaim" || name === undefined || !own.has(name),
  );
}
