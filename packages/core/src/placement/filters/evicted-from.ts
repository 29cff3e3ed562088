/**
 * A workload that left a cluster because it did not get well there does not go back before it is well elsewhere (D23).
 * Evictions for a cluster's fault are no reason: when the cluster is well again, it is a candidate again.
 */
import type { EvictionTask, ResourceBinding } from "@lifeboat/api";
import { EVICTED_FROM } from "../../well-known.ts";
import type { Filter, Rejection } from "./filter.ts";

const NAME = "EvictedFrom";
const rejection: Rejection = Object.freeze({
  filter: NAME,
  message: "cluster(s) were left because the workload was unhealthy there",
  help: "wait until the workload is healthy, or place it there by hand",
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

/**
 * Whether such a task still waits for the workload to get well elsewhere. One that keeps the old copy until a person lets it go
 * (mode Never) does not: it may stand for years, and would keep the workload from the cluster for as long.
 */
export function isUnderWay(task: EvictionTask): boolean {
  return isApplicationFailover(task) && task.suppressDeletion !== true;
}

/** The clusters that a workload left because it was unhealthy there, and has not got well since. */
export function evictedFromOf({ metadata, spec }: ResourceBinding): ReadonlySet<string> {
  const tasks = (spec.gracefulEvictionTasks ?? []).filter(isUnderWay);
  const left = new Set(tasks.map(({ fromCluster }) => fromCluster));
  for (const name of recordedEvictions(metadata.annotations?.[EVICTED_FROM])) left.add(name);
  return left;
}

/** What the binding's annotation names; nothing when it cannot be read. */
export function recordedEvictions(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) ? names.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
