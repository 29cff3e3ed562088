/** A placement in words: counted for conditions, cluster by cluster for people who ask. */
import { compareText } from "../fields.ts";
import type { CandidateFleet } from "./candidate.ts";
import { roomFor } from "./room.ts";
import type { Explanation, PlacementView } from "./view.ts";
import { readWorkload } from "./workload.ts";

/** `0/12 clusters are available: 3 cluster(s) had untolerated taint {a:NoSchedule}, 9 …` */
export function countedMessage({ verdicts }: Explanation): string {
  const counts = new Map<string, number>();
  let available = 0;
  for (const verdict of verdicts) {
    if (verdict === undefined) available += 1;
    else counts.set(verdict.message, (counts.get(verdict.message) ?? 0) + 1);
  }
  const why = [...counts].map(([message, count]) => `${count} ${message}`).sort(compareText);
  const counted = `${available}/${verdicts.length} clusters are available`;
  if (available > 0 && why.length === 0) return `${counted}.`;
  const shown = why.length === 0 ? ["no cluster exists"] : shorten(why);
  return `${counted}: ${shown.join(", ")}.`;
}

/** Why no cluster fits, and what would change that. */
export function unfitMessage(explanation: Explanation): string {
  const help = whatHelps(explanation).slice(0, MOST_HELP);
  const counted = countedMessage(explanation);
  return help.length === 0 ? counted : `${counted} It would help to: ${help.join("; ")}.`;
}

const MOST_HELP = 3;

/** What would make more clusters fit, each once, the one that helps most clusters first. */
export function whatHelps({ verdicts, keepers }: Explanation): readonly string[] {
  const counts = new Map<string, number>();
  for (const verdict of [...verdicts, ...keepers.values()])
    if (verdict !== undefined) counts.set(verdict.help, (counts.get(verdict.help) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || compareText(a[0], b[0])).map(([help]) => help);
}

/** How one cluster fared. */
export interface Verdict {
  readonly cluster: string;
  readonly fits: boolean;
  /** "" when it simply fits. */
  readonly filter: string;
  readonly message: string;
}

export function verdictsOf(
  fleet: CandidateFleet,
  { verdicts, keepers }: Explanation,
): readonly Verdict[] {
  return fleet.candidates.map(({ name }, i) => {
    const rejection = verdicts[i];
    const keeper = keepers.get(name);
    if (rejection !== undefined)
      return { cluster: name, fits: false, filter: rejection.filter, message: rejection.message };
    if (keeper !== undefined)
      return { cluster: name, fits: true, filter: keeper.filter, message: keeper.message };
    return { cluster: name, fits: true, filter: "", message: "" };
  });
}

/** The message of a filter about clusters in the plural, put in the singular: `had untolerated taint {…}`. */
export function ofOneCluster(message: string): string {
  return message
    .replace(/^cluster\(s\) /, "")
    .replace(/^are /, "is ")
    .replace(/^were /, "was ");
}

/** How many more replicas of the binding's workload each cluster has room for, by name. */
export function roomByCluster({ binding, fleet, reserved }: PlacementView): Map<string, number> {
  const { request } = readWorkload(binding);
  return new Map(
    fleet.candidates.map(({ name, room }) => [name, roomFor(room, request, reserved.get(name))]),
  );
}

/** Thousands of different taints must not fill a condition. */
const MOST_REASONS = 20;

function shorten(why: readonly string[]): readonly string[] {
  if (why.length <= MOST_REASONS) return why;
  return [...why.slice(0, MOST_REASONS), `and ${why.length - MOST_REASONS} further reasons`];
}
