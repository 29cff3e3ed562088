/** Why the Works of a binding are as they are. */
import { defineReasons } from "../../plan.ts";

export const worksReasons = defineReasons({
  InStep: "Every Work is as it should be.",
  Changing: "Some Works are being created, changed or removed.",
  BindingDeleted: "The binding is being deleted, so all its Works go.",
  TemplateMissing: "The template cannot be read, so no Work is created, changed or removed.",
  AwaitingPurge:
    "A copy must be gone from the cluster it leaves before another one appears elsewhere.",
  LastHealthyCopy: "A copy stays until another one is healthy, because no other copy is.",
});

export type WorksReason = keyof typeof worksReasons;

export const syncFailures = defineReasons({
  ClusterMissing: "The cluster does not exist.",
  ClusterLeaving: "The cluster is being deleted, so nothing new goes there.",
  AgentUnsupported:
    "The agent of the cluster does not know endorsement, so it gets nothing new: see the condition AgentSupported of the Cluster.",
  WorkNameTaken: "A Work of this name exists and belongs to another binding.",
  ReplicasUnknown: "The script that sets the replicas of a copy failed.",
});

export type SyncFailureReason = keyof typeof syncFailures;
