/** Why what a workload needs is recorded, and why a dependency goes where it goes. */
import { defineReasons } from "../../plan.ts";

export const referrerReasons = defineReasons({
  Recorded: "The dependencies of the workload were recorded on its binding.",
  UpToDate: "The dependencies of the workload are already recorded on its binding.",
  Unknown: "The dependencies of the workload cannot be determined now, so the record stays.",
  NothingNeeded: "The workload has no dependencies.",
  AwaitingFollowers: "The binding stays until no dependency follows it any more.",
  Released: "No dependency follows the binding any more, so it may go.",
});

export type ReferrerReason = keyof typeof referrerReasons;

export const followerReasons = defineReasons({
  Attached: "The object follows a workload, and was bound for it.",
  Followed: "The workloads that need the object moved, and the object moves with them.",
  Released: "No workload needs the object any more.",
  UpToDate: "The object is bound to where its workloads are.",
  NotNeeded: "No workload needs the object.",
  BeingDeleted: "The object or its binding is being deleted.",
  OtherObject: "The binding of this name belongs to an earlier object and has to go first.",
});

export type FollowerReason = keyof typeof followerReasons;
