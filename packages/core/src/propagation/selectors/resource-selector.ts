/**
 * How precisely a list of `ResourceSelector`s means an object. A name beats labels, labels beat "all of this kind"; of
 * several selectors the most precise one counts.
 */
import { labelSelectorFrom, matchesLabels } from "@lifeboat/api";
import { textAt, textsAt, valueAt } from "../../fields.ts";
import { readLabelSelector } from "./label-selector.ts";

/** Numbers, because policies are ordered by them. */
export const precision = { none: 0, all: 1, labels: 2, name: 3 } as const;
export type Precision = (typeof precision)[keyof typeof precision];

export function precisionOf(object: unknown, selectors: readonly unknown[]): Precision {
  let best: Precision = precision.none;
  for (const selector of selectors) {
    const found = precisionOfOne(object, selector);
    if (found > best) best = found;
  }
  return best;
}

function precisionOfOne(object: unknown, selector: unknown): Precision {
  if (textAt(selector, "apiVersion") !== textAt(object, "apiVersion")) return precision.none;
  if (textAt(selector, "kind") !== textAt(object, "kind")) return precision.none;
  const namespace = textAt(selector, "namespace");
  if (namespace !== "" && namespace !== textAt(object, "metadata", "namespace"))
    return precision.none;
  const name = textAt(selector, "name");
  if (name !== "")
    return name === textAt(object, "metadata", "name") ? precision.name : precision.none;
  const labels = readLabelSelector(valueAt(selector, "labelSelector"));
  if (labels === undefined) return precision.all;
  return matchesLabels(labelSelectorFrom(labels), textsAt(object, "metadata", "labels"))
    ? precision.labels
    : precision.none;
}
