/** Everything that can stand in the history, each as a sentence. */
import { defineReasons } from "../plan.ts";

export const ledgerActions = defineReasons({
  Joined: "A cluster joined the fleet.",
  Left: "A cluster left the fleet.",
  Ready: "A cluster answers and is healthy.",
  NotReady: "A cluster does not answer, or is not healthy.",
  Tainted: "A cluster got a taint.",
  Untainted: "A cluster lost a taint.",
  Fenced: "A person declared a cluster off.",
  FenceLifted: "A cluster no longer counts as off.",
  ActionBegan: "A Remedy acts on a cluster.",
  ActionEnded: "A Remedy no longer acts on a cluster.",
  EvacuationBegan: "Workloads have to leave a cluster.",
  EvacuationEnded: "Nothing is left to do for an evacuation.",
  Paused: "A person paused an evacuation.",
  Resumed: "A person let an evacuation go on.",
  Held: "A workload has to leave a cluster, and is held.",
  Abandoned: "A workload was taken out of an evacuation: it stays where it is.",
  Evicted: "A workload leaves a cluster.",
  Cleared: "A workload has left a cluster: its old copy is gone, or about to be removed.",
  TakenBack: "A workload stays in the cluster that it was about to leave.",
  Placed: "A workload was placed.",
  Removed: "A workload is no longer placed, because it was deleted.",
  AllPaused: "A person paused all evacuations.",
  AllResumed: "A person let all evacuations go on.",
  PartPaused: "A person paused the evacuations of a cluster or a namespace.",
  PartResumed: "A person let the evacuations of a cluster or a namespace go on.",
  RateSet: "A person set the rate of the fleet for a time.",
  RateReset: "The rate that a person set no longer holds.",
  Approved: "A person approved an evacuation, or a part of it.",
  Agreed: "A person let something go on that was stopped.",
  RemedyMade: "A Remedy was made.",
  RemedyDeleted: "A Remedy was deleted.",
});

export type LedgerAction = keyof typeof ledgerActions;
