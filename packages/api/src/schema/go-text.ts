/** Values as messages of a Kubernetes API server show them: the way Go prints them. */
import { formatJsonLikeGo } from "../jsonpath/format.ts";
import type { Json } from "../json.ts";

/** A value inside `Invalid value: …`: strings quoted, numbers as Go's `%v`, the rest as JSON with sorted keys. */
export function showJson(value: Json | undefined): string {
  return typeof value === "string" ? quote(value) : formatJsonLikeGo(value ?? null);
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
  const escaped = text.replace(/["\\]/g, "\\$&").replace(/\p{Cc}/gu, escapeControl);
  return `"${escaped}"`;
}

function escapeControl(char: string): string {
  const code = char.charCodeAt(0).toString(16);
  const long = char < "\u0080" ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  return SHORT_ESCAPES[char] ?? long;
}
