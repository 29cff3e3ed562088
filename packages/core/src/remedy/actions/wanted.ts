/**
 * Which actions Remedies want on one cluster, and why.
 *
 * 1. Absent or empty `clusterAffinity` selects every cluster; absent or empty `decisionMatches` match at once.
 * 2. One matching entry of `decisionMatches` suffices. A condition that the cluster does not have matches neither operator.
 * 3. A Remedy without `decisionMatches` is a person's order (`Order`); every other one acts by conditions (`Conditions`). A cluster can
 *    have both for the same action: the order then counts by itself, because the brake never holds it (D27).
 * 4. A Remedy that is being deleted wants nothing.
 */
import { type Cluster, findCondition, type Remedy } from "@lifeboat/api";
import { compareText } from "../../fields.ts";

export type RemedyCause = "Order" | "Conditions";

/** One action that is wanted for one cause. */
export interface WantedAction {
  readonly action: string;
  readonly cause: RemedyCause;
  /** The names of the Remedies that want it, in order. */
  readonly remedies: readonly string[];
}

/** Of a Cluster what the decision needs. */
export type RemedyCluster = Pick<Cluster, "metadata" | "status">;

/** In the order of actions, an order before conditions. */
export function wantedActions(
  remedies: readonly Remedy[],
  cluster: RemedyCluster,
): readonly WantedAction[] {
  const wanted = new Map<string, { action: string; cause: RemedyCause; remedies: Set<string> }>();
  for (const remedy of remedies) {
    const cause = causeOf(remedy, cluster);
    if (cause === undefined) continue;
    for (const action of remedy.spec.actions ?? []) {
      const key = `${cause} ${action}`;
      const known = wanted.get(key) ?? { action, cause, remedies: new Set<string>() };
      known.remedies.add(remedy.metadata.name);
      wanted.set(key, known);
    }
  }
  return [...wanted.values()]
    .map((one) => ({ ...one, remedies: [...one.remedies].sort(compareText) }))
    .sort((a, b) => compareText(a.action, b.action) || compareText(b.cause, a.cause));
}

/** Why a Remedy acts on a cluster now; undefined: it does not. */
export function causeOf(
  { metadata, spec }: Remedy,
  cluster: RemedyCluster,
): RemedyCause | undefined {
  if (metadata.deletionTimestamp !== undefined || !selectsCluster(spec, cluster.metadata.name))
    return undefined;
  const { decisionMatches = [] } = spec;
  if (decisionMatches.length === 0) return "Order";
  return decisionMatches.some((match) => isMatched(match, cluster)) ? "Conditions" : undefined;
}

/** Whether a Remedy is about this cluster at all. */
export function selectsCluster({ clusterAffinity }: Remedy["spec"], cluster: string): boolean {
  const { clusterNames = [] } = clusterAffinity ?? {};
  return clusterNames.length === 0 || clusterNames.includes(cluster);
}

type DecisionMatch = NonNullable<Remedy["spec"]["decisionMatches"]>[number];

function isMatched({ clusterConditionMatch }: DecisionMatch, { status }: RemedyCluster): boolean {
  // Admission refuses such an entry. One that was stored before matches nothing.
  if (clusterConditionMatch === undefined) return false;
  const { conditionType, operator, conditionStatus } = clusterConditionMatch;
  const condition = findCondition(status?.conditions, conditionType);
  if (condition === undefined) return false;
  const isEqual = condition.status === conditionStatus;
  if (operator === "Equal") return isEqual;
  return operator === "NotEqual" && !isEqual;
}
