/**
 * State that a workload carries to its next cluster, as labels of the new copy.
 *
 * An eviction writes it on the binding, in one write with the eviction itself; rendering reads it from there and from
 * nowhere else, so it stays on the copy until the next failover replaces it.
 *
 * 1. Every cluster but the source gets the labels.
 * 2. A label that the template has by then is the template's to decide.
 */
import { type Fields, fieldsAt, isFields, merged, textAt, textsAt, withValue } from "../fields.ts";
import { PRESERVED_STATE } from "../well-known.ts";

export interface PreservedState {
  /** The cluster the state was saved from. */
  readonly from: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The text of the binding's annotation. */
export function formatPreservedState(state: PreservedState): string {
  return JSON.stringify({ from: state.from, labels: state.labels });
}

/** What the binding says; undefined when it says nothing, or nothing that can be read. */
export function readPreservedState(binding: Fields): PreservedState | undefined {
  const text = textAt(binding, "metadata", "annotations", PRESERVED_STATE);
  if (text === "") return undefined;
  const value = parseJson(text);
  if (!isFields(value)) return undefined;
  return { from: textAt(value, "from"), labels: textsAt(value, "labels") };
}

/** The manifest with the state it is to carry in this cluster. */
export function injectState(manifest: Fields, binding: Fields, cluster: string): Fields {
  const state = readPreservedState(binding);
  if (state === undefined || state.from === cluster) return manifest;
  const labels = merged(state.labels, fieldsAt(manifest, "metadata", "labels"));
  return withValue(manifest, ["metadata", "labels"], labels);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
