/**
 * The entries of a table within a range of keys: walked in key order, or counted, now or as of an older revision.
 *
 * 1. The state as of an older revision is the present state with `undone` (from history) in the place of what differs.
 * 2. A walk is lazy: it reads only as many entries as its caller takes.
 */
import { endOfPrefix } from "./key-text.ts";
import type { SortedMap } from "./sorted-map.ts";
import type { Entry, RangeOptions } from "./store.ts";
import type { StoredEntry } from "./stored-entry.ts";

/** Per key the state at an older revision, undefined for absent. */
export type Undone = ReadonlyMap<string, Entry | undefined>;

export const NOTHING_UNDONE: Undone = new Map();

/** How many entries a range holds, without a walk over them. */
export function countRange(
  entries: SortedMap<StoredEntry>,
  options: RangeOptions,
  undone: Undone,
): number {
  const end = endOfPrefix(options.prefix ?? "");
  const start = startOf(options);
  let count = entries.count(start, end);
  for (const [key, entry] of undone) {
    if (key < start || (end !== undefined && key >= end)) continue;
    count += (entry === undefined ? 0 : 1) - (entries.get(key) === undefined ? 0 : 1);
  }
  return count;
}

/** The least key that is below the prefix and after `after`: a key with one more character is its successor. */
function startOf({ prefix = "", after }: RangeOptions): string {
  if (after === undefined) return prefix;
  const next = `${after}\0`;
  return next > prefix ? next : prefix;
}

/** The entries of a range in key order, with the states in `undone` in place of the present ones. */
export function walkRange(
  entries: SortedMap<StoredEntry>,
  options: RangeOptions,
  undone: Undone,
): Iterable<Entry> {
  const start = startOf(options);
  const prefix = options.prefix ?? "";
  const present = entries.valuesFrom(start);
  if (undone.size === 0) return whileBelow(present, prefix);
  const before: Entry[] = [];
  for (const [key, entry] of undone)
    if (entry !== undefined && key >= start && key.startsWith(prefix)) before.push(entry);
  before.sort((a, b) => (a.key < b.key ? -1 : 1));
  return merge(whileBelow(present, prefix), before, undone);
}

function* whileBelow(entries: Iterable<Entry>, prefix: string): Iterable<Entry> {
  for (const entry of entries) {
    if (!entry.key.startsWith(prefix)) return;
    yield entry;
  }
}

function* merge(
  present: Iterable<Entry>,
  before: readonly Entry[],
  undone: Undone,
): Iterable<Entry> {
  let next = 0;
  for (const entry of present) {
    for (let old = before[next]; old !== undefined && old.key <= entry.key; old = before[next]) {
      yield old;
      next += 1;
    }
    if (!undone.has(entry.key)) yield entry;
  }
  yield* before.slice(next);
}
