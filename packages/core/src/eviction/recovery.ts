/**
 * Whether an eviction is taken back because its cluster recovered (D13).
 *
 * 1. Only evictions for a taint of the cluster end with the taint. A failing application, or a person's own task, has
 *    nothing to do with it.
 * 2. What was placed anew is finished: the system never turns round half-way. What was not, goes back.
 * 3. In mode Directly nothing is placed anew before the task is over, so a recovery before that always rolls back.
 */
import type { Cluster, EvictionTask, ResourceBinding } from "@lifeboat/api";
import { evictingTaints } from "../evacuation/affected.ts";
import { rollBack } from "../evacuation/evict.ts";
import { isDivided, readPlacement } from "../placement/rules.ts";
import { formatPreservedState, readPreservedState } from "../rendering/preserved-state.ts";
import { PRESERVED_STATE } from "../well-known.ts";
import { isForTaint, modeOf } from "./purge-mode.ts";
import { isGoing, isInResult, isPlaced, type TasksView, workIn } from "./view.ts";

/** Whether the task is to be rolled back. */
export function isTakenBack(view: TasksView, task: EvictionTask): boolean {
  const cluster = view.clusters.get(task.fromCluster);
  if (cluster === undefined || !isRecovered(cluster)) return false;
  return isForTaint(task) && !isInResult(view, task) && isUnplaced(view, task);
}

function isRecovered(cluster: Cluster): boolean {
  return cluster.metadata.deletionTimestamp === undefined && evictingTaints(cluster).length === 0;
}

/** Whether nothing has been placed for what the task took out. */
function isUnplaced(view: TasksView, task: EvictionTask): boolean {
  const { spec } = view.binding;
  const clusters = spec.clusters ?? [];
  if (clusters.length === 0 || modeOf(task) === "Directly") return true;
  const before = task.clustersBeforeFailover;
  if (before === undefined || isPlaced(view)) return false;
  if (clusters.some(({ name }) => !before.includes(name))) return false;
  if (!isDivided(readPlacement(spec.placement))) return true;
  const placed = clusters.reduce((sum, { replicas = 0 }) => sum + replicas, 0);
  return placed < (spec.replicas ?? 0);
}

/**
 * The binding with the former result. A copy that was removed meanwhile is a new one when it returns, so it gets the state
 * that was saved; a copy that is still there goes on as it was.
 */
export function takenBack(
  view: TasksView,
  binding: ResourceBinding,
  cluster: string,
): ResourceBinding {
  const back = rollBack(binding, cluster);
  const state = readPreservedState(back as never);
  if (state?.from !== cluster) return back;
  const old = workIn(view, cluster);
  const { [PRESERVED_STATE]: _saved, ...others } = back.metadata.annotations ?? {};
  const isThere = old !== undefined && !isGoing(old);
  const annotations = isThere
    ? others
    : { ...others, [PRESERVED_STATE]: formatPreservedState({ from: "", labels: state.labels }) };
  return { ...back, metadata: { ...back.metadata, annotations } };
}
