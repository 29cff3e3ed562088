/**
 * What execution reads from the fields of a Work: its manifests, its generation, and the objects that its status records.
 *
 * A field that is absent reads as empty: a Work comes from another process, and its status may not be written yet.
 */
import { findCondition, type Work } from "@lifeboat/api";
import type { Fields } from "@lifeboat/core";
import { uidIn } from "@lifeboat/core/propagation/applying";
import { appliedVersions, type ReportedStatus } from "@lifeboat/core/propagation/observing";

export function manifestsOf({ spec }: Work): readonly Fields[] {
  return spec.workload?.manifests ?? [];
}

export function generationOf({ metadata }: Work): number {
  return metadata.generation ?? 0;
}

export function statusOf({ status }: Work): ReportedStatus {
  return status ?? {};
}

/** The uid of the object that the status records, whichever generation of the Work made it. */
export function recordedUid(work: Work, ordinal: number): string | undefined {
  const status = statusOf(work);
  const generation = findCondition(status.conditions, "StatusObserved")?.observedGeneration;
  if (generation === undefined) return undefined;
  const version = appliedVersions(generation, status)?.[ordinal];
  return version === undefined ? undefined : uidIn(version);
}
