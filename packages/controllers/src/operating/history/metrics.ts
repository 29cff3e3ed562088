/** What the history costs. */
import type { MetricDefinition } from "@lifeboat/kit";

export const historyEntries: MetricDefinition<"action"> = {
  name: "lifeboat_history_entries_total",
  help: "Entries of the history that this process met, by action.",
  labels: ["action"],
};
export const historyWrites: MetricDefinition = {
  name: "lifeboat_history_writes_total",
  help: "Writes and deletions of LedgerSlices that this process tried.",
};
export const historyDropped: MetricDefinition = {
  name: "lifeboat_history_dropped_total",
  help: "Entries of the history that were lost because the API server did not take them.",
};
