/** Making of table printers, and the cells that many kinds share. */
import type { Instant } from "@lifeboat/base";
import type { JsonObject } from "../../json.ts";
import type { AnyObject } from "../../object.ts";
import type { Column, TablePrinter } from "../../table.ts";
import { items, partOf, text, textMap } from "./fields.ts";
import { ageOf } from "./human-duration.ts";

/** A column as `Name`, `Name:type` or `Name:name`; a star at the end leaves it to `-o wide`. */
export type ColumnText = string;

/** By `apiVersion/Kind`. */
export type Printers = Readonly<Record<string, TablePrinter>>;

export type Cells = (object: JsonObject, now: Instant) => readonly unknown[];

export function printer(columns: readonly ColumnText[], cells: Cells): TablePrinter {
  const parsed = columns.map(parseColumn);
  return {
    columns: parsed,
    cells: (object: AnyObject, now: Instant) => cells(object as unknown as JsonObject, now),
  };
}

function parseColumn(column: ColumnText): Column {
  const wide = column.endsWith("*");
  const [name, type] = (wide ? column.slice(0, -1) : column).split(":") as [string, string?];
  const named = type === "name";
  return {
    name,
    type: named || type === undefined ? "string" : (type as Column["type"]),
    format: named ? "name" : "",
    description: "",
    priority: wide ? 1 : 0,
  };
}

export function nameOf(object: JsonObject): string {
  return text(partOf(object, "metadata"), "name");
}

export function objectAge(object: JsonObject, now: Instant): string {
  return ageOf(partOf(object, "metadata")["creationTimestamp"], now);
}

/** What kinds without columns of their own show. */
export const plainPrinter: TablePrinter = printer(["Name:name", "Created At:date"], (object) => [
  nameOf(object),
  partOf(object, "metadata")["creationTimestamp"] ?? null,
]);

/** Names and images of containers, each joined by commas. */
export function containerCells(podSpec: JsonObject): readonly [string, string] {
  const containers = items(podSpec, "containers");
  return [
    containers.map((container) => text(container, "name")).join(","),
    containers.map((container) => text(container, "image")).join(","),
  ];
}

/** The first `max` of a list, and how many more there are. */
export function someOf(list: readonly string[], max: number, separator = ","): string {
  const shown = list.slice(0, max).join(separator);
  return list.length > max ? `${shown} + ${list.length - max} more...` : shown;
}

export function isTrue(conditions: readonly JsonObject[], type: string): boolean {
  return conditions.some(
    (condition) => text(condition, "type") === type && text(condition, "status") === "True",
  );
}

/** An IntOrString as text. */
export function intOrStringText(value: unknown): string {
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : "";
}

/** The name, marked when the object is the default of its kind. */
export function defaultMarked(object: JsonObject, annotation: string): string {
  const name = nameOf(object);
  const marked = textMap(partOf(object, "metadata"), "annotations")[annotation] === "true";
  return marked ? `${name} (default)` : name;
}

/** Name, one count, age. */
export function countPrinter(
  column: string,
  counted: (object: JsonObject) => number,
): TablePrinter {
  return printer(["Name:name", `${column}:integer`, "Age"], (object, now) => [
    nameOf(object),
    counted(object),
    objectAge(object, now),
  ]);
}

/** Name, one text, age. */
export function textPrinter(column: string, shown: (object: JsonObject) => unknown): TablePrinter {
  return printer(["Name:name", column, "Age"], (object, now) => [
    nameOf(object),
    shown(object),
    objectAge(object, now),
  ]);
}
