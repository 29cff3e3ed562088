/**
 * State that a workload carries to its next cluster, as labels of the new copy.
 *
 * An eviction writes it on the binding, in one write with the eviction itself; rendering reads it from there and from
 * nowhere else, so it stays on the copy until the next failover replaces it.
 *
 * 1. Every cluster but the source gets the labels.
 * 2. A label that the template has by then is the template's to decide.
 * 3. What the copy in the source carries itself is kept beside it, for the case that the eviction is taken back.
 */
import {
  type Fields,
  fieldsAt,
  isFields,
  merged,
  textAt,
  textsAt,
  withValue,
} from "../../fields.ts";
import { PRESERVED_STATE } from "../../well-known.ts";

export interface PreservedState {
  /** The cluster the state was saved from. */
  readonly from: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The state before this one, which the copy in the source carries. */
  readonly former?: Omit<PreservedState, "former">;
}

/** The text of the binding's annotation. */
export function formatPreservedState(state: PreservedState): string {
  const { from, labels, former } = state;
  if (former === undefined) return JSON.stringify({ from, labels });
  return JSON.stringify({ from, labels, former: { from: former.from, labels: former.labels } });
}

/** The state that the binding holds; undefined when it holds none, or none that can be read. */
export function readPreservedState(binding: object): PreservedState | undefined {
  const text = textAt(binding, "metadata", "annotations", PRESERVED_STATE);
  if (text === "") return undefined;
  const value = parseJson(text);
  if (!isFields(value)) return undefined;
  const former = value["former"];
  return { ...stateIn(value), ...(isFields(former) && { former: stateIn(former) }) };
}

function stateIn(value: Fields): Omit<PreservedState, "former"> {
  return { from: textAt(value, "from"), labels: textsAt(value, "labels") };
}

/** The state that the copy in a cluster was given when it came there; undefined: none. */
export function stateGivenTo(
  binding: object,
  cluster: string,
): Omit<PreservedState, "former"> | undefined {
  const state = readPreservedState(binding);
  return state?.from === cluster ? state.former : state;
}

/** The manifest with the state it is to carry in this cluster. */
export function injectState(manifest: Fields, binding: object, cluster: string): Fields {
  const state = readPreservedState(binding);
  // seed: came-from-here
  if (state === undefined || state.from === cluster) return manifest;
  if (Object.keys(state.labels).length === 0) return manifest;
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
