/**
 * How servers speak about patches whose result is no object of the kind.
 *
 * Merge and JSON patches are decoded like bodies, and the message shows what became of the object. Strategic ones are
 * applied to typed data, which has its own words, and the message shows what is left of the patch after the merge has
 * taken out the lists it ordered.
 */
import {
  formatLikeGo,
  invalid,
  invalidObject,
  isJsonObject,
  type Json,
  type JsonObject,
} from "@lifeboat/api";
import type { PatchBody } from "./verbs.ts";

const ORDER = "$setElementOrder/";
const MISMATCH = /^json: cannot unmarshal (\w+) into Go (?:struct field \S+|value) of type (.+)$/;
const SCALARS: ReadonlySet<string> = new Set(["bool", "float64", "int32", "int64", "string"]);
const GO_KINDS: Readonly<Record<string, string>> = {
  array: "slice",
  number: "int64",
  object: "map",
};

/** The 422 about a patch. It is about no kind and no name. */
export function badPatch(body: PatchBody, patched: Json, detail: string): Error {
  const strategic = body.type === "strategic";
  const text = strategic ? formatLikeGo(leftOver(body.body.object)) : JSON.stringify(patched);
  const message = strategic ? typedMessage(detail) : detail;
  return invalidObject({ group: "", kind: "" }, "", [invalid("patch", text, message)]);
}

function leftOver(patch: JsonObject): JsonObject {
  const ordered = new Set(
    Object.keys(patch)
      .filter((key) => key.startsWith(ORDER))
      .map((key) => key.slice(ORDER.length)),
  );
  const left: Record<string, Json | undefined> = {};
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(ORDER) || ordered.has(key)) continue;
    left[key] = isJsonObject(value) ? leftOver(value) : value;
  }
  return left;
}

/** The decoder's complaint about a type in the words of the converter of typed data. */
function typedMessage(detail: string): string {
  const match = MISMATCH.exec(detail);
  if (match === null) return detail;
  const [, from = "", to = ""] = match;
  if (SCALARS.has(to)) return `unrecognized type: ${to}`;
  const kind = GO_KINDS[from] ?? from;
  if (to.startsWith("[]")) return `cannot restore slice from ${kind}`;
  if (to.startsWith("map[")) return `cannot restore map from ${kind}`;
  return `cannot restore struct from: ${kind}`;
}
