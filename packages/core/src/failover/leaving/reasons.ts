/** Why a workload that is to leave a cluster stays there for now: one table for every kind of failover. */
import { defineReasons } from "../../plan.ts";

export const heldReasons = defineReasons({
  NoTarget: "No other cluster can take the workload.",
  SchedulingSuspended:
    "Scheduling of the workload is suspended, so nothing would place it again. It goes once spec.suspension.scheduling of its binding is no longer true.",
  NotClaimed:
    "No policy claims the workload any more, so nothing would place it again. It goes once a policy does.",
  DispatchingSuspended:
    "Dispatching is suspended for the cluster that would take the workload, so no copy would appear there. It goes once spec.suspension of its policy allows it.",
  TemplateMissing:
    "The workload's template is not known, so its state cannot be kept safely. It goes once it is.",
  StateNotReadable: "The state that the workload must carry cannot be read.",
  EvictionRefused: "The API server refused the eviction.",
});

export type HeldReason = keyof typeof heldReasons;
