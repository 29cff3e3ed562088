/** Why what a workload needs is recorded, and why a dependency goes where it goes. */
import { defineReasons } from "../../plan.ts";

export const referrerReasons = defineReasons({
  Recorded: "What the workload needs was written on its binding.",
  UpToDate: "What the workload needs is on its binding already.",
  Unknown: "What the workload needs cannot be known now, so what was recorded stays.",
  NothingNeeded: "The workload needs nothing that follows it.",
  AwaitingFollowers: "The binding stays until nothing follows it any more.",
  Released: "Nothing follows the binding any more, so nothing keeps it.",
});

export type ReferrerReason = keyof typeof referrerReasons;

export const followerReasons = defineReasons({
  Attached: "The object follows a workload, and was bound for it.",
  Followed: "Where the object has to be has changed with its workloads.",
  Released: "No workload needs the object any more.",
  UpToDate: "The object is bound to where its workloads are.",
  NotNeeded: "No workload needs the object.",
  BeingDeleted: "The object or its binding is being deleted.",
  OtherObject: "The binding of this name belongs to an earlier object and has to go first.",
});

export type FollowerReason = keyof typeof followerReasons;
