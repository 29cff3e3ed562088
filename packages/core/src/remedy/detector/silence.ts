/**
 * What the control plane makes of a detector that no longer reports: Unknown, and only for a condition that a detector wrote.
 *
 * 1. A condition is a detector's when it has a type that detectors write and one of the detector's reasons. What a person or another
 *    tool reported is never touched, nor is another condition (Ready) that bears such a reason.
 * 2. Silence is measured from when the control plane saw the last renewal of any instance, on a clock that never goes back.
 */
import type { Condition } from "@lifeboat/api";
import type { PlannedCondition } from "../../plan.ts";
import { isDetectorCondition } from "../../clusters/rights/index.ts";
import { type DetectorReason, detectorReasons } from "./reasons.ts";

export const STALE_THRESHOLD_MS = 60_000;

/** The conditions that a detector wrote and still answers for. */
export function detectedConditions(
  conditions: readonly Condition[] | undefined,
): readonly Condition[] {
  return (conditions ?? []).filter(
    ({ type, reason }) =>
      isDetectorCondition(type) && (reason === "DetectorSucceeds" || reason === "DetectorFails"),
  );
}

/** The conditions by which a detector, or its silence, reports what is amiss. */
export function reportedAmiss(conditions: readonly Condition[] | undefined): readonly Condition[] {
  return (conditions ?? []).filter(
    ({ type, reason }) =>
      isDetectorCondition(type) && (reason === "DetectorFails" || reason === "DetectorSilent"),
  );
}

/** The condition to write when a detector has been silent for so long; undefined: it stays. */
export function decideSilence(
  { type }: Condition,
  silentMs: number,
  thresholdMs: number,
): PlannedCondition<DetectorReason> | undefined {
  if (silentMs < thresholdMs) return undefined;
  const reason: DetectorReason = "DetectorSilent";
  return { type, status: "Unknown", reason, message: detectorReasons[reason] };
}
