/** What the condition of a detector reports. */
import { defineReasons } from "../../plan.ts";

export const detectorReasons = defineReasons({
  DetectorSucceeds: "At least one instance of the detector finds that it works.",
  DetectorFails: "Every instance of the detector finds that it does not work.",
  DetectorSilent: "No instance of the detector has reported for its stale threshold.",
});

export type DetectorReason = keyof typeof detectorReasons;
