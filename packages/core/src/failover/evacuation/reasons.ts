/** Why an evacuation is in its phase, and why an entry never moves. Why an entry is held: `../leaving/reasons.ts`. */
import { defineReasons } from "../../plan.ts";

export const exemptReasons = defineReasons({
  Tolerated: "The workload tolerates the taint.",
  NoFailover: "The taint is PreferNoExecute, and the policy does not set failover.cluster.",
  FollowsWorkload: "It depends on a workload, and moves with that workload.",
  LeftAlready: "Its copy had left the cluster before the evacuation was recorded.",
  FederatedStatefulSet: "The replicas of a federated StatefulSet never move.",
});

export type ExemptReason = keyof typeof exemptReasons;

export const phaseReasons = defineReasons({
  Recording:
    "The affected workloads are being recorded; nothing moves before the record is complete.",
  PausedByPerson: "A person paused this evacuation.",
  BudgetPaused: "A person paused all evacuations.",
  ClusterPaused: "A person paused all evacuations of this cluster.",
  NamespacePaused: "A person paused the namespaces of all workloads that are left.",
  AwaitingApproval:
    "The workloads that are left wait for a person's approval: lifeboat evacuations approve.",
  GateOff: "The feature gate Failover is off.",
  Moving: "Workloads are moving.",
  AwaitingToleration: "The workloads that are left still tolerate the taint for a time.",
  NoTarget: "Only entries are left that cannot move for now.",
  NotPlaced: "Workloads that left are in no cluster: the scheduler has not placed them again.",
  AllMoved: "No workload is left to move, and every workload that left is placed.",
  ClusterRecovered: "The cluster no longer has the taints; workloads that had not moved stay.",
  TakenOutByPerson: "A person took the remaining workloads out of the evacuation.",
});

export type PhaseReason = keyof typeof phaseReasons;
