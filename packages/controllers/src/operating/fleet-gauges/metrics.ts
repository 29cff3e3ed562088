/** What a person is called for, over the whole fleet. */
import type { MetricDefinition } from "@lifeboat/kit";

export const workloads: MetricDefinition = {
  name: "lifeboat_workloads",
  help: "Workloads with replicas that a policy has placed or should place.",
};
export const workloadsUnderStrength: MetricDefinition = {
  name: "lifeboat_workloads_under_strength",
  help: "Workloads that run with less than was asked for: not all replicas placed, or a copy that is not healthy in a cluster that answers.",
};
export const workloadsWaitingForPerson: MetricDefinition<"reason"> = {
  name: "lifeboat_workloads_waiting_for_person",
  help: "Workloads that move on only after a person has acted: Fence (declare a silent cluster off), NoTarget (held: make room), Paused, Braked (the rate is 0), Approval (lifeboat evacuations approve).",
  labels: ["reason"],
};
export const evacuationsByPhase: MetricDefinition<"phase"> = {
  name: "lifeboat_evacuations",
  help: "Evacuations that are not over, by phase.",
  labels: ["phase"],
};
export const brake: MetricDefinition<"brake"> = {
  name: "lifeboat_brake",
  help: "1 while this brake holds: MassDeletion, RestoredFromBackup, PlaneMayBeIsolated or Paused (all evacuations, by a person).",
  labels: ["brake"],
};
export const readyChanges: MetricDefinition<"member_cluster" | "status"> = {
  name: "lifeboat_cluster_ready_changes_total",
  help: "Changes of the condition Ready of a cluster, by its new status.",
  labels: ["member_cluster", "status"],
};
