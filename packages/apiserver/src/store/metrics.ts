/** What the store counts: the one exact answer to how many writes something costs, in process or over HTTP. */
import type { Metrics } from "@lifeboat/kit";
import type { ChangeType } from "./storage.ts";

/** Counts durable changes by the table's resource (`deployments.apps`) and by what they did. */
export function countWrites(metrics: Metrics): (table: string, type: ChangeType) => void {
  const writes = metrics.counter({
    name: "lifeboat_storage_writes_total",
    help: "Changes that were stored, by resource and by what they did: create, update or delete.",
    labels: ["resource", "operation"],
  });
  return (table, type) =>
    writes.add(1, { resource: resourceOf(table), operation: OPERATIONS[type] });
}

const OPERATIONS: Readonly<Record<ChangeType, string>> = {
  ADDED: "create",
  MODIFIED: "update",
  DELETED: "delete",
};

/** A table is named `group/plural`. */
function resourceOf(table: string): string {
  const [group = "", plural = ""] = table.split("/");
  return group === "" ? plural : `${plural}.${group}`;
}
