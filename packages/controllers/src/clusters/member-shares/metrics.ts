/** How this replica shares in the work on members. */
import type { MetricDefinition } from "@lifeboat/kit";

export const ownMembers: MetricDefinition<never> = {
  name: "lifeboat_replica_members",
  help: "Push members that this replica works on, with --share-members.",
  labels: [],
};
export const blindReplica: MetricDefinition<never> = {
  name: "lifeboat_replica_blind",
  help: "1 while this replica has handed its members on because it reaches too few of them.",
  labels: [],
};
