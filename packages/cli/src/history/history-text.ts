/** The history as people read it: each entry behind its time, and which entries a person asked for. */
import type { LedgerEntry } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { parseTime } from "@lifeboat/base";
import { entrySentence, type NumberedEntry, readPlace } from "@lifeboat/core/history";
import { kindsMeantBy, type NamedWorkload } from "../find-binding.ts";
import { hanging } from "../wrap.ts";

export interface HistoryFilter {
  readonly workload?: NamedWorkload;
  /** The name of a cluster or of an evacuation. */
  readonly name?: string;
  readonly since?: Instant;
}

export function chosenEntries(
  entries: readonly NumberedEntry[],
  { workload, name, since }: HistoryFilter,
): readonly NumberedEntry[] {
  return entries.filter(
    (entry) =>
      (workload === undefined || isOf(entry, workload)) &&
      (name === undefined || isAbout(entry, name)) &&
      (since === undefined || (parseTime(entry.at) ?? since) >= since),
  );
}

function isOf({ workload }: LedgerEntry, named: NamedWorkload): boolean {
  if (workload === undefined || workload.name !== named.name) return false;
  if (workload.namespace !== undefined && workload.namespace !== named.namespace) return false;
  const kind = workload.kind.toLowerCase();
  return kind === "" || kindsMeantBy(named.kind).has(kind);
}

function isAbout({ cluster, evacuation, fact, value = "" }: LedgerEntry, name: string): boolean {
  if (cluster === name || evacuation === name) return true;
  if (fact !== "place") return false;
  const place = readPlace(value);
  if (place === undefined) return false;
  return (
    place.leaving.has(name) ||
    [...place.shares].some((share) => share === name || share.startsWith(`${name}:`))
  );
}

/** `12:00:31  eu-1 failed: Ready is False`, under the day. */
export function historyLines(entries: readonly LedgerEntry[]): readonly string[] {
  let day = "";
  return entries.flatMap((entry) => {
    const [date = ""] = entry.at.split("T");
    const heading = date === day ? [] : [`${date} (UTC)`];
    day = date;
    return [...heading, ...hanging(historyTime(entry.at), entrySentence(entry))];
  });
}

/** `12:00:31  ` */
export function historyTime(at: string): string {
  return `${at.slice(at.indexOf("T") + 1).slice(0, 8)}  `;
}
