/** Why an object in a member is written, or left alone. */
import { defineReasons } from "../../plan.ts";

export const applyReasons = defineReasons({
  Created: "The object did not exist in the member.",
  Recreated: "Somebody deleted the object in the member; it is made again.",
  Updated: "The object in the member differed from what the Work says.",
  TakenOver: "The object belonged to somebody else, and the policy says to take it over.",
  UpToDate: "The object in the member is what the Work says.",
  ForeignObject: "An object of this name that is not ours exists in the member and is left alone.",
  BeingDeleted: "The object in the member is being deleted; it is made again once it is gone.",
  InexactInteger:
    "The object holds an integer that is too large to be kept exactly, so writing it would change it.",
  ManifestInvalid: "The Work holds no object with a kind and a name.",
});

export type ApplyReason = keyof typeof applyReasons;

export const removeReasons = defineReasons({
  Deleted: "The object in the member is deleted.",
  Released: "The object stays in the member, without our marks.",
  Gone: "The object does not exist in the member any more.",
  NotOurs: "The object in the member is not ours and is left alone.",
  BeingDeleted: "The object in the member is already being deleted.",
  UidUnknown:
    "The object in the member has no uid, so nothing would keep us from deleting another.",
});

export type RemoveReason = keyof typeof removeReasons;
