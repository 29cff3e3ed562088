/**
 * Whether a cluster is meant by a `ClusterAffinity`: exclusion wins, then labels, fields and names must all agree; an
 * empty part agrees with every cluster, an affinity that is absent with all of them.
 *
 * A caller with many clusters reads the affinity once (`affinityMatcher`) and each cluster once (`clusterTraits`).
 */
import { type Labels, labelSelectorFrom, matchesLabels } from "@lifeboat/api";
import { type Fields, fieldsAt, isFields, listAt, textAt, textsAt, valueAt } from "../../fields.ts";
import { readLabelSelector } from "./label-selector.ts";

/** What an affinity is matched against. */
export interface ClusterTraits {
  readonly name: string;
  readonly labels: Labels;
  /** "" when the cluster names none. */
  readonly provider: string;
  /** "" when the cluster names none. */
  readonly region: string;
  readonly zones: readonly string[];
}

export type AffinityMatcher = (cluster: ClusterTraits) => boolean;

export function matchesCluster(cluster: unknown, affinity: unknown): boolean {
  return affinityMatcher(affinity)(clusterTraits(cluster));
}

/** What of a cluster affinities are matched against. */
export function clusterTraits(cluster: unknown): ClusterTraits {
  const spec = fieldsAt(cluster, "spec");
  const zones = listAt(spec, "zones").filter((zone) => typeof zone === "string");
  // The older spelling holds a single zone.
  const zone = textAt(spec, "zone");
  return {
    name: textAt(cluster, "metadata", "name"),
    labels: textsAt(cluster, "metadata", "labels"),
    provider: textAt(spec, "provider"),
    region: textAt(spec, "region"),
    zones: zones.length === 0 && zone !== "" ? [zone] : zones,
  };
}

/** An affinity, read once to be asked about many clusters; `matchesAll` for one that means every cluster. */
export function affinityMatcher(affinity: unknown): AffinityMatcher {
  if (!isFields(affinity)) return matchesAll;
  const parts = partsOf(affinity);
  const [only] = parts;
  if (only === undefined) return matchesAll;
  if (parts.length === 1) return only;
  return (cluster) => parts.every((matches) => matches(cluster));
}

export function matchesAll(): boolean {
  return true;
}

/** What an affinity asks for; parts that are empty ask for nothing. */
function partsOf(affinity: Fields): readonly AffinityMatcher[] {
  const parts: AffinityMatcher[] = [];
  const names = new Set(listAt(affinity, "clusterNames"));
  if (names.size > 0) parts.push(({ name }) => names.has(name));
  const excluded = new Set(listAt(affinity, "exclude"));
  if (excluded.size > 0) parts.push(({ name }) => !excluded.has(name));
  const selector = readLabelSelector(valueAt(affinity, "labelSelector"));
  const required = selector === undefined ? [] : labelSelectorFrom(selector);
  if (required.length > 0) parts.push(({ labels }) => matchesLabels(required, labels));
  for (const term of listAt(affinity, "fieldSelector", "matchExpressions").map(readFieldTerm))
    parts.push((cluster) => matchesField(cluster, term));
  return parts;
}

interface FieldTerm {
  readonly key: string;
  readonly operator: string;
  readonly values: ReadonlySet<unknown>;
}

function readFieldTerm(term: unknown): FieldTerm {
  return {
    key: textAt(term, "key"),
    operator: textAt(term, "operator"),
    values: new Set(listAt(term, "values")),
  };
}

/** `In` asks for an overlap, `NotIn` for none; a cluster without a value overlaps with nothing. */
function matchesField(cluster: ClusterTraits, { key, operator, values }: FieldTerm): boolean {
  const overlaps = valuesOf(cluster, key).some((value) => value !== "" && values.has(value));
  if (operator === "In") return overlaps;
  if (operator === "NotIn") return !overlaps;
  return false;
}

function valuesOf(cluster: ClusterTraits, key: string): readonly string[] {
  if (key === "provider" || key === "region") return [cluster[key]];
  return key === "zone" ? cluster.zones : [];
}
