/** Why the status of a binding is written, or not yet. */
import { defineReasons } from "../../plan.ts";

export const aggregationReasons = defineReasons({
  Changed: "A part of the status that controllers act on has changed, so it is written at once.",
  Progressed: "Copies have made progress, and the time to collect it is over.",
  Held: "Copies have made progress; it is collected for a moment and written together.",
  UpToDate: "The status shows what the copies report.",
});

export type AggregationReason = keyof typeof aggregationReasons;

/** Reasons of the condition FullyApplied. */
export const fullyAppliedReasons = defineReasons({
  FullyAppliedSuccess: "Every copy is applied in its cluster.",
  FullyAppliedFailed: "Some copy is missing or could not be applied.",
});

export type FullyAppliedReason = keyof typeof fullyAppliedReasons;

/** Reasons of the condition StatusUpToDate. */
export const statusUpToDateReasons = defineReasons({
  ClusterNotReady:
    "A cluster is not Ready: what its copies last reported is shown, and may be outdated.",
});

export type StatusUpToDateReason = keyof typeof statusUpToDateReasons;
