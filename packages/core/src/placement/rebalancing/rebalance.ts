/**
 * Carrying out a WorkloadRebalancer: which of its workloads are still to be placed again, and what it reports.
 *
 * 1. A workload with a result is not touched again; one that was added later is.
 * 2. A workload that was taken off the list stays in the report only if it was placed again.
 * 3. The order is finished once every workload on the list has a result; the time of that moves only when results came
 *    in after it.
 * 4. The report is sorted, and the same results give the same report.
 * 5. An order is passed on to a binding once, by its uid, and with a time that the scheduler cannot take for one before its
 *    last placement: it may be carried out late, and the clock may have been set back.
 */
import { equalJson, type ResourceBinding, type WorkloadRebalancer } from "@lifeboat/api";
import { addMs, deepFreeze, formatTime, type Instant, parseTime } from "@lifeboat/base";
import { compareText } from "../../fields.ts";
import { defineReasons } from "../../plan.ts";
import { ORDERED_BY } from "../../well-known.ts";

export const rebalanceReasons = defineReasons({
  ReferencedBindingNotFound: "The workload has no binding, so it cannot be placed again.",
});

export type RebalancedWorkload = WorkloadRebalancer["spec"]["workloads"][number];
type Status = NonNullable<WorkloadRebalancer["status"]>;
export type ObservedWorkload = NonNullable<Status["observedWorkloads"]>[number];

/** Workloads without a result, each once. */
export function pendingWorkloads(rebalancer: WorkloadRebalancer): readonly RebalancedWorkload[] {
  const known = new Set(resultsOf(rebalancer).keys());
  const pending = new Map<string, RebalancedWorkload>();
  for (const workload of rebalancer.spec.workloads) {
    const key = keyOf(workload);
    if (!known.has(key) && !pending.has(key)) pending.set(key, workload);
  }
  return [...pending.values()];
}

/** The binding with the order to place it again; undefined when it has been passed on. */
export function orderedAnew<B extends Pick<ResourceBinding, "metadata" | "spec" | "status">>(
  { metadata: { uid, creationTimestamp } }: WorkloadRebalancer,
  binding: B,
): B | undefined {
  const { metadata, spec, status } = binding;
  if (metadata.annotations?.[ORDERED_BY] === uid) return undefined;
  const rescheduleTriggeredAt = latest([
    creationTimestamp,
    spec.rescheduleTriggeredAt,
    status?.lastScheduledTime,
  ]);
  const annotations = { ...metadata.annotations, [ORDERED_BY]: uid };
  return {
    ...binding,
    metadata: { ...metadata, annotations },
    spec: { ...spec, ...(rescheduleTriggeredAt !== undefined && { rescheduleTriggeredAt }) },
  };
}

/** The status with further results; undefined when it has them already. */
export function rebalancerStatus(
  rebalancer: WorkloadRebalancer,
  results: readonly ObservedWorkload[],
  now: Instant,
): Status | undefined {
  const { spec, metadata, status } = rebalancer;
  const known = resultsOf(rebalancer);
  for (const observed of results) known.set(keyOf(observed.workload), observed);
  const listed = new Set(spec.workloads.map(keyOf));
  const observedWorkloads = [...known]
    .filter(([key, { result }]) => listed.has(key) || result === "Successful")
    .sort(([a], [b]) => compareText(a, b))
    .map(([, observed]) => observed);
  const isFinished = [...listed].every((key) => known.has(key));
  const before = results.length === 0 ? status?.finishTime : undefined;
  const next: Status = {
    observedWorkloads,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...(isFinished && { finishTime: before ?? formatTime(now) }),
  };
  return equalJson(next, status ?? {}) ? undefined : deepFreeze(next);
}

/** When a finished order is to be deleted; undefined: never, or not known yet. */
export function expiryOf(spec: WorkloadRebalancer["spec"], status: Status): Instant | undefined {
  const finished = status.finishTime === undefined ? undefined : parseTime(status.finishTime);
  if (finished === undefined || spec.ttlSecondsAfterFinished === undefined) return undefined;
  return addMs(finished, spec.ttlSecondsAfterFinished * 1000);
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times.reduce((a, b) => (instantIn(b) > instantIn(a) ? b : a));
}

function instantIn(time: string | undefined): number {
  return parseTime(time ?? "") ?? -Infinity;
}

function resultsOf({ status }: WorkloadRebalancer): Map<string, ObservedWorkload> {
  const results = new Map<string, ObservedWorkload>();
  for (const observed of status?.observedWorkloads ?? [])
    if (observed.result !== undefined) results.set(keyOf(observed.workload), observed);
  return results;
}

function keyOf({ apiVersion, kind, namespace = "", name }: RebalancedWorkload): string {
  return [apiVersion, kind, namespace, name].join(" ");
}
