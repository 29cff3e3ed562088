/**
 * A placement, read once: what its fields mean, with everything compiled that is asked for every cluster. Nothing in it
 * throws; what makes no sense reads as absent.
 */
import { countAt, integerAt, isFields, listAt, textAt, valueAt } from "../fields.ts";
import {
  type AffinityMatcher,
  affinityMatcher,
  type ClusterTraits,
} from "../propagation/selectors/cluster-affinity.ts";

export interface PlacementRules {
  /** In the order in which they are tried; never empty. */
  readonly terms: readonly AffinityTerm[];
  readonly tolerations: readonly TolerationRule[];
  readonly spread: readonly SpreadRule[];
  readonly division: DivisionRule;
}

export interface AffinityTerm {
  /** "" when the placement has no named groups. */
  readonly name: string;
  readonly matches: AffinityMatcher;
  /** Whether labels of a cluster decide. */
  readonly usesLabels: boolean;
}

export interface TolerationRule {
  readonly key: string;
  readonly exists: boolean;
  readonly value: string;
  /** "": every effect. */
  readonly effect: string;
  readonly seconds: number | undefined;
}

export type SpreadField = "cluster" | "region" | "zone" | "provider";

export interface SpreadRule {
  readonly by: SpreadField | "label";
  /** At least 1. */
  readonly min: number;
  /** NO_MAXIMUM when there is none: 0 and absent mean the same. */
  readonly max: number;
}

export type DivisionRule =
  | { readonly style: "duplicated" | "dynamic" | "aggregated" }
  | { readonly style: "static"; readonly weights: readonly WeightRule[] };

export interface WeightRule {
  readonly matches: AffinityMatcher;
  readonly weight: number;
}

/** No upper limit. */
export const NO_MAXIMUM = Infinity;

export function readPlacement(placement: unknown): PlacementRules {
  return {
    terms: readTerms(placement),
    tolerations: listAt(placement, "clusterTolerations").map(readToleration),
    spread: listAt(placement, "spreadConstraints").map(readSpread),
    division: readDivision(valueAt(placement, "replicaScheduling")),
  };
}

/** The rule by this field, where there is one. */
export function spreadBy(rules: PlacementRules, by: SpreadField): SpreadRule | undefined {
  return rules.spread.find((rule) => rule.by === by);
}

/** Whether replicas are divided, rather than each cluster getting all of them. */
export function isDivided(rules: PlacementRules): boolean {
  return rules.division.style !== "duplicated";
}

/** The fixed weight of each cluster: the highest rule that means it; all alike when no rule means any; none without rules. */
export function staticWeights(
  clusters: readonly ClusterTraits[],
  { division }: PlacementRules,
): readonly number[] {
  if (division.style !== "static") return [];
  const weights = clusters.map((cluster) => {
    let weight = 0;
    for (const rule of division.weights)
      if (rule.weight > weight && rule.matches(cluster)) weight = rule.weight;
    return weight;
  });
  return weights.some((weight) => weight > 0) ? weights : weights.map(() => 1);
}

function readTerms(placement: unknown): readonly AffinityTerm[] {
  const groups = listAt(placement, "clusterAffinities");
  if (groups.length === 0) return [termOf("", valueAt(placement, "clusterAffinity"))];
  return groups.map((group) => termOf(textAt(group, "affinityName"), group));
}

function termOf(name: string, affinity: unknown): AffinityTerm {
  const usesLabels = isFields(valueAt(affinity, "labelSelector"));
  return { name, matches: affinityMatcher(affinity), usesLabels };
}

function readToleration(toleration: unknown): TolerationRule {
  return {
    key: textAt(toleration, "key"),
    exists: textAt(toleration, "operator") === "Exists",
    value: textAt(toleration, "value"),
    effect: textAt(toleration, "effect"),
    seconds: integerAt(toleration, "tolerationSeconds"),
  };
}

const FIELDS: readonly string[] = ["cluster", "region", "zone", "provider"];

function readSpread(constraint: unknown): SpreadRule {
  const field = textAt(constraint, "spreadByField");
  const byLabel = textAt(constraint, "spreadByLabel") !== "";
  const max = countAt(constraint, "maxGroups");
  return {
    by: FIELDS.includes(field) ? (field as SpreadField) : byLabel ? "label" : "cluster",
    min: Math.max(1, countAt(constraint, "minGroups")),
    max: max === 0 ? NO_MAXIMUM : max,
  };
}

function readDivision(scheduling: unknown): DivisionRule {
  if (!isFields(scheduling)) return { style: "duplicated" };
  if (textAt(scheduling, "replicaSchedulingType") === "Duplicated") return { style: "duplicated" };
  if (textAt(scheduling, "replicaDivisionPreference") === "Aggregated")
    return { style: "aggregated" };
  const preference = valueAt(scheduling, "weightPreference");
  if (textAt(preference, "dynamicWeight") !== "") return { style: "dynamic" };
  const weights = listAt(preference, "staticWeightList").map((rule) => ({
    matches: affinityMatcher(valueAt(rule, "targetCluster")),
    weight: countAt(rule, "weight"),
  }));
  return { style: "static", weights };
}
