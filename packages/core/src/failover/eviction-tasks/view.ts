/** The input of a decision about eviction tasks, and the questions that plugins may ask about it. */
import type { Cluster, EvictionTask, ResourceBinding, Work } from "@lifeboat/api";
import {
  clusterNamesOf,
  isDispatchingSuspended,
  isOn,
  isPlaced,
  resultOf,
} from "../../binding/index.ts";
import { hasScheduler } from "../../propagation/matching/has-scheduler.ts";
import { isProtected, isProvenHealthy } from "../../propagation/works/copy-health.ts";
import { clusterOfWork } from "../../propagation/works/decide-works.ts";
import { type FenceTrust, isSilent } from "./fence.ts";
import type { EvictionPlugin } from "./plugins/plugin.ts";
import type { LeavingTraffic } from "./traffic-guard.ts";

export interface TasksView extends FenceTrust {
  readonly binding: ResourceBinding;
  /** The Works of the binding, those that are going included; see `worksByCluster`. */
  readonly works: ReadonlyMap<string, Work>;
  /** The Clusters that exist, of those that the tasks and the result name. */
  readonly clusters: ReadonlyMap<string, Cluster>;
  /** Clusters of the result whose Work is not what would be rendered now. */
  readonly outdated: ReadonlySet<string>;
  /** Any of them may let an old copy go. */
  readonly plugins: readonly EvictionPlugin[];
  /** The traffic of leaving copies, by cluster; absent: no ingress sends requests to them. */
  readonly traffic?: ReadonlyMap<string, LeavingTraffic>;
}

/** Works by their cluster. Of two in one cluster the one counts that stays. */
export function worksByCluster(works: readonly Work[]): ReadonlyMap<string, Work> {
  const found = new Map<string, Work>();
  for (const work of works) {
    const cluster = clusterOfWork(work);
    if (!found.has(cluster) || !isGoing(work)) found.set(cluster, work);
  }
  return found;
}

/** The Work of the binding in a cluster. */
export function workIn({ works }: TasksView, cluster: string): Work | undefined {
  return works.get(cluster);
}

export function isGoing({ metadata }: Work): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Whether the workload is placed in the cluster of the task. */
export function isInResult({ binding }: TasksView, { fromCluster }: EvictionTask): boolean {
  return isOn(binding, fromCluster);
}

/**
 * Whether the workload is where it is to be: placed in this very version, or left where it is because no policy asks for it any
 * more, so that no scheduler will ever see this version.
 */
export function isSettled({ binding }: TasksView): boolean {
  const isLeftThere = !hasScheduler(binding) && resultOf(binding).length > 0;
  return isLeftThere || isPlaced(binding);
}

/** A cluster of the result to which this version of the workload is not sent, because dispatching is suspended. */
export function undispatchedIn({ binding, works }: TasksView): string | undefined {
  return clusterNamesOf(binding).find((name) => {
    const work = works.get(name);
    return isDispatchingSuspended(binding, name) && (work === undefined || !isProvenHealthy(work));
  });
}

/** Whether the copy in a cluster can be relied on: proven healthy, as it should be now, in a cluster that answers. */
export function isDependable(view: TasksView, name: string): boolean {
  const work = workIn(view, name);
  const cluster = view.clusters.get(name);
  // seed: unknown-or-silent
  if (work === undefined || cluster === undefined || isSilent(cluster)) return false;
  return isProvenHealthy(work) && !view.outdated.has(name);
}

/** Whether letting the old copy go leaves a healthy one, or takes none away that the floor protects (D9). */
export function holdsFloor(view: TasksView, { fromCluster }: EvictionTask): boolean {
  const old = workIn(view, fromCluster);
  if (old === undefined || isGoing(old) || !isProtected(old)) return true;
  return clusterNamesOf(view.binding).some(
    (name) => name !== fromCluster && isDependable(view, name),
  );
}
