/** DaemonSet (apps/v1): its nodes decide how many pods there are, so it has no replicas to divide. */
import { countAt, type Fields, fieldsAt } from "../../../fields.ts";
import type { KindHooks } from "../interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { aggregateWorkload, type Counters, isObserved, reflectWorkload } from "../statuses.ts";

const COUNTERS: Counters = {
  always: ["currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"],
  nonZero: ["numberAvailable", "updatedNumberScheduled", "numberUnavailable"],
};

export const daemonSet: KindHooks = {
  reflectStatus: (object) => reflectWorkload(object, COUNTERS),
  health: (object) => (isEverywhere(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (template, items) => aggregateWorkload(template, items, COUNTERS),
  dependencies: (object) => podDependencies(object, fieldsAt(object, "spec", "template", "spec")),
};

function isEverywhere(object: Fields): boolean {
  const updated = countAt(object, "status", "updatedNumberScheduled");
  return (
    isObserved(object) &&
    updated >= countAt(object, "status", "desiredNumberScheduled") &&
    countAt(object, "status", "numberAvailable") >= updated
  );
}
