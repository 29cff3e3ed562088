/**
 * The tables of the store: per table the durable entries, the writes that are not durable yet, the retained changes and
 * the watchers.
 *
 * 1. A table exists from the first time that its name is used, and is never removed.
 * 2. `entries` holds durable state only. `pending` holds the newest write of each key until that write is durable or
 *    refused, and the head of a key is its pending write, if there is one.
 */
import { ChangeLog } from "./change-log.ts";
import { SortedMap } from "./sorted-map.ts";
import type { ChangeType } from "./storage.ts";
import type { Change, Entry } from "./store.ts";
import type { StoredEntry } from "./stored-entry.ts";
import { WatcherSet } from "./watcher-set.ts";

export interface Table {
  readonly name: string;
  /** Kept in memory only. */
  readonly volatile: boolean;
  readonly entries: SortedMap<StoredEntry>;
  /** The newest write on its way, per key. */
  readonly pending: Map<string, PendingWrite>;
  readonly history: ChangeLog<Change>;
  readonly watchers: WatcherSet;
}

/** A write that has its revision and is not durable yet. */
export interface PendingWrite {
  readonly table: Table;
  readonly type: ChangeType;
  readonly entry: StoredEntry;
  readonly previous: StoredEntry | undefined;
  readonly durable: Promise<Entry>;
  readonly resolve: (entry: Entry) => void;
  readonly reject: (error: Error) => void;
}

export class Tables {
  readonly #volatile: ReadonlySet<string>;
  readonly #tables = new Map<string, Table>();

  constructor(volatileTables: ReadonlySet<string>) {
    this.#volatile = volatileTables;
  }

  /** The table, if its name was used before. */
  find(name: string): Table | undefined {
    return this.#tables.get(name);
  }

  /** The table, empty if its name was not used before. */
  of(name: string): Table {
    const found = this.#tables.get(name);
    if (found !== undefined) return found;
    const table: Table = {
      name,
      volatile: this.#volatile.has(name),
      entries: new SortedMap(),
      pending: new Map(),
      history: new ChangeLog(),
      watchers: new WatcherSet(),
    };
    this.#tables.set(name, table);
    return table;
  }

  all(): Iterable<Table> {
    return this.#tables.values();
  }
}

/** The newest state of a key, durable or not. */
export function headOf(table: Table, key: string): StoredEntry | undefined {
  const pending = table.pending.get(key);
  if (pending === undefined) return table.entries.get(key);
  return pending.type === "DELETED" ? undefined : pending.entry;
}

/** Adds a write to its table, where it is the head of its key from here on. */
export function addPending(
  table: Table,
  type: ChangeType,
  entry: StoredEntry,
  previous: StoredEntry | undefined,
): PendingWrite {
  let resolve: (entry: Entry) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const durable = new Promise<Entry>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  const write = { table, type, entry, previous, durable, resolve, reject };
  table.pending.set(entry.key, write);
  return write;
}

/** Takes a write out of its table, unless a later write of the same key has taken its place. */
export function dropPending(write: PendingWrite): void {
  const { pending } = write.table;
  if (pending.get(write.entry.key) === write) pending.delete(write.entry.key);
}
