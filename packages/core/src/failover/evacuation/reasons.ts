/** Why an evacuation stands where it stands, and why an entry waits or never moves. */
import { defineReasons } from "../../plan.ts";

export const heldReasons = defineReasons({
  NoTarget: "No other cluster can take the workload.",
  SchedulingSuspended:
    "Scheduling of the workload is suspended: nobody would place it anew. It goes once spec.suspension.scheduling of its binding is no longer true.",
  NotClaimed:
    "No policy claims the workload any more: nobody would place it anew. It goes once one does.",
  TemplateMissing:
    "The workload's template is not known, so its state cannot be kept safely. It goes once it is.",
  StateNotReadable: "The state that the workload must carry cannot be read.",
  EvictionRefused: "The API server refused the eviction.",
});

export type HeldReason = keyof typeof heldReasons;

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
  AllMoved: "Nothing is left to move.",
  ClusterRecovered: "The cluster bears the taints no more; what had not moved stays.",
  TakenOutByPerson: "A person took out what was left.",
});

export type PhaseReason = keyof typeof phaseReasons;
