/** Why the actions of a cluster are what they are, and whether conditions may block traffic now. */
import { defineReasons } from "../../plan.ts";

export const remedyReasons = defineReasons({
  RemedyActionsChanged: "The actions that Remedies ask for on this cluster have changed.",
  RemedyActionsCorrected: "The field status.remedyActions differed from what Remedies ask for.",
  RemedyActionHeld:
    "Conditions have blocked traffic of half of the fleet within a minute: this block waits until a person agrees.",
  UnknownRemedyAction: "No part of this control plane carries out the action.",
});

export type RemedyReason = keyof typeof remedyReasons;

export const blockReasons = defineReasons({
  WithinAllowance: "Conditions block at most half of the fleet within a minute.",
  TooManyBlocks: "Conditions would have blocked more than half of the fleet within a minute.",
  BrakeReleased: "A person let conditions block traffic again.",
});

export type BlockReason = keyof typeof blockReasons;
