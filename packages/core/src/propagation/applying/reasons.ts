/** Why an object in a member is written, or left alone. */
import { defineReasons } from "../../plan.ts";

export const applyReasons = defineReasons({
  Created: "The object did not exist in the member.",
  Recreated: "The object was deleted in the member; it is created again.",
  Updated: "The object in the member differed from the manifest of the Work.",
  TakenOver:
    "The object was not managed by this control plane, and the policy allows to take it over.",
  UpToDate: "The object in the member matches the manifest of the Work.",
  ForeignObject:
    "An object of this name that this control plane does not manage exists in the member and is left alone.",
  BeingDeleted: "The object in the member is being deleted; it is created again once it is gone.",
  InexactInteger:
    "The object holds an integer that is too large to be kept exactly, so writing it would change it.",
  ManifestInvalid: "The Work holds no object with a kind and a name.",
});

export type ApplyReason = keyof typeof applyReasons;

export const removeReasons = defineReasons({
  Deleted: "The object in the member is deleted.",
  Released:
    "The object stays in the member, without the labels and annotations of this control plane.",
  Gone: "The object does not exist in the member any more.",
  NotOurs: "This control plane does not manage the object in the member, and leaves it alone.",
  BeingDeleted: "The object in the member is already being deleted.",
  UidUnknown:
    "The object in the member has no uid, so another object could be deleted in its place.",
});

export type RemoveReason = keyof typeof removeReasons;
