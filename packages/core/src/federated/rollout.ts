/**
 * How a new pod template reaches a federated StatefulSet: one cluster at a time.
 *
 * 1. The cluster with the highest number is updated first and the first cluster last, as a StatefulSet updates its highest
 *    ordinal first. A cluster whose pods are not all ready comes before the others: its update costs nothing, and may be its cure.
 * 2. The next cluster has its turn when every cluster that has the new template reports all its pods updated and ready, and the
 *    pods of the other living clusters are ready, too. So a cluster that fails stops the rest.
 * 3. Of a quorum the disruption budget must allow one pod more to go (budget.ts).
 * 4. A dead cluster has no turn: it keeps its old template, and has its turn when it is back. One that died after its turn stops
 *    the rest.
 * 5. Nothing is remembered: whose turn it is follows from what the members' copies are and report.
 */
import { defineReasons } from "../plan.ts";
import type { DisruptionBudget } from "./budget.ts";
import { startedShares, startOrder } from "./start.ts";
import type { FederatedRecord } from "./record.ts";

export const rolloutReasons = defineReasons({
  UpToDate: "Every cluster has the pod template of the set.",
  Updating: "One cluster is being updated; the others wait for it.",
  RolloutStopped:
    "A cluster that was updated, or is to stay up meanwhile, is not well; the others keep their old pods.",
  BudgetSpent: "The disruption budget of the quorum allows no pod to go; the rollout waits.",
  ClusterDead: "The clusters that are not updated yet do not answer.",
});

export type RolloutReason = keyof typeof rolloutReasons;

/** The copy of the set in one cluster. */
export interface RolloutCopy {
  readonly cluster: string;
  readonly isLiving: boolean;
  /** It has the pod template and the update strategy that it is to have. */
  readonly isCurrent: boolean;
  /** The report below was made after the copy became what it is. */
  readonly isReported: boolean;
  readonly replicas: number;
  readonly ready: number;
  readonly updated: number;
  /** Pods below this ordinal keep the old template. */
  readonly partition: number;
}

export interface RolloutDecision {
  readonly reason: RolloutReason;
  readonly message: string;
  /** The clusters that keep their old template for now. */
  readonly held: ReadonlySet<string>;
}

/** Whose turn it is. `budget` is that of the set now. */
export function decideRollout(
  record: FederatedRecord,
  copies: readonly RolloutCopy[],
  budget: DisruptionBudget,
): RolloutDecision {
  const outdated = copies.filter(({ isCurrent }) => !isCurrent);
  const names = namesOf(record, outdated);
  const hold = (reason: RolloutReason, detail: string): RolloutDecision => ({
    reason,
    message: `${rolloutReasons[reason]} ${detail}`,
    held: new Set(names),
  });
  const waiting = names.length === 0 ? "No cluster waits." : `Waiting: ${names.join(", ")}.`;
  const updating = copies.find((copy) => copy.isCurrent && !isDone(copy));
  if (updating !== undefined && names.length > 0)
    return updating.isLiving
      ? hold("Updating", `${described(updating)} ${waiting}`)
      : hold("RolloutStopped", `${updating.cluster} does not answer. ${waiting}`);
  if (names.length === 0)
    return updating === undefined
      ? { reason: "UpToDate", message: rolloutReasons.UpToDate, held: new Set() }
      : hold("Updating", `${described(updating)} ${waiting}`);
  const next = nextOf(record, outdated);
  if (next === undefined) return hold("ClusterDead", waiting);
  const isFree = !isReady(next);
  const sick = copies.find((copy) => copy !== next && copy.isLiving && !isReady(copy));
  if (sick !== undefined && !isFree) return hold("RolloutStopped", `${described(sick)} ${waiting}`);
  // seed: budget-spent
  if (budget.majority > 0 && budget.allowed < 1 && !isFree)
    return hold(
      "BudgetSpent",
      `${budget.up} of ${budget.total} pods are up, and ${budget.majority} must stay up. ${waiting}`,
    );
  const left = names.filter((name) => name !== next.cluster);
  return {
    reason: "Updating",
    message: `${rolloutReasons.Updating} ${next.cluster} has its turn. ${left.length === 0 ? "No cluster waits." : `Waiting: ${left.join(", ")}.`}`,
    held: new Set(left),
  };
}

/** Where a global partition lies in one cluster: pods count from the first cluster's ordinal 0 through all clusters. */
export function localPartition(
  record: FederatedRecord,
  cluster: string,
  partition: number,
): number {
  const shares = startedShares(record);
  let before = 0;
  for (const name of startOrder(record)) {
    if (name === cluster) break;
    before += shares.get(name) ?? 0;
  }
  return Math.min(Math.max(0, partition - before), shares.get(cluster) ?? 0);
}

function nextOf(
  record: FederatedRecord,
  outdated: readonly RolloutCopy[],
): RolloutCopy | undefined {
  const order = startOrder(record).toReversed();
  const living = order.flatMap(
    (name) => outdated.find(({ cluster, isLiving }) => cluster === name && isLiving) ?? [],
  );
  return living.find((copy) => !isReady(copy)) ?? living[0];
}

function namesOf(record: FederatedRecord, copies: readonly RolloutCopy[]): readonly string[] {
  return startOrder(record)
    .toReversed()
    .filter((name) => copies.some(({ cluster }) => cluster === name));
}

function isReady({ ready, replicas }: RolloutCopy): boolean {
  return ready >= replicas;
}

function isDone(copy: RolloutCopy): boolean {
  const { isLiving, isReported, updated, replicas, partition } = copy;
  return isLiving && isReported && isReady(copy) && updated >= replicas - partition;
}

function described({ cluster, replicas, ready, updated, isReported }: RolloutCopy): string {
  if (!isReported) return `${cluster} has not reported its new template yet.`;
  return `${cluster}: ${updated} of ${replicas} pods are updated, ${ready} are ready.`;
}
