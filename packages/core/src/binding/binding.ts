/**
 * Where the workload of a ResourceBinding or ClusterResourceBinding is, read in one place.
 *
 *   result   `spec.clusters`: the clusters that the workload is placed in
 *   tasks    `spec.gracefulEvictionTasks`: the clusters that it leaves
 *
 * 1. A cluster may be in both: the workload was placed again where it was leaving.
 * 2. The scheduler writes `status.schedulerObservedGeneration` after its decision; only a decision about the present
 *    generation holds for the present spec.
 */
import { type EvictionTask, hasCondition, type ResourceBinding } from "@lifeboat/api";
import { listAt, valueAt } from "../fields.ts";

type Spec = Pick<ResourceBinding, "spec">;
type Whole = Pick<ResourceBinding, "metadata" | "spec" | "status">;
type TargetCluster = NonNullable<ResourceBinding["spec"]["clusters"]>[number];

/** The result: where the workload is placed, in its order. */
export function resultOf({ spec }: Spec): readonly TargetCluster[] {
  return spec.clusters ?? [];
}

/** The names of the result. */
export function clusterNamesOf(binding: Spec): readonly string[] {
  return resultOf(binding).map(({ name }) => name);
}

/** What the result gives a cluster; undefined: the workload is not placed there. */
export function shareIn(binding: Spec, cluster: string): TargetCluster | undefined {
  return resultOf(binding).find(({ name }) => name === cluster);
}

/** Whether the workload is placed in a cluster. */
export function isOn(binding: Spec, cluster: string): boolean {
  return shareIn(binding, cluster) !== undefined;
}

/** The eviction tasks, in their order. */
export function tasksOf({ spec }: Spec): readonly EvictionTask[] {
  return spec.gracefulEvictionTasks ?? [];
}

/** The eviction task of a cluster. */
export function taskOf(binding: Spec, cluster: string): EvictionTask | undefined {
  return tasksOf(binding).find(({ fromCluster }) => fromCluster === cluster);
}

/** Whether the workload leaves a cluster: the cluster has a task. */
export function isLeaving(binding: Spec, cluster: string): boolean {
  return taskOf(binding, cluster) !== undefined;
}

/**
 * After how many seconds the old copy of a task goes although another is not healthy (D9); undefined: never by time. Only
 * evictions of failing applications have such a period.
 */
export function gracePeriodOf(task: EvictionTask): number | undefined {
  return isApplicationFailover(task) ? task.gracePeriodSeconds : undefined;
}

/** Whether a task comes from the workload's own ill health, not from its cluster's. */
export function isApplicationFailover({ reason }: EvictionTask): boolean {
  return reason === "ApplicationFailure";
}

/** Whether the workload leaves any cluster. */
export function isMoving(binding: Spec): boolean {
  return tasksOf(binding).length > 0;
}

/** Whether the scheduler has decided about the present generation, whatever it decided. */
export function isGenerationScheduled({
  metadata,
  status,
}: Pick<Whole, "metadata" | "status">): boolean {
  return status?.schedulerObservedGeneration === metadata.generation;
}

/** Whether the scheduler has decided about the present generation, and the result is not empty. */
export function isPlaced(binding: Whole): boolean {
  return resultOf(binding).length > 0 && isGenerationScheduled(binding);
}

/** Whether the scheduler's decision about the present generation succeeded. An empty result can be a success. */
export function isScheduled(binding: Pick<Whole, "metadata" | "status">): boolean {
  return isGenerationScheduled(binding) && hasCondition(binding.status?.conditions, "Scheduled");
}

/** Whether changes are held back from a cluster: dispatching is suspended there, or everywhere. */
export function isDispatchingSuspended(binding: object, cluster: string): boolean {
  const suspension = valueAt(binding, "spec", "suspension");
  return (
    valueAt(suspension, "dispatching") === true ||
    listAt(suspension, "dispatchingOnClusters", "clusterNames").includes(cluster)
  );
}
