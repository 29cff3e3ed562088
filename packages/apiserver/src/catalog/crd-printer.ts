/**
 * Tables of custom resources: the name, then the columns the CRD asks for (without any, the age). A cell whose path finds
 * nothing, or a value of another type than the column's, is null.
 */
import {
  type AnyObject,
  type Column,
  compileColumnPath,
  type CrdColumn,
  formatJsonPathResults,
  humanDuration,
  type Json,
  type JsonObject,
  JsonPathError,
  type TablePrinter,
} from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";

const NAME: Column = { name: "Name", type: "string", format: "name", description: "", priority: 0 };
const AGE: CrdColumn = {
  name: "Age",
  type: "date",
  description: "Time since the object was created",
  jsonPath: ".metadata.creationTimestamp",
};

export function customPrinter(columns: readonly CrdColumn[]): TablePrinter {
  const own = columns.length === 0 ? [AGE] : columns;
  const cells = own.map(compileCell);
  return {
    columns: [NAME, ...own.map(columnOf)],
    cells: (object, now) => [object.metadata.name, ...cells.map((cell) => cell(object, now))],
  };
}

function columnOf(column: CrdColumn): Column {
  const { name = "", format = "", description = "", priority = 0, jsonPath = "" } = column;
  return {
    name,
    type: (column.type ?? "string") as Column["type"],
    format,
    description:
      description === ""
        ? `Custom resource definition column (in JSONPath format): ${jsonPath}`
        : description,
    priority,
  };
}

type Cell = (object: AnyObject, now: Instant) => unknown;

function compileCell(column: CrdColumn): Cell {
  const read = compilePath(column.jsonPath ?? "");
  const type = column.type ?? "string";
  return (object, now) => cellOf(type, read(object), now);
}

/** The first value a path finds; undefined when it finds none or is no path. */
function compilePath(path: string): (object: AnyObject) => Json | undefined {
  try {
    const read = compileColumnPath(path);
    return (object) => read(object as JsonObject);
  } catch (error) {
    // The rules of CRDs ask for little more than a leading dot.
    if (error instanceof JsonPathError) return () => undefined;
    throw error;
  }
}

function cellOf(type: string, value: Json | undefined, now: Instant): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? age(value, now) : null;
    default:
      return formatJsonPathResults([[value]]);
  }
}

function age(text: string, now: Instant): string {
  if (text === "") return "<unknown>";
  const time = parseTime(text);
  return time === undefined ? "<invalid>" : humanDuration(now - time);
}
