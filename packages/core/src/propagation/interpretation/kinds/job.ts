/**
 * Job (batch/v1). Replicas are pods that may run at the same time.
 *
 * 1. A template that has finished keeps its status for ever.
 * 2. It has failed once a copy has failed, and is complete once every copy is. Servers refuse a finished Job with active
 *    pods, so it is only *about to* fail (FailureTarget) while other copies still run.
 * 3. Times come from the copies, never from a clock here.
 */
import {
  countAt,
  type Fields,
  fieldsAt,
  integerAt,
  listAt,
  textAt,
  valueAt,
  withValue,
} from "../../../fields.ts";
import type { KindHooks, StatusItem } from "../interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { replicasOf } from "../pod-requirements.ts";
import { byClusterName, earliest, isTrue, latest, pick, setNonZero, sumOf } from "../statuses.ts";

const REFLECTED = ["active", "succeeded", "failed", "conditions", "startTime", "completionTime"];

export const job: KindHooks = {
  replicas: (object) =>
    replicasOf(parallelPods(object), fieldsAt(object, "spec", "template", "spec")),
  reviseReplicas: (object, replicas) => withValue(object, ["spec", "parallelism"], replicas),
  retain: retainSelector,
  reflectStatus: (object) => pick(fieldsAt(object, "status"), REFLECTED),
  aggregateStatus,
  dependencies: (object) => podDependencies(object, fieldsAt(object, "spec", "template", "spec")),
};

function parallelPods(object: Fields): number {
  const parallelism = countAt(object, "spec", "parallelism");
  const completions = integerAt(object, "spec", "completions");
  return completions === undefined ? parallelism : Math.min(parallelism, Math.max(0, completions));
}

/** The member made the selector and the labels it selects, and refuses to change them. */
function retainSelector(desired: Fields, observed: Fields): Fields {
  if (valueAt(desired, "spec", "manualSelector") === true) return desired;
  let retained = desired;
  for (const path of [
    ["spec", "selector"],
    ["spec", "template", "metadata", "labels"],
  ]) {
    const value = valueAt(observed, ...path);
    if (value !== undefined) retained = withValue(retained, path, value);
  }
  return retained;
}

function aggregateStatus(template: Fields, unordered: readonly StatusItem[]): Fields {
  const before = fieldsAt(template, "status");
  const old = listAt(before, "conditions");
  if (isTrue(old, "Complete") || isTrue(old, "Failed")) return before;
  const items = byClusterName(unordered);
  const status: Record<string, unknown> = {};
  for (const name of ["active", "succeeded", "failed"])
    setNonZero(status, name, sumOf(items, name));
  const startTime = earliest(items.map((item) => textAt(item.status, "startTime")));
  if (startTime !== undefined) status["startTime"] = startTime;
  const conditions = finalConditions(items);
  if (conditions.length > 0) status["conditions"] = conditions;
  const completionTime = latest(items.map((item) => textAt(item.status, "completionTime")));
  if (isTrue(conditions, "Complete") && completionTime !== undefined)
    status["completionTime"] = completionTime;
  return status;
}

function finalConditions(items: readonly StatusItem[]): Fields[] {
  const failed = items.filter((item) => isTrue(listAt(item.status, "conditions"), "Failed"));
  if (failed.length > 0) {
    const names = failed.map((item) => item.clusterName).join(",");
    const message = `Job executed failed in member clusters: ${names}`;
    const types = sumOf(items, "active") > 0 ? ["FailureTarget"] : ["FailureTarget", "Failed"];
    return conditionsOf(types, "JobFailed", message, transitionTime(failed, "Failed"));
  }
  const isComplete =
    items.length > 0 &&
    items.every((item) => isTrue(listAt(item.status, "conditions"), "Complete"));
  if (!isComplete) return [];
  const time = transitionTime(items, "Complete");
  return conditionsOf(["SuccessCriteriaMet", "Complete"], "Completed", "Job completed", time);
}

function conditionsOf(
  types: readonly string[],
  reason: string,
  message: string,
  time: string | undefined,
): Fields[] {
  const times = time === undefined ? {} : { lastProbeTime: time, lastTransitionTime: time };
  return types.map((type) => ({ type, status: "True", ...times, reason, message }));
}

function transitionTime(items: readonly StatusItem[], type: string): string | undefined {
  return latest(
    items.flatMap((item) =>
      listAt(item.status, "conditions")
        .filter((condition) => textAt(condition, "type") === type)
        .map((condition) => textAt(condition, "lastTransitionTime")),
    ),
  );
}
