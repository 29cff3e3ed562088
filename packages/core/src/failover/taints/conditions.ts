/** Whether the conditions of a cluster are those that a taint policy asks for. */
import type { ClusterTaintPolicy } from "@lifeboat/api";

type Spec = ClusterTaintPolicy["spec"];
type MatchCondition = NonNullable<Spec["matchConditions"]>[number];

export interface ObservedCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

/** What a policy wants of a cluster in one state of its conditions. */
export type Wish =
  /** The taints are wanted, once their windows have passed. */
  | "match"
  /** They are not, once their windows have passed. */
  | "mismatch"
  /** Neither: they stay as they are. Only the spelling without windows knows this. */
  | "keep";

/** What a policy with windows, or one without, wants while the cluster is in this state. */
export function wishOf(spec: Spec, conditions: readonly ObservedCondition[]): Wish {
  if (!hasWindows(spec)) {
    if (matchesAll(spec.removeOnConditions, conditions, false)) return "mismatch";
    return matchesAll(spec.addOnConditions, conditions, false) ? "match" : "keep";
  }
  return matchesAll(spec.matchConditions, conditions, true) ? "match" : "mismatch";
}

/** Whether a policy is written in the spelling with windows. */
export function hasWindows(spec: Spec): boolean {
  return spec.taints === undefined;
}

/** The state of the conditions that a policy names: another text when one of them moved, there and back included. */
export function fingerprint(spec: Spec, conditions: readonly ObservedCondition[]): string {
  const asked = [
    ...(spec.matchConditions ?? []),
    ...(spec.addOnConditions ?? []),
    ...(spec.removeOnConditions ?? []),
  ];
  const types = [...new Set(asked.map(({ conditionType }) => conditionType))].sort();
  return types
    .map((type) => {
      const found = conditions.find((condition) => condition.type === type);
      return `${type}=${found?.status ?? ""}@${found?.lastTransitionTime ?? ""}`;
    })
    .join(",");
}

function matchesAll(
  wanted: readonly MatchCondition[] | undefined,
  conditions: readonly ObservedCondition[],
  whenEmpty: boolean,
): boolean {
  if (wanted === undefined || wanted.length === 0) return whenEmpty;
  return wanted.every((one) => matchesOne(one, conditions));
}

/** A condition that the cluster does not have matches neither In nor NotIn; an unknown operator matches nothing. */
function matchesOne(wanted: MatchCondition, conditions: readonly ObservedCondition[]): boolean {
  const found = conditions.find(({ type }) => type === wanted.conditionType);
  if (found === undefined) return false;
  const isAmong = (wanted.statusValues as readonly string[]).includes(found.status);
  if (wanted.operator === "In") return isAmong;
  return wanted.operator === "NotIn" && !isAmong;
}
