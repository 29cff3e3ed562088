/**
 * What a Work says about the health of its copy (D9).
 *
 * 1. `isProvenHealthy` is for relying on a copy: only a report about this very generation of the Work counts.
 * 2. `mayBeHealthy` is for sparing a copy: any report counts, however old.
 * 3. `mayServe` spares more: a copy that was just scaled up, or is rolling, is not healthy as a whole and serves all the
 *    same with the replicas that are ready.
 */
import { findCondition, type Work } from "@lifeboat/api";
import { countAt } from "../../fields.ts";

/** Whether the copy is healthy in a status that was observed after this generation of the Work was applied. */
export function isProvenHealthy(work: Work): boolean {
  if (work.metadata.deletionTimestamp !== undefined) return false;
  const isCurrent = ["Applied", "StatusObserved"].every((type) => {
    const condition = findCondition(work.status?.conditions, type);
    return (
      condition?.status === "True" && condition.observedGeneration === work.metadata.generation
    );
  });
  return isCurrent && mayBeHealthy(work);
}

/** Whether the copy was healthy when it was last heard of. */
export function mayBeHealthy(work: Work): boolean {
  const statuses = work.status?.manifestStatuses ?? [];
  return statuses.length > 0 && statuses.every(({ health }) => health === "Healthy");
}

/** Whether the copy was healthy when it was last heard of, or had at least one replica ready. */
export function mayServe(work: Work): boolean {
  if (mayBeHealthy(work)) return true;
  return (work.status?.manifestStatuses ?? []).some(({ status }) =>
    READY_COUNTS.some((field) => countAt(status, field) > 0),
  );
}

/** Where the kinds with replicas count those that are ready. */
const READY_COUNTS = ["readyReplicas", "availableReplicas", "numberReady", "ready"];
