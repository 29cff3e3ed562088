/** Why an evacuation stands where it stands, and why an entry never moves; why one is held: `../leaving/reasons.ts`. */
import { defineReasons } from "../../plan.ts";

export const exemptReasons = defineReasons({
  Tolerated: "The workload tolerates the taint.",
  NoFailover: "The taint is PreferNoExecute, and the policy does not set failover.cluster.",
  FollowsWorkload: "It is there for a workload that needs it, and moves with that.",
  LeftAlready: "Its copy had left the cluster's result when it was recorded.",
  FederatedStatefulSet: "The replicas of a federated StatefulSet never move.",
});

export type ExemptReason = keyof typeof exemptReasons;

export const phaseReasons = defineReasons({
  Recording: "Who is affected is being written down; nothing moves before that is complete.",
  PausedByPerson: "A person paused this evacuation.",
  BudgetPaused: "A person paused all evacuations.",
  GateOff: "The feature gate Failover is off.",
  Moving: "Workloads are on their way.",
  AwaitingToleration: "What is left is still tolerated for a time.",
  NoTarget: "Only entries are left that cannot move for now.",
  NotPlaced: "What has left is in no cluster: the scheduler has not placed it again.",
  AllMoved: "Nothing is left to move, and all that left is placed.",
  ClusterRecovered: "The cluster bears the taints no more; what had not moved stays.",
  TakenOutByPerson: "A person took out what was left.",
});

export type PhaseReason = keyof typeof phaseReasons;
