/**
 * Values as Go programs print them, for messages that must read like those of a Kubernetes API server.
 */
import type { Json } from "../json.ts";

/** A value inside `Invalid value: …`: strings quoted, numbers as Go's `%v`, the rest as JSON with sorted keys. */
export function showJson(value: Json | undefined): string {
  if (typeof value === "number") return formatFloat(value);
  if (typeof value === "string") return quote(value);
  return sortedJson(value ?? null);
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** Go's `%q`. */
function quote(text: string): string {
  const escaped = text.replace(/["\\]/g, "\\$&").replace(/\p{Cc}/gu, (char) => {
    const code = char.charCodeAt(0).toString(16);
    return (
      SHORT_ESCAPES[char] ??
      (code.length < 3 && char < "\u0080"
        ? `\\x${code.padStart(2, "0")}`
        : `\\u${code.padStart(4, "0")}`)
    );
  });
  return `"${escaped}"`;
}

/** A number as Go's `%v` prints it. */
export function formatFloat(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e21) return String(value);
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  const size = String(Math.abs(power)).padStart(2, "0");
  return `${digits}e${power < 0 ? "-" : "+"}${size}`;
}

/** JSON with sorted keys: the same text for the same value. `<`, `>` and `&` are escaped, as Go's encoder does. */
export function sortedJson(value: Json): string {
  return escapeHtml(JSON.stringify(sortKeys(value)));
}

function sortKeys(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const object = value as Readonly<Record<string, Json>>;
  const entries = Object.keys(object)
    .sort()
    .map((key) => [key, sortKeys(object[key] ?? null)] as const);
  return Object.fromEntries(entries);
}

function escapeHtml(text: string): string {
  return text.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

/** A JSON value as Go's `%v` prints the decoded form: `map[a:1]`, `[1 2]`, `<nil>`. */
export function showGoValue(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return formatFloat(value);
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(showGoValue).join(" ")}]`;
  const object = value as Readonly<Record<string, Json>>;
  const fields = Object.keys(object)
    .sort()
    .map((key) => `${key}:${showGoValue(object[key])}`);
  return `map[${fields.join(" ")}]`;
}

/** The Go type of a decoded JSON value, as `%T` prints it. */
export function goTypeOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "int64" : "float64";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}
