/**
 * Whether a cluster is meant by a `ClusterAffinity`: exclusion wins, then labels, fields and names must all agree; an
 * empty part agrees with every cluster, an affinity that is absent with all of them.
 */
import { labelSelectorFrom, matchesLabels } from "@lifeboat/api";
import { fieldsAt, isFields, listAt, textAt, textsAt, valueAt } from "../fields.ts";
import { readLabelSelector } from "./label-selector.ts";

export function matchesCluster(cluster: unknown, affinity: unknown): boolean {
  if (!isFields(affinity)) return true;
  const name = textAt(cluster, "metadata", "name");
  if (listAt(affinity, "exclude").includes(name)) return false;
  const labels = readLabelSelector(valueAt(affinity, "labelSelector"));
  if (
    labels !== undefined &&
    !matchesLabels(labelSelectorFrom(labels), textsAt(cluster, "metadata", "labels"))
  )
    return false;
  if (
    !listAt(affinity, "fieldSelector", "matchExpressions").every((term) =>
      matchesField(cluster, term),
    )
  )
    return false;
  const names = listAt(affinity, "clusterNames");
  return names.length === 0 || names.includes(name);
}

/** `In` asks for an overlap, `NotIn` for none; a cluster without a value overlaps with nothing. */
function matchesField(cluster: unknown, term: unknown): boolean {
  const values = listAt(term, "values");
  const overlaps = valuesOf(cluster, textAt(term, "key")).some((value) => values.includes(value));
  const operator = textAt(term, "operator");
  if (operator === "In") return overlaps;
  if (operator === "NotIn") return !overlaps;
  return false;
}

function valuesOf(cluster: unknown, key: string): readonly unknown[] {
  const spec = fieldsAt(cluster, "spec");
  if (key === "provider" || key === "region")
    return [spec[key]].filter((value) => value !== "" && value !== undefined);
  if (key !== "zone") return [];
  const zones = listAt(spec, "zones");
  // The older spelling holds a single zone.
  if (zones.length === 0 && textAt(spec, "zone") !== "") return [textAt(spec, "zone")];
  return zones;
}
