/** Why a person's order cannot be carried out, and what failover does at this moment. */
import { defineReasons } from "../plan.ts";

export const restoreReasons = defineReasons({
  NothingRecorded:
    "No eviction of the workload is recorded, so there is no former placement to restore.",
  Federated:
    "The replicas of a federated StatefulSet never move, so there is nothing to bring back.",
  AlreadyThere: "The workload already runs where it ran before.",
  ClusterGone: "A cluster that the workload ran on is no longer joined.",
  ClusterNotReady: "A cluster that the workload would go back to is not Ready.",
  ClusterCannotTake: "A cluster that the workload would go back to cannot take it now.",
  NoRoom: "A cluster that the workload would go back to has no room for its replicas.",
  DispatchingSuspended:
    "Dispatching is suspended for a cluster that the workload would go back to, so no copy would be created there.",
  StateNotReadable: "The state that the workload must carry cannot be read.",
});

export type RestoreReason = keyof typeof restoreReasons;

/** Why a workload does not return by itself to where it ran before an outage (D31). */
export const failbackReasons = defineReasons({
  NotAsked: "The policy does not ask for failback.",
  NotValid:
    'The annotation lifeboat.dev/failback is not valid: "<stabilisation>[;max=N][;window=HH:MM-HH:MM]" is needed.',
  NotAway: "The workload runs where it ran before the last outage, or no outage moved it.",
  Returned: "The workload has returned once after this outage.",
  EditedByPerson: "A person edited the result: the workload stays where the person put it.",
  StillLeaving: "The workload is still leaving a cluster.",
  Evacuating: "Workloads are being evacuated: none returns meanwhile.",
  Paused: "A person paused evacuations.",
  ClusterNotBack:
    "A cluster that it would return to is not Ready, or has a taint that moves workloads.",
  NotStable: "The clusters that it would return to have not been back for long enough.",
  OutsideWindow: "The policy lets workloads return at another time of day.",
  TooMany: "As many workloads of the policy are returning as it allows at the same time.",
  CannotTake: "A cluster that it would return to cannot take it now.",
});

export type FailbackReason = keyof typeof failbackReasons;

/** The first that holds, in this order, is the truth about the fleet in one sentence. */
export const fleetStateReasons = defineReasons({
  NoControllers:
    "No controllers have run on this control plane: nothing is watched and nothing moves.",
  NoClusters: "No clusters are joined.",
  Joining:
    "Every cluster is just joining and was not asked yet whether it is Ready: nothing moves.",
  EverythingDown:
    "No cluster is Ready, which more likely means that this control plane is cut off: nothing moves.",
  GateOff: "Nothing moves by itself: the feature gate Failover is off.",
  AllPaused: "Nothing moves: a person paused all evacuations.",
  MayBeIsolated:
    "More than half of the Pull clusters fell silent within a minute, so this control plane may be cut off: nothing moves.",
  Braked: "Nothing moves: too much of the fleet has failed.",
  NoPolicy: "Nothing moves by itself: no policy marks clusters as failed.",
  Paused: "Nothing moves: a person paused the evacuations under way.",
  Held: "The workloads that have to leave are held.",
  AwaitingApproval: "The workloads that have to leave wait for a person's approval.",
  Moving: "Workloads are leaving.",
  NotReady: "Some clusters are not Ready, and nothing has to leave them now.",
  Quiet: "All clusters count as Ready, and nothing has to move.",
});

export type FleetStateReason = keyof typeof fleetStateReasons;
