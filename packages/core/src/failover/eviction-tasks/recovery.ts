/**
 * Whether an eviction is taken back because its cluster recovered (D13).
 *
 * 1. Only evictions for a taint of the cluster end with the taint. Evictions of a failing application, and tasks that a
 *    person wrote, do not.
 * 2. A workload that was placed again finishes its move. A workload that was not placed again goes back.
 * 3. In mode Directly nothing is placed again before the task is over, so a recovery before that always rolls back.
 */
import type { Cluster, EvictionTask, ResourceBinding } from "@lifeboat/api";
import { clusterNamesOf, isDirect, isPlaced, resultOf } from "../../binding/index.ts";
import { evictingTaints } from "../evacuation/affected.ts";
import { rollBack } from "../evacuation/evict.ts";
import { isDivided, readPlacement } from "../../placement/rules.ts";
import {
  formatPreservedState,
  readPreservedState,
} from "../../propagation/rendering/preserved-state.ts";
import { PRESERVED_STATE } from "../../well-known.ts";
import { isForTaint } from "./for-taint.ts";
import { isGoing, isInResult, type TasksView, workIn } from "./view.ts";

/** Whether the task is to be rolled back. */
export function isTakenBack(view: TasksView, task: EvictionTask): boolean {
  const cluster = view.clusters.get(task.fromCluster);
  if (cluster === undefined || !isRecovered(cluster)) return false;
  return isForTaint(task) && !isInResult(view, task) && hasNoReplacement(view, task);
}

function isRecovered(cluster: Cluster): boolean {
  return cluster.metadata.deletionTimestamp === undefined && evictingTaints(cluster).length === 0;
}

/** Whether the scheduler has placed nothing for what the task took out of the result. */
function hasNoReplacement(view: TasksView, task: EvictionTask): boolean {
  const { spec } = view.binding;
  const clusters = resultOf(view.binding);
  if (clusters.length === 0 || isDirect(task)) return true;
  const before = task.clustersBeforeFailover;
  if (before === undefined || isPlaced(view.binding)) return false;
  // seed: placed-elsewhere
  if (clusters.some(({ name }) => !before.includes(name))) return false;
  if (!isDivided(readPlacement(spec.placement))) return true;
  const placed = clusters.reduce((sum, { replicas = 0 }) => sum + replicas, 0);
  return placed < (spec.replicas ?? 0);
}

/** The binding with the former result. */
export function takenBack(
  view: TasksView,
  binding: ResourceBinding,
  cluster: string,
): ResourceBinding {
  return stateOfReturn(view, rollBack(binding, cluster), cluster);
}

/**
 * The state that a workload carries which is in its old cluster again. A copy that was removed meanwhile is a new one, so
 * it gets the state that was saved; a copy that is still there goes on as it was, with the state that it carries itself.
 * What was saved for a copy elsewhere stays as it is.
 */
export function stateOfReturn(
  view: TasksView,
  binding: ResourceBinding,
  cluster: string,
): ResourceBinding {
  const state = readPreservedState(binding);
  if (state?.from !== cluster) return binding;
  const hasSaved = Object.keys(state.labels).length > 0;
  const isElsewhere = clusterNamesOf(binding).some((name) => name !== cluster);
  if (hasSaved && isElsewhere) return binding;
  const old = workIn(view, cluster);
  const isThere = old !== undefined && !isGoing(old);
  const carried = hasSaved && !isThere ? { from: "", labels: state.labels } : state.former;
  const { [PRESERVED_STATE]: _saved, ...others } = binding.metadata.annotations ?? {};
  const annotations = {
    ...others,
    ...(carried !== undefined && { [PRESERVED_STATE]: formatPreservedState(carried) }),
  };
  return { ...binding, metadata: { ...binding.metadata, annotations } };
}
