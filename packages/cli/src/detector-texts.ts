/** What detectors find amiss, also where no Remedy acts on it: a line for each condition and status of the page `lifeboat status`. */
import type { Cluster } from "@lifeboat/api";
import { reportedAmiss } from "@lifeboat/core/remedy/detector";

const SHOWN = 5;

export function detectorTexts(clusters: readonly Cluster[]): readonly string[] {
  const found = new Map<string, string[]>();
  for (const { metadata, status } of clusters)
    for (const condition of reportedAmiss(status?.conditions)) {
      const what = `${condition.type} is ${condition.status} in`;
      found.set(what, [...(found.get(what) ?? []), metadata.name]);
    }
  return [...found.keys()].sort().map((what) => {
    const all = (found.get(what) ?? []).toSorted();
    const more = all.length > SHOWN ? ` and ${all.length - SHOWN} more` : "";
    return `${what} ${all.slice(0, SHOWN).join(", ")}${more}`;
  });
}
