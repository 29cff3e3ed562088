/**
 * What a Work says about the health of its copy (D9).
 *
 * 1. `isProvenHealthy` is for relying on a copy: only a report about this very generation of the Work counts.
 * 2. `mayBeHealthy` is for sparing a copy: any report counts, however old.
 */
import { findCondition, type Work } from "@lifeboat/api";

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
