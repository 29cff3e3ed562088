/**
 * What stands in the annotation `lifeboat.dev/remedy-sources` of a Cluster: which Remedies caused which action, since when, and
 * which block the brake holds. Only the Remedy controller writes it. A text that cannot be read counts as none.
 *
 * It is bounded: at most `MAX_SOURCES` entries (those of TrafficControl first), each with at most `MAX_NAMES` names.
 */
import { TRAFFIC_CONTROL } from "@lifeboat/api";
import { compareText, countAt, isFields, listAt, textAt, valueAt } from "../../fields.ts";
import { REMEDY_SOURCES } from "../../well-known.ts";
import type { RemedyCause, RemedyCluster } from "./wanted.ts";

/** Why a cluster has an action, or would have it. */
export interface RemedySource {
  readonly action: string;
  readonly cause: RemedyCause;
  /** The first of the Remedies, in order. */
  readonly remedies: readonly string[];
  /** How many there are beyond those. */
  readonly more?: number;
  /** When the action began, or began to wait. */
  readonly since: string;
  /** true: the brake holds it, so the cluster does not have the action for this cause. */
  readonly held?: boolean;
}

const MAX_NAMES = 10;
const MAX_SOURCES = 50;

/** The sources that a Cluster names. */
export function readSources({
  metadata,
}: Pick<RemedyCluster, "metadata">): readonly RemedySource[] {
  const text = metadata.annotations?.[REMEDY_SOURCES];
  if (text === undefined) return [];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.flatMap(readSource) : [];
  } catch {
    // Edited by hand, and no longer readable: it is written again from the Remedies.
    return [];
  }
}

function readSource(value: unknown): readonly RemedySource[] {
  const action = textAt(value, "action");
  const cause = textAt(value, "cause");
  if (!isFields(value) || action === "" || (cause !== "Order" && cause !== "Conditions")) return [];
  const remedies = listAt(value, "remedies").filter((name) => typeof name === "string");
  const more = countAt(value, "more");
  const held = valueAt(value, "held") === true;
  return [
    {
      action,
      cause,
      remedies,
      ...(more > 0 && { more }),
      since: textAt(value, "since"),
      ...(held && { held }),
    },
  ];
}

/** The text of the annotation; undefined: there is nothing to record. */
export function formatSources(sources: readonly RemedySource[]): string | undefined {
  if (sources.length === 0) return undefined;
  const first = ({ action }: RemedySource): number => (action === TRAFFIC_CONTROL ? 0 : 1);
  const kept = sources
    .toSorted((a, b) => first(a) - first(b) || compareText(a.action, b.action))
    .slice(0, MAX_SOURCES);
  return JSON.stringify(kept);
}

/** The names as the record keeps them. */
export function boundedNames(names: readonly string[]): Pick<RemedySource, "remedies" | "more"> {
  const more = names.length - MAX_NAMES;
  return { remedies: names.slice(0, MAX_NAMES), ...(more > 0 && { more }) };
}

/** The Remedies of a source, for people. */
export function namesOfSource({ remedies, more = 0 }: RemedySource): string {
  const what = remedies.length + more === 1 ? "Remedy" : "Remedies";
  return `${what} ${remedies.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Whether a cluster has this action now, for whatever cause. */
export function hasAction({ status }: RemedyCluster, action: string): boolean {
  return (status?.remedyActions ?? []).includes(action);
}
