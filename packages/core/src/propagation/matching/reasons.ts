/** Why a template is claimed as it is, and why its binding is written or left alone. */
import { defineReasons } from "../../plan.ts";

export const claimReasons = defineReasons({
  Ignored: "The object is not a template: it is kept away from policies, or it is being deleted.",
  NoPolicyMatches: "No policy selects the template.",
  ClaimKept: "The policy that has claimed the template still selects it.",
  Claimed: "The template had no policy, and this one is the best that selects it.",
  Preempted: "A policy that may preempt took the template over from another.",
});

export type ClaimReason = keyof typeof claimReasons;

export const bindingReasons = defineReasons({
  BindingCreated: "The template got a binding.",
  BindingChanged: "The binding follows a change of the template or of its policy.",
  BindingKept: "The binding is as the template and its policy want it.",
  BindingReleased: "The policy that the binding names no longer claims the template.",
  AwaitsTemplateChange: "The policy is lazy: it takes effect when the template itself changes.",
  AwaitsOverrides: "The policy takes effect when the override policies it depends on exist.",
  AwaitsOldBinding: "The binding is being deleted; a new one is created once it is gone.",
  BindingNameTaken: "The binding's name belongs to a template of another kind.",
});

export type BindingReason = keyof typeof bindingReasons;
