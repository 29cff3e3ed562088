/**
 * Values as Go prints them, because messages of servers and the output of kubectl contain them.
 *
 * Everything here walks a value once and recurses by its depth, which readers of bodies bound (decode/depth.ts).
 */
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/** Longer texts are cut: the message is for people. */
const MAX_SHOWN = 2000;

/** A value as `%v` shows it: `map[a:1 b:[x y]]`, with sorted keys. */
export function formatLikeGo(value: Json | undefined): string {
  const text = format(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

function format(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return formatNumber(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => format(item)).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  return formatMap(value as JsonObject);
}

function formatMap(value: JsonObject): string {
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${key}:${format(value[key])}`);
  return `map[${fields.join(" ")}]`;
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

/** Scalars as plain text, objects and lists as compact JSON with sorted keys: how kubectl prints JSONPath results. */
export function formatJsonLikeGo(value: Json): string {
  if (value === null) return "null";
  if (typeof value === "number") return formatNumber(value);
  return typeof value === "object" ? jsonLikeGo(value) : String(value);
}

/** Exponents from 10^21 on and below 10^-4, with at least two digits. */
function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const small = value !== 0 && Math.abs(value) < 1e-4;
  const text = small ? value.toExponential() : String(value);
  const mark = text.indexOf("e");
  if (mark < 0 || text.length - mark > 3) return text;
  return `${text.slice(0, mark + 2)}0${text.slice(mark + 2)}`;
}

function jsonLikeGo(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => jsonLikeGo(item)).join(",")}]`;
  if (!isJsonObject(value)) return escapeForHtml(JSON.stringify(value ?? null));
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${escapeForHtml(JSON.stringify(key))}:${jsonLikeGo(value[key])}`);
  return `{${fields.join(",")}}`;
}

/** Go escapes what could end a script element, everywhere. */
function escapeForHtml(text: string): string {
  let escaped = text;
  for (const sign of ["<", ">", "&", "\u2028", "\u2029"]) {
    if (escaped.includes(sign)) escaped = escaped.replaceAll(sign, longEscape(sign.charCodeAt(0)));
  }
  return escaped;
}

/** A value inside `Invalid value: …` where Go holds a map: texts quoted, the rest as `formatJsonLikeGo` shows it. */
export function showJson(value: Json | undefined): string {
  return typeof value === "string" ? quoteLikeGo(value) : formatJsonLikeGo(value ?? null);
}

/** A text in double quotes, as `%q` shows it. */
export function quoteLikeGo(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&").replace(UNPRINTABLE, escapeSign)}"`;
}

/** One character in single quotes. */
export function quoteSignLikeGo(sign: string): string {
  return `'${sign.replace(/['\\]/, "\\$&").replace(UNPRINTABLE, escapeSign)}'`;
}

/** Go prints letters, marks, numbers, punctuation, symbols and the plain space as they are. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

function escapeSign(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  if (code < 0x80) return SHORT_ESCAPES[sign] ?? `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x1_0000 ? longEscape(code) : `\\U${code.toString(16).padStart(8, "0")}`;
}

function longEscape(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
