/** Tables of several members as one. What members send is shown, never obeyed: control characters are taken out. Pure. */
import { isJsonObject, type Json } from "@lifeboat/api";
import { formatTable } from "./table.ts";

export interface MemberTable {
  readonly cluster: string;
  readonly table: Json;
}

export interface TableForm {
  readonly isWide: boolean;
  /** Objects of all namespaces: a column says of which. */
  readonly hasNamespace: boolean;
}

/** The rows of all members below one head: CLUSTER, perhaps NAMESPACE, then the columns of the servers, by name. */
export function formatMemberTables(tables: readonly MemberTable[], form: TableForm): string {
  const names: string[] = [];
  // Of the control plane itself: it is the only one.
  const hasCluster = tables.some(({ cluster }) => cluster !== "");
  for (const { table } of tables)
    for (const { name, isShown } of columnsOf(table, form.isWide))
      if (isShown && !names.includes(name)) names.push(name);
  const rows = tables.flatMap(({ cluster, table }) => {
    const columns = columnsOf(table, form.isWide);
    return listOf(table, "rows").map((row) => {
      const cells = listOf(row, "cells");
      const cellOf = (name: string): string => {
        const at = columns.findIndex((column) => column.name === name);
        const cell = at < 0 ? undefined : cells[at];
        return cell === undefined ? "" : shown(cell);
      };
      const namespace = form.hasNamespace ? [shown(namespaceOf(row))] : [];
      return [...(hasCluster ? [cluster] : []), ...namespace, ...names.map(cellOf)];
    });
  });
  const head = [
    ...(hasCluster ? ["CLUSTER"] : []),
    ...(form.hasNamespace ? ["NAMESPACE"] : []),
    ...names,
  ];
  return rows.length === 0 ? "" : formatTable(head, rows);
}

/** A text of a member as one line of a terminal. */
export function shown(value: Json): string {
  const text =
    typeof value === "string" ? value : value === null ? "<none>" : JSON.stringify(value);
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

interface Column {
  readonly name: string;
  readonly isShown: boolean;
}

function columnsOf(table: Json, isWide: boolean): readonly Column[] {
  return listOf(table, "columnDefinitions").map((column) => {
    const { name, priority } = isJsonObject(column) ? column : {};
    const isShown = isWide || typeof priority !== "number" || priority === 0;
    return { name: shown(name ?? "").toUpperCase(), isShown };
  });
}

function namespaceOf(row: Json): string {
  const object = isJsonObject(row) ? row["object"] : undefined;
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  const namespace = isJsonObject(metadata) ? metadata["namespace"] : undefined;
  return typeof namespace === "string" ? namespace : "";
}

function listOf(value: Json, field: string): readonly Json[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}
