/** Where a cluster is between joining and having left. */
import { defineReasons } from "../plan.ts";

export const lifecycleReasons = defineReasons({
  Joined: "The cluster has its finalizer and its execution namespace.",
  Joining: "The cluster gets its finalizer and its execution namespace.",
  FormerNamespaceEnding:
    "The execution namespace of an earlier cluster of this name is still being deleted.",
  WaitingForBindings: "Bindings still have copies on the cluster that is to leave, or need them.",
  RemovingWorks:
    "The execution namespace is being deleted, and with it the objects that its Works created.",
  Left: "Nothing of the cluster is left in the control plane.",
});

export type LifecycleReason = keyof typeof lifecycleReasons;
