/** Why a placement ended as it did. */
import { defineReasons } from "../plan.ts";

export const placementReasons = defineReasons({
  Placed: "Every replica has a cluster.",
  NoClusterFit: "No cluster passes every filter; what runs stays where it is.",
  Unschedulable: "The clusters that fit have no room for all replicas.",
  ConstraintsUnmet: "No selection of the clusters that fit satisfies the spread constraints.",
  AwaitingPurge: "The missing part is placed once the old copy is gone (purge mode Directly).",
});

export type PlacementReason = keyof typeof placementReasons;

/** Why a binding is placed again. */
export const scheduleReasons = defineReasons({
  PlacementChanged: "The placement of the policy has not been carried out yet.",
  ReplicasChanged: "The replicas in the result differ from the replicas of the workload.",
  RescheduleTriggered: "A WorkloadRebalancer ordered it.",
  LastAttemptFailed: "The last attempt found no placement.",
  GroupNotNamed: "It runs in another group of clusters than its status names.",
  FollowsClusters: "It goes to every cluster that fits.",
  ClusterLeaving: "A cluster of the result is being deleted or is gone.",
});

export type ScheduleReason = keyof typeof scheduleReasons;
