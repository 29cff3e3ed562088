/** Entries of the history in the log: what a person should see at once as a warning, the rest for a lower level. */
import type { LedgerEntry } from "@lifeboat/api";
import { entrySentence, type LedgerAction } from "@lifeboat/core/history";
import type { Log } from "@lifeboat/kit";

const WARNED: ReadonlySet<string> = new Set<LedgerAction>([
  "NotReady",
  "EvacuationBegan",
  "Held",
  "AllPaused",
]);

export function logEntry(log: Log, entry: LedgerEntry): void {
  const { action, cluster, evacuation, by } = entry;
  const fields = {
    action,
    text: entrySentence(entry),
    ...(cluster === undefined ? {} : { cluster }),
    ...(evacuation === undefined ? {} : { evacuation }),
    ...(by === undefined ? {} : { by }),
  };
  if (WARNED.has(action)) log.warn("history", fields);
  else log.info("history", fields);
}
