/**
 * Whether a server may answer from a zone that differs from the one it serves.
 *
 * A change that takes more than half of the answering names away, at once or within a minute, is held until a person confirms it, unless the names
 * go because a person deleted a set, scaled it down or gave a share up (D28): those identities are no longer assigned. A control
 * plane without any cluster was set up from scratch: there the absence of a set means nothing (D20).
 */
import type { GlobalSet } from "./global-set.ts";
import type { OwnedRecords, ZoneNames } from "./records.ts";

/** What a zone was made from. */
export interface ZoneContent {
  readonly sets: readonly GlobalSet[];
  readonly names: ZoneNames;
}

export type ZoneChange =
  | { readonly kind: "publish" }
  | {
      readonly kind: "hold";
      /** How many answering names would go without a person's order, and of how many. */
      readonly removed: number;
      readonly of: number;
      readonly message: string;
    };

export interface ZoneChangeView {
  /** Undefined: nothing is served yet. */
  readonly served: ZoneContent | undefined;
  /** What was served a minute ago: many small changes in a row remove as much as one. */
  readonly earlier?: ZoneContent | undefined;
  readonly next: ZoneContent;
  /** Whether the control plane has any Cluster. */
  readonly hasClusters: boolean;
}

const PUBLISH: ZoneChange = Object.freeze({ kind: "publish" });

export function decideZoneChange({ served, earlier, ...view }: ZoneChangeView): ZoneChange {
  const change = compared(served, view);
  return change.kind === "hold" ? change : compared(earlier, view);
}

/** Over this time removals are added up. */
export const REMOVAL_WINDOW_MS = 60_000;

function compared(
  served: ZoneContent | undefined,
  { next, hasClusters }: Pick<ZoneChangeView, "next" | "hasClusters">,
): ZoneChange {
  if (served === undefined) return PUBLISH;
  const before = answering(served.names.owners);
  const after = answering(next.names.owners);
  const gone = [...before].filter((name) => !after.has(name));
  if (gone.length * 2 <= before.size) return PUBLISH;
  const ordered = orderedAway(served, next, hasClusters);
  const removed = gone.filter((name) => !ordered.has(name)).length;
  if (removed * 2 <= before.size) return PUBLISH;
  const message = `a change that removes ${removed} of ${before.size} names is held; \`lifeboat dns confirm\` lets it happen`;
  return { kind: "hold", removed, of: before.size, message };
}

function answering(owners: readonly OwnedRecords[]): ReadonlySet<string> {
  const names = owners.filter(({ records }) => records.some(({ type }) => type !== "TXT"));
  return new Set(names.map(({ name }) => name));
}

/** The names that go because a person's order took their identity away. */
function orderedAway(
  { sets, names }: ZoneContent,
  next: ZoneContent,
  hasClusters: boolean,
): ReadonlySet<string> {
  const away = new Set<string>();
  for (const set of sets) {
    const { namespace, service } = set;
    const now = next.sets.find((other) => other.namespace === namespace && other.set === set.set);
    if (now === undefined ? !hasClusters : now.missing !== undefined) continue;
    const assigned = new Set(now?.members.map(({ pod }) => pod));
    for (const { pod } of set.members)
      if (!assigned.has(pod)) {
        away.add(`${pod}.${service}.${namespace}.${names.apex}`);
        away.add(`${pod}.${namespace}.${names.apex}`);
      }
    if (assigned.size > 0) continue;
    for (const governing of [set.set, service])
      for (const { name } of names.owners)
        if (governs(name, `${governing}.${namespace}.${names.apex}`)) away.add(name);
  }
  return away;
}

/** The governing name itself, and `_port._proto.` before it. */
function governs(name: string, governing: string): boolean {
  return name === governing || (name.startsWith("_") && name.endsWith(`.${governing}`));
}
