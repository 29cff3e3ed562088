/**
 * A workload that left a cluster because it did not get well there does not go back while that eviction lasts (D23).
 * Evictions for a cluster's fault are no reason: when the cluster is well again, it is a candidate again.
 */
import type { EvictionTask } from "@lifeboat/api";
import type { Filter, Rejection } from "./filter.ts";

const NAME = "EvictedFrom";
const rejection: Rejection = Object.freeze({
  filter: NAME,
  message: "cluster(s) were left because the workload was unhealthy there",
  help: "wait until the eviction is finished",
});

export const evictedFrom: Filter = {
  name: NAME,
  binds: true,
  prepare: ({ evictedFrom: left }) =>
    left.size === 0 ? undefined : (candidate) => (left.has(candidate.name) ? rejection : undefined),
};

/** Whether a task comes from the workload's own ill health, not from its cluster's. */
export function isApplicationFailover(task: EvictionTask): boolean {
  return task.reason === "ApplicationFailure";
}
