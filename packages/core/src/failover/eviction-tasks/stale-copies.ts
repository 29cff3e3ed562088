/**
 * A cluster that returns may still run copies that were removed while it did not answer. Until they are gone, its
 * condition StaleCopiesRemoved keeps new workloads away (D11).
 *
 * 1. A copy is stale when its Work is being deleted and the member has not confirmed yet that the copy is gone.
 * 2. The condition turns False while the cluster does not answer, so that it is set before the cluster is Ready again.
 *    Copies that are removed from a cluster that answers do not change it.
 * 3. It turns True when no stale copy is left, and is not written for clusters that never had one.
 * 4. A person's declaration that the cluster is off ends once the cluster answers.
 */
import type { Cluster, Condition } from "@lifeboat/api";
import { findCondition } from "@lifeboat/api";
import { defineReasons, type PlannedCondition } from "../../plan.ts";
import { FENCED } from "../../well-known.ts";
import { isAnswering, isSilent } from "./fence.ts";

export const STALE_COPIES_REMOVED = "StaleCopiesRemoved";

export const staleCopiesReasons = defineReasons({
  StaleCopies: "Copies that should no longer be in the cluster may still run there.",
  NoStaleCopies: "No copy is left that should not be in the cluster.",
});

export type StaleCopiesReason = keyof typeof staleCopiesReasons;

export interface StaleCopiesPlan {
  /** The condition as it is to be; undefined: as it is. */
  readonly condition?: PlannedCondition<StaleCopiesReason>;
  /** Whether a person's declaration that the cluster is off is to be removed. */
  readonly liftFence: boolean;
}

/** `hasStale`: whether Works of the cluster are being deleted. */
export function decideStaleCopies(cluster: Cluster, hasStale: boolean): StaleCopiesPlan {
  const liftFence = isAnswering(cluster) && cluster.metadata.annotations?.[FENCED] !== undefined;
  const condition = conditionOf(cluster, hasStale);
  return { ...(condition !== undefined && { condition }), liftFence };
}

/** Whether it matters if a Work of this cluster goes: it does not answer, or waits for copies to go. */
export function awaitsStaleCopies(cluster: Cluster): boolean {
  return isSilent(cluster) || current(cluster)?.status === "False";
}

function conditionOf(
  cluster: Cluster,
  hasStale: boolean,
): PlannedCondition<StaleCopiesReason> | undefined {
  const isFalse = current(cluster)?.status === "False";
  if (isFalse === hasStale) return undefined;
  if (hasStale && !isSilent(cluster)) return undefined;
  return planned(hasStale ? "StaleCopies" : "NoStaleCopies");
}

function current({ status }: Cluster): Condition | undefined {
  return findCondition(status?.conditions, STALE_COPIES_REMOVED);
}

function planned(reason: StaleCopiesReason): PlannedCondition<StaleCopiesReason> {
  const status = reason === "StaleCopies" ? "False" : "True";
  const message = staleCopiesReasons[reason];
  return { type: STALE_COPIES_REMOVED, status, reason, message };
}
