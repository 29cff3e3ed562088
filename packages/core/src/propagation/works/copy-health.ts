/**
 * What a Work reports about the health of its copy (D9).
 *
 * 1. `isProvenHealthy` is for relying on a copy: only a report about this very generation of the Work counts.
 * 2. `mayBeHealthy` is for sparing a copy: any report counts, however old.
 * 3. `isProtected` spares more: a copy that was just scaled up, or is rolling, is not healthy as a whole and serves all the
 *    same with the replicas that are ready. Only the old copy of a failing application that has a grace period must be
 *    healthy as a whole to be spared: its policy lets it go regardless.
 */
import { findCondition, type Work } from "@lifeboat/api";
import { countAt } from "../../fields.ts";
import { GRACE_PERIOD } from "../../well-known.ts";
import { reportsHealthy } from "../observing/work-status.ts";

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
  return reportsHealthy(work.status);
}

/**
 * Whether the floor protects a copy: it goes only when another one is proven healthy. The end of an eviction task and the
 * removal of a Work both ask here, so that no task ends whose Work stays.
 */
export function isProtected(work: Work): boolean {
  return work.metadata.annotations?.[GRACE_PERIOD] === undefined
    ? mayServe(work)
    : mayBeHealthy(work);
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
