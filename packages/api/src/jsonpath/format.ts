/** Values as kubectl prints them in JSONPath output. */
import { type Json, isJsonObject } from "../json.ts";

/** Scalars as plain text, objects and lists as compact JSON with sorted keys. */
export function formatJsonLikeGo(value: Json): string {
  if (value === null) return "null";
  if (typeof value === "number") return formatNumber(value);
  if (typeof value !== "object") return String(value);
  return encode(value);
}

/** Go's `%v`: exponents from 10^21 on and below 10^-4, with at least two digits. */
function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const small = value !== 0 && Math.abs(value) < 1e-4;
  const text = small ? value.toExponential() : String(value);
  const mark = text.indexOf("e");
  if (mark < 0 || text.length - mark > 3) return text;
  return `${text.slice(0, mark + 2)}0${text.slice(mark + 2)}`;
}

function encode(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => encode(item)).join(",")}]`;
  if (!isJsonObject(value)) return escapeForHtml(JSON.stringify(value ?? null));
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${escapeForHtml(JSON.stringify(key))}:${encode(value[key])}`);
  return `{${fields.join(",")}}`;
}

/** Go escapes what could end a script element, everywhere. */
function escapeForHtml(text: string): string {
  let escaped = text;
  for (const sign of ["<", ">", "&", "\u2028", "\u2029"]) {
    if (escaped.includes(sign))
      escaped = escaped.replaceAll(sign, `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
  return escaped;
}
