/**
 * The retained changes of all tables: what a watch resumes from, and what a range of an older revision is rebuilt from.
 *
 * 1. History holds every change of the last `historyMaxEvents` or `historyMaxBytes`, whichever is less, and at least one.
 *    `keepShare` lowers both limits for as long as the storage is full.
 * 2. One log holds the order of the changes over all tables; each table's own log holds the changes of that table in the
 *    same order. So the oldest change of all is always the oldest change of its table.
 * 3. `untrimmed` counts the changes that are on disk and no longer here, until the storage has trimmed them.
 * 4. Changes of volatile tables do not survive a restart, so a volatile table has no history from before the opening.
 */
import { ChangeLog } from "./change-log.ts";
import type { ChangeType } from "./storage.ts";
import { type Change, type Entry, HistoryGone } from "./store.ts";
import { StoredEntry } from "./stored-entry.ts";
import type { Table } from "./table.ts";

export interface HistoryLimits {
  readonly historyMaxEvents: number;
  readonly historyMaxBytes: number;
}

/** Changes of the last so many revisions keep the parsed object of the state before them. */
const WARM_CHANGES = 256;

interface LoggedChange {
  readonly revision: number;
  readonly table: Table;
}

export class History {
  readonly #limits: HistoryLimits;
  readonly #openedAt: number;
  /** Every change of every table; a table's own history holds the same changes in the same order. */
  readonly #changes = new ChangeLog<LoggedChange>();
  #share = 1;
  #bytes = 0;
  #warmFrom = 0;
  #oldestRevision: number;
  #untrimmed = 0;

  /** `oldestRevision`: a watch can start from it; `openedAt`: the revision that the store was opened with. */
  constructor(limits: HistoryLimits, oldestRevision: number, openedAt: number) {
    this.#limits = limits;
    this.#oldestRevision = oldestRevision;
    this.#openedAt = openedAt;
  }

  /** The oldest revision that a watch can start from. */
  get oldestRevision(): number {
    return this.#oldestRevision;
  }

  /** The revision of the oldest retained change. */
  get firstRevision(): number | undefined {
    return this.#changes.at(0)?.revision;
  }

  /** How many changes that are on disk were dropped from history since the storage last trimmed. */
  get untrimmed(): number {
    return this.#untrimmed;
  }

  /** The storage has trimmed this many changes. */
  trimmed(count: number): void {
    this.#untrimmed -= count;
  }

  /** Adds a change that is newer than all others. The limits hold again after `dropOld`. */
  add(table: Table, change: Change): void {
    table.history.push(change);
    this.#changes.push({ revision: change.revision, table });
    this.#bytes += change.entry.bytes.length;
  }

  /** The changes so far were read from disk: only the present state of an object is parsed, so none is left to chill. */
  loaded(): void {
    this.#warmFrom = this.#changes.size;
    this.dropOld();
  }

  /** Keeps only this share of the limits from here on. */
  keepShare(share: number): void {
    this.#share = share;
    this.dropOld();
  }

  /** Drops what is beyond the limits, and the parsed objects that are not needed any more. */
  dropOld(): void {
    const maxEvents = this.#limits.historyMaxEvents * this.#share;
    const maxBytes = this.#limits.historyMaxBytes * this.#share;
    while (
      (this.#changes.size > maxEvents && this.#changes.size > 1) ||
      (this.#bytes > maxBytes && this.#changes.size > 1)
    )
      this.#dropOldest();
    this.#chillOld();
  }

  #dropOldest(): void {
    const table = this.#changes.shift()?.table;
    const change = table?.history.shift();
    if (table === undefined || change === undefined) return;
    this.#bytes -= change.entry.bytes.length;
    this.#oldestRevision = change.revision;
    this.#warmFrom = Math.max(this.#warmFrom - 1, 0);
    if (!table.volatile) this.#untrimmed += 1;
  }

  /**
   * Drops the parsed form of what a change replaced, once the change is not among the newest any more. Of volatile tables
   * also that of the present state: Events are many, and hardly ever read again.
   */
  #chillOld(): void {
    for (; this.#warmFrom < this.#changes.size - WARM_CHANGES; this.#warmFrom++) {
      const logged = this.#changes.at(this.#warmFrom);
      if (logged === undefined) return;
      const { history } = logged.table;
      const change = history.at(history.indexAfter(logged.revision - 1));
      if (change?.previous instanceof StoredEntry) change.previous.chill();
      const isLast = change?.type === "DELETED" || logged.table.volatile;
      if (isLast && change?.entry instanceof StoredEntry) change.entry.chill();
    }
  }

  /** Throws HistoryGone unless every change of the table after `from` is retained. */
  require(table: Table, from: number): void {
    const oldest = table.volatile
      ? Math.max(this.#oldestRevision, this.#openedAt)
      : this.#oldestRevision;
    if (from < oldest)
      throw new HistoryGone(`revision ${from} is older than ${oldest}, the oldest retained`);
  }

  /** What differed at revision `at`: per key the state then, undefined for absent. */
  statesAt(table: Table, at: number): ReadonlyMap<string, Entry | undefined> {
    this.require(table, at);
    const undone = new Map<string, Change>();
    const first = table.history.indexAfter(at);
    for (let i = table.history.size - 1; i >= first; i--) {
      const change = table.history.at(i);
      if (change !== undefined) undone.set(change.entry.key, change);
    }
    const states = new Map<string, Entry | undefined>();
    for (const [key, change] of undone) {
      if (change.type !== "ADDED" && change.previous === undefined)
        throw new HistoryGone(`the state of ${key} at revision ${at} is no longer retained`);
      states.set(key, change.previous);
    }
    return states;
  }
}

/** The change that leads from `previous` to `entry`. */
export function changeOf(type: ChangeType, entry: Entry, previous: Entry | undefined): Change {
  return previous === undefined
    ? { type, revision: entry.revision, entry }
    : { type, revision: entry.revision, entry, previous };
}
