/**
 * Which clusters a binding's Works belong in.
 *
 *   wanted   the schedule and the clusters of workloads that need the resource: a Work is made and kept current
 *   leaving  clusters of eviction tasks that keep the old copy: a Work that exists stays as it is
 *   purged   clusters of eviction tasks in mode Directly: the Work goes before anything new is made
 *
 * A cluster that is wanted is not leaving, and its Work is not removed for being purged, whatever tasks there are.
 */
import type { EvictionTask, ResourceBinding } from "@lifeboat/api";
import { clusterNamesOf, isDirect, tasksOf } from "../../binding/index.ts";

export interface WorkClusters {
  readonly wanted: ReadonlySet<string>;
  /** With the task of each. */
  readonly leaving: ReadonlyMap<string, EvictionTask>;
  readonly purged: ReadonlySet<string>;
}

/** The clusters of a binding, by what becomes of its Work there. */
export function workClustersOf(binding: ResourceBinding): WorkClusters {
  const wanted = new Set(clusterNamesOf(binding));
  for (const { clusters } of binding.spec.requiredBy ?? [])
    for (const { name } of clusters ?? []) wanted.add(name);
  const leaving = new Map<string, EvictionTask>();
  const purged = new Set<string>();
  for (const task of tasksOf(binding)) {
    const { fromCluster } = task;
    if (isDirect(task)) purged.add(fromCluster);
    if (keepsCopy(task) && !wanted.has(fromCluster)) leaving.set(fromCluster, task);
  }
  return { wanted, leaving, purged };
}

function keepsCopy(task: EvictionTask): boolean {
  return !isDirect(task) || task.suppressDeletion === true;
}
