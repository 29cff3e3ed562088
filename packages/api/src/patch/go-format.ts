/** Shows JSON as Go's `%v` and `%T` do, because some messages of servers contain it. */
import type { Json, JsonObject } from "../json.ts";

/** Longer texts are cut: the message is for people. */
const MAX_SHOWN = 2000;

/** A value as Go prints it: `map[a:1 b:[x y]]`, with sorted keys. */
export function formatLikeGo(value: Json | undefined): string {
  const text = format(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

/** The Go type a JSON value is decoded to. */
export function goTypeOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "object") return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return Number.isInteger(value) ? "int64" : "float64";
}

function format(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map((item: Json) => format(item)).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  const object = value as JsonObject;
  const fields = Object.keys(object)
    .sort()
    .map((key) => `${key}:${format(object[key])}`);
  return `map[${fields.join(" ")}]`;
}
