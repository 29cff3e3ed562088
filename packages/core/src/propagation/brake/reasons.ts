/** Why Works may or may not be deleted now. */
import { defineReasons } from "../../plan.ts";

export const deletionReasons = defineReasons({
  Exempt: "It follows from an eviction or from deleting a template or a Cluster: no brake applies.",
  WithinAllowance: "Fewer Works were deleted within the last minute than the brake allows.",
  TooManyDeletions:
    "More than a tenth of all Works, and more than twenty, would have been deleted within a minute.",
  BrakeReleased: "A person let deletions go on.",
  Restored: "The control plane was restored from a backup, and no person has agreed to deletions.",
  MovedIn: "The control plane was moved to this API server, and no person has agreed to deletions.",
  NoWork: "Copies in members have no Work in the restored state.",
  NothingUnknown: "No copy without a Work was found in the members that could be read.",
  RestoreAgreed: "A person agreed that the restored control plane deletes in members again.",
});

export type DeletionReason = keyof typeof deletionReasons;
