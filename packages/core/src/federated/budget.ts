/**
 * The one disruption budget of a quorum, over all its clusters: how many pods may go at the same time without the quorum.
 *
 *   up        pods that are ready, in clusters that are Ready and that nothing empties
 *   majority  of all pods that were started, those of dead clusters included: the application counts them as members
 *   allowed   how many of the pods that are up may go: `up - majority`
 *
 * 1. Rollouts, drains, evacuations and `forget` share it: what one of them takes down is not up for the others. A cluster with a
 *    taint of the effect NoExecute counts as down as a whole: nothing moves its pods, but a person or a failure is about to take it.
 * 2. A set that is no quorum has no majority to keep.
 */
import { type Cluster, hasCondition, type ResourceBinding } from "@lifeboat/api";
import { countAt } from "../fields.ts";
import { isQuorum } from "./marks.ts";
import { type FederatedRecord, readFederated } from "./record.ts";
import { startedShares } from "./start.ts";

export interface BudgetView {
  readonly record: FederatedRecord;
  readonly isQuorum: boolean;
  /** By cluster: how many pods are reported ready. */
  readonly ready: ReadonlyMap<string, number>;
  /** The clusters that are Ready and that nothing empties. */
  readonly serving: ReadonlySet<string>;
}

export interface DisruptionBudget {
  readonly total: number;
  readonly up: number;
  /** 0: the set is no quorum. */
  readonly majority: number;
  /** Never negative. */
  readonly allowed: number;
}

export function disruptionBudget(view: BudgetView): DisruptionBudget {
  const shares = [...startedShares(view.record)];
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  const up = shares.reduce((sum, [name]) => sum + upIn(view, name), 0);
  const majority = view.isQuorum ? Math.floor(total / 2) + 1 : 0;
  return { total, up, majority, allowed: Math.max(0, up - majority) };
}

/** How many pods are up in a cluster: what taking it down costs. */
export function upIn({ record, ready, serving }: BudgetView, cluster: string): number {
  if (!serving.has(cluster)) return 0;
  return Math.min(startedShares(record).get(cluster) ?? 0, ready.get(cluster) ?? 0);
}

/** The view of a binding, from what its clusters last reported; undefined: it is not federated, or cannot be read. */
export function budgetViewOf(
  binding: ResourceBinding,
  clusterOf: (name: string) => Cluster | undefined,
): BudgetView | undefined {
  const record = readFederated(binding);
  if (record === undefined) return undefined;
  const names = [...startedShares(record).keys()];
  const ready = new Map(
    (binding.status?.aggregatedStatus ?? []).map(({ clusterName, status }) => [
      clusterName,
      countAt(status, "readyReplicas"),
    ]),
  );
  const serving = new Set(names.filter((name) => isServing(clusterOf(name))));
  return { record, isQuorum: isQuorum(binding), ready, serving };
}

/** Whether the pods of a cluster count as up: it is Ready, and nothing empties it. */
export function isServing(cluster: Cluster | undefined): boolean {
  return (
    cluster !== undefined &&
    cluster.metadata.deletionTimestamp === undefined &&
    hasCondition(cluster.status?.conditions, "Ready") &&
    !(cluster.spec.taints ?? []).some(({ effect }) => effect === "NoExecute")
  );
}

/** Why a cluster may not be taken down; undefined: it may. */
export function refuseTakingDown(
  view: BudgetView,
  set: string,
  cluster: string,
): string | undefined {
  const taken = upIn(view, cluster);
  const { total, up, majority, allowed } = disruptionBudget(view);
  if (majority === 0 || taken === 0 || taken <= allowed) return undefined;
  return `the quorum of ${set} would lose its majority: ${up} of its ${total} pods are up, ${taken} of them in ${cluster}, and ${majority} must stay up`;
}
