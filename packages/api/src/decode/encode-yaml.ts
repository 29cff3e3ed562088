/**
 * Writes JSON as YAML the way kubectl does: keys sorted, two spaces, lists not indented, texts quoted only where they
 * must be, texts of several lines as literal blocks.
 */
import { type Json, isJsonObject, type JsonObject } from "../json.ts";
import { isAmbiguousScalar } from "./yaml-scalars.ts";

/** The YAML of a value, ending in a newline. */
export function encodeYaml(value: Json): string {
  // Not trimmed: a text may begin with a space that YAML takes for a letter.
  return `${encode(value, "", false).slice(1)}\n`;
}

/** The text of a value; it begins with one newline or space of its own unless it may stand directly behind its dash. */
function encode(value: Json | undefined, indent: string, behindDash: boolean): string {
  if (Array.isArray(value) && value.length > 0) return encodeList(value, indent, behindDash);
  if (isJsonObject(value) && Object.keys(value).length > 0)
    return encodeObject(value, indent, behindDash);
  const text = encodeScalar(value ?? null, indent);
  return behindDash ? text : ` ${text}`;
}

function encodeList(list: readonly Json[], indent: string, behindDash: boolean): string {
  return list
    .map((item, i) => {
      const lead = behindDash && i === 0 ? "" : `\n${indent}`;
      return `${lead}- ${encode(item, `${indent}  `, true)}`;
    })
    .join("");
}

function encodeObject(object: JsonObject, indent: string, behindDash: boolean): string {
  return Object.keys(object)
    .sort(compareKeys)
    .map((key, i) => {
      const lead = behindDash && i === 0 ? "" : `\n${indent}`;
      const value = object[key];
      // A list stands below its key without further indent.
      const inner = Array.isArray(value) ? indent : `${indent}  `;
      return `${lead}${encodeKey(key)}:${encode(value, inner, false)}`;
    })
    .join("");
}

function encodeKey(key: string): string {
  // A bare `<<` would be read as a merge, and a block cannot be a key.
  return key === "<<" || key.includes("\n") ? doubleQuoted(key) : encodeText(key, "");
}

function encodeScalar(value: Json, indent: string): string {
  if (typeof value === "string") return encodeText(value, indent);
  if (typeof value === "number") return encodeNumber(value);
  if (Array.isArray(value)) return "[]";
  return typeof value === "object" && value !== null ? "{}" : String(value);
}

/** Go writes exponents with at least two digits. */
function encodeNumber(value: number): string {
  const text = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([-+])([0-9])$/, "e$10$2");
}

function encodeText(text: string, indent: string): string {
  if (hasSpecialCharacter(text)) return doubleQuoted(text);
  if (text.includes("\n"))
    return canBeBlock(text) ? literalBlock(text, indent) : doubleQuoted(text);
  if (isAmbiguousScalar(text)) return doubleQuoted(text);
  return canBePlain(text) ? text : `'${text.replaceAll("'", "''")}'`;
}

function literalBlock(text: string, indent: string): string {
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  let chomp = "-";
  if (text.endsWith("\n")) chomp = text === "\n" || body.endsWith("\n") ? "+" : "";
  const hint = text.startsWith(" ") || text.startsWith("\n") ? "2" : "";
  const inner = indent === "" ? "  " : indent;
  const lines = body.split("\n").map((line) => (line === "" ? "" : inner + line));
  return `|${hint}${chomp}\n${lines.join("\n")}`;
}

/** A space before a line break would be invisible. */
function canBeBlock(text: string): boolean {
  return !text.includes(" \n") && !text.endsWith(" ") && !text.includes("\t\n");
}

function canBePlain(text: string): boolean {
  if (text.startsWith(" ") || text.endsWith(" ")) return false;
  if (text.startsWith("---") || text.startsWith("...")) return false;
  if ("#,[]{}&*!|>'\"%@`".includes(text.charAt(0))) return false;
  if ("?:-".includes(text.charAt(0)) && (text.length === 1 || text[1] === " ")) return false;
  return !text.includes(": ") && !text.endsWith(":") && !text.includes(" #");
}

/** What a reader of YAML may not meet outside double quotes. */
function hasSpecialCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x20 && code < 0x7f) continue;
    if (code === 0x0a) continue;
    if (code < 0xa0 || code === 0xfeff || isBreakOrSurrogate(code)) return true;
  }
  return false;
}

function isBreakOrSurrogate(code: number): boolean {
  return code === 0x2028 || code === 0x2029 || (code >= 0xd800 && code < 0xe000);
}

/** JSON's quoting is YAML's, apart from what JSON leaves bare. */
function doubleQuoted(text: string): string {
  let quoted = JSON.stringify(text);
  for (const code of [0x7f, 0x85, 0xa0, 0x2028, 0x2029, 0xfeff]) {
    const sign = String.fromCharCode(code);
    if (quoted.includes(sign))
      quoted = quoted.replaceAll(sign, `\\u${code.toString(16).padStart(4, "0")}`);
  }
  return quoted;
}

/** Letters by their code, runs of digits by their value, everything else before letters: `a9` before `a10`. */
function compareKeys(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  let run = at;
  while (run > 0 && isDigit(a.charAt(run - 1))) run -= 1;
  if (isDigit(a.charAt(run)) && isDigit(b.charAt(run))) {
    const difference = numberAt(a, run) - numberAt(b, run);
    if (difference !== 0) return difference;
  }
  const left = a.charAt(at);
  const right = b.charAt(at);
  if (left === "" || right === "") return a.length - b.length;
  if (isLetter(left) !== isLetter(right)) return isLetter(left) ? 1 : -1;
  return left < right ? -1 : 1;
}

function isLetter(sign: string): boolean {
  return sign.toLowerCase() !== sign.toUpperCase();
}

function isDigit(sign: string): boolean {
  return sign >= "0" && sign <= "9";
}

function numberAt(text: string, at: number): number {
  let value = 0;
  for (let i = at; isDigit(text.charAt(i)); i++) value = value * 10 + Number(text.charAt(i));
  return value;
}
