/**
 * Fills the tables and the history of a store that is being opened with what the storage holds.
 *
 * 1. Rows of volatile tables are passed over: an earlier version, or other options, may have left them on disk.
 * 2. The newest state of each key is one entry, shared by `entries` and history.
 */
import { changeOf, type History } from "./history.ts";
import { splitStorageKey } from "./key-text.ts";
import type { Loaded } from "./storage.ts";
import { coldEntry, type StoredEntry, warmEntry } from "./stored-entry.ts";
import type { Tables } from "./table.ts";

/** Fills `tables` and `history`, both empty. */
export function loadTables(loaded: Loaded, tables: Tables, history: History): void {
  loadObjects(loaded, tables);
  loadHistory(loaded, tables, history);
}

function loadObjects(loaded: Loaded, tables: Tables): void {
  for (const row of loaded.objects) {
    const { table: name, key } = splitStorageKey(row.key);
    const table = tables.of(name);
    if (!table.volatile) table.entries.set(key, warmEntry(key, row.revision, row.bytes));
  }
}

/** A change's `previous` is the change of the same key before it, when that is still in history. */
function loadHistory(loaded: Loaded, tables: Tables, history: History): void {
  const last = new Map<string, StoredEntry>();
  for (const row of loaded.history) {
    const { table: name, key } = splitStorageKey(row.key);
    const table = tables.of(name);
    if (table.volatile) continue;
    const newest = table.entries.get(key);
    const entry =
      newest?.revision === row.revision ? newest : coldEntry(key, row.revision, row.bytes);
    const previous = row.type === "ADDED" ? undefined : last.get(row.key);
    if (row.type === "DELETED") last.delete(row.key);
    else last.set(row.key, entry);
    if (row.revision >= loaded.historyStart)
      history.add(table, changeOf(row.type, entry, previous));
  }
  history.loaded();
}
