/**
 * How entries become LedgerSlices: numbered, at most 500 or 400 KB to a slice, the newest 200 slices kept.
 *
 * 1. Every entry has a number, one more than that of the entry before. Slices are named by the numbers that they hold, so a slice
 *    that was written, and whose answer was lost, is met again by its name.
 * 2. Slices are never changed. When many small ones lie at the end, the next slice takes their entries over, and they are deleted
 *    after it was written: a process that dies in between leaves entries that stand in two slices, with the same numbers.
 * 3. Readers take each number once (`readLedger`): of two slices that hold a number, the longer one.
 */
import { type LedgerEntry, type LedgerSlice, MAX_LEDGER_ENTRIES, type New } from "@lifeboat/api";

/** How many slices are kept. */
export const MAX_SLICES = 200;
/** Short of what an API server stores as one object. */
const MAX_BYTES = 400_000;
/** So many small slices in a row become one. */
const MERGED = 20;

export interface NumberedEntry extends LedgerEntry {
  readonly number: number;
}

/** All entries of the slices by their numbers, each once. */
export function readLedger(slices: Iterable<LedgerSlice>): readonly NumberedEntry[] {
  const longest = [...slices].toSorted(
    (a, b) => a.spec.entries.length - b.spec.entries.length || (nameOf(a) < nameOf(b) ? -1 : 1),
  );
  const found = new Map<number, LedgerEntry>();
  for (const { spec } of longest)
    for (const [i, entry] of spec.entries.entries()) found.set(spec.first + i, entry);
  return [...found].toSorted(([a], [b]) => a - b).map(([number, entry]) => ({ ...entry, number }));
}

export interface SlicesPlan {
  /** To be written in this order. */
  readonly create: readonly New<LedgerSlice>[];
  /** To be deleted after that. */
  readonly remove: readonly string[];
}

/** What to write for entries that no slice holds yet. */
export function decideSlices(
  slices: readonly LedgerSlice[],
  pending: readonly LedgerEntry[],
): SlicesPlan {
  if (pending.length === 0) return { create: [], remove: surplus(slices, 0) };
  const sorted = slices.toSorted(
    (a, b) => a.spec.first - b.spec.first || a.spec.last - b.spec.last,
  );
  const last = sorted.reduce((most, { spec }) => Math.max(most, spec.last), 0);
  const tail = mergeable(sorted, pending);
  const [head] = tail;
  const entries = [...tail.flatMap(({ spec }) => spec.entries), ...pending];
  const create = cut(entries, head?.spec.first ?? last + 1);
  const merged = new Set(tail);
  const kept = sorted.filter((slice) => !merged.has(slice));
  return { create, remove: [...tail.map(nameOf), ...surplus(kept, create.length)] };
}

/** Small slices at the end, whose numbers follow each other, that the next one takes over; empty: there are too few. */
function mergeable(
  sorted: readonly LedgerSlice[],
  pending: readonly LedgerEntry[],
): readonly LedgerSlice[] {
  let count = pending.length;
  let bytes = bytesOf(pending);
  let from = sorted.length;
  for (; from > 0; from--) {
    const slice = sorted[from - 1];
    const next = sorted[from];
    if (slice === undefined) break;
    if (next !== undefined && next.spec.first !== slice.spec.last + 1) break;
    if (slice.spec.entries.length !== slice.spec.last - slice.spec.first + 1) break;
    count += slice.spec.entries.length;
    bytes += bytesOf(slice.spec.entries);
    if (count > MAX_LEDGER_ENTRIES || bytes > MAX_BYTES) break;
  }
  return sorted.length - from < MERGED ? [] : sorted.slice(from);
}

/** The entries as slices, none of them too large. */
function cut(entries: readonly LedgerEntry[], first: number): readonly New<LedgerSlice>[] {
  const slices: New<LedgerSlice>[] = [];
  let part: LedgerEntry[] = [];
  let bytes = 0;
  let number = first;
  const close = (): void => {
    if (part.length > 0) slices.push(sliceOf(part, number));
    number += part.length;
    part = [];
    bytes = 0;
  };
  for (const entry of entries) {
    const size = bytesOf([entry]);
    if (part.length === MAX_LEDGER_ENTRIES || bytes + size > MAX_BYTES) close();
    part.push(entry);
    bytes += size;
  }
  close();
  return slices;
}

function sliceOf(entries: readonly LedgerEntry[], first: number): New<LedgerSlice> {
  const last = first + entries.length - 1;
  const digits = (number: number): string => String(number).padStart(9, "0");
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "LedgerSlice",
    metadata: { name: `${digits(first)}-${digits(last)}` },
    spec: { first, last, entries },
  };
}

/** The oldest, beyond those that are kept beside so many new ones. */
function surplus(slices: readonly LedgerSlice[], created: number): readonly string[] {
  const count = slices.length + created - MAX_SLICES;
  if (count <= 0) return [];
  return slices
    .toSorted((a, b) => a.spec.last - b.spec.last)
    .slice(0, count)
    .map(nameOf);
}

function nameOf({ metadata }: LedgerSlice): string {
  return metadata.name;
}

function bytesOf(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
}
