/** Deployment (apps/v1). An autoscaler in the member may own the replicas: then the template has a label. */
import { countAt, type Fields, fieldsAt, textAt, valueAt, withValue } from "../../../fields.ts";
import { RETAIN_REPLICAS } from "../../../well-known.ts";
import type { KindHooks } from "../interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { replicasOf } from "../pod-requirements.ts";
import { aggregateWorkload, type Counters, isObserved, reflectWorkload } from "../statuses.ts";

const COUNTERS: Counters = {
  always: [],
  nonZero: [
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
  ],
};

export const deployment: KindHooks = {
  replicas: (object) =>
    replicasOf(countAt(object, "spec", "replicas"), fieldsAt(object, "spec", "template", "spec")),
  reviseReplicas: (object, replicas) => withValue(object, ["spec", "replicas"], replicas),
  retain: retainReplicas,
  reflectStatus: (object) => reflectWorkload(object, COUNTERS),
  health: (object) => (isRolledOut(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (template, items) => aggregateWorkload(template, items, COUNTERS),
  dependencies: (object) => podDependencies(object, fieldsAt(object, "spec", "template", "spec")),
};

function retainReplicas(desired: Fields, observed: Fields): Fields {
  if (textAt(desired, "metadata", "labels", RETAIN_REPLICAS) !== "true") return desired;
  const replicas = valueAt(observed, "spec", "replicas");
  return replicas === undefined ? desired : withValue(desired, ["spec", "replicas"], replicas);
}

/** Also what makes a StatefulSet healthy. */
export function isRolledOut(object: Fields): boolean {
  const updated = countAt(object, "status", "updatedReplicas");
  return (
    isObserved(object) &&
    updated >= countAt(object, "spec", "replicas") &&
    countAt(object, "status", "availableReplicas") >= updated
  );
}
