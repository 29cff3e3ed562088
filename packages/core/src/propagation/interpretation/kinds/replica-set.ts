/** ReplicaSet (apps/v1). */
import { countAt, type Fields, fieldsAt, withValue } from "../../../fields.ts";
import type { KindHooks } from "../interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { replicasOf } from "../pod-requirements.ts";
import { aggregateWorkload, type Counters, isObserved, reflectWorkload } from "../statuses.ts";

const COUNTERS: Counters = {
  always: ["replicas"],
  nonZero: ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
};

export const replicaSet: KindHooks = {
  replicas: (object) =>
    replicasOf(countAt(object, "spec", "replicas"), fieldsAt(object, "spec", "template", "spec")),
  reviseReplicas: (object, replicas) => withValue(object, ["spec", "replicas"], replicas),
  reflectStatus: (object) => reflectWorkload(object, COUNTERS),
  health: (object) => (isAvailable(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (template, items) => aggregateWorkload(template, items, COUNTERS),
  dependencies: (object) => podDependencies(object, fieldsAt(object, "spec", "template", "spec")),
};

function isAvailable(object: Fields): boolean {
  return (
    isObserved(object) &&
    countAt(object, "status", "availableReplicas") >= countAt(object, "spec", "replicas")
  );
}
