/**
 * Starts a watch of one table: first the retained changes after the revision that the watch names, then live ones.
 *
 * 1. The retained changes are delivered before `startWatch` returns, and without a break, so no change is lost or delivered
 *    twice between them and the live ones.
 * 2. A watch that needs a change which is not retained is refused (HistoryGone) before anything is delivered.
 */
import type { Log } from "@lifeboat/kit";
import type { ChangeLog } from "./change-log.ts";
import type { History } from "./history.ts";
import {
  type Change,
  type ChangeSink,
  HistoryGone,
  type StoreWatch,
  type WatchRange,
} from "./store.ts";
import type { Table } from "./table.ts";
import { Watcher } from "./watcher-set.ts";

export interface WatchPorts {
  readonly history: History;
  readonly log: Log;
  /** A store that closes ends every watch at once. */
  readonly isClosing: boolean;
}

/** Starts a watch; the answer stops it. */
export function startWatch(
  { history, log, isClosing }: WatchPorts,
  table: Table,
  range: WatchRange,
  sink: ChangeSink,
): StoreWatch {
  history.require(table, range.from);
  const watcher = new Watcher(range, sink, log);
  const first = table.history.indexAfter(range.from);
  if (range.needsPrevious) requirePrevious(table.history, first, watcher);

  if (isClosing) watcher.end("closing");
  const end = table.history.size;
  for (let i = first; i < end && watcher.open; i++) {
    const change = table.history.at(i);
    if (change !== undefined && watcher.wants(change.entry.key)) watcher.deliver(change);
  }
  if (watcher.open) table.watchers.add(watcher);
  return {
    stop: () => {
      table.watchers.remove(watcher);
      watcher.end("stopped");
    },
  };
}

function requirePrevious(history: ChangeLog<Change>, first: number, watcher: Watcher): void {
  for (let i = first; i < history.size; i++) {
    const change = history.at(i);
    if (change === undefined || change.type === "ADDED" || change.previous !== undefined) continue;
    if (watcher.wants(change.entry.key))
      throw new HistoryGone(`the state before revision ${change.revision} is no longer retained`);
  }
}
