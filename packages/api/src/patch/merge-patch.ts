/**
 * JSON merge patch (RFC 7386): objects are merged, null removes, everything else replaces.
 *
 * Parts the patch does not speak of are shared with the document, and a patch that changes nothing answers the
 * document itself.
 */
import { type Json, isJsonObject, type JsonObject } from "../json.ts";
import { badRequest } from "../status.ts";

/** The merged document; throws Refused (400) when the patch is no object. */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isJsonObject(patch)) throw badRequest(wrongType(patch));
  return mergeObjects(document, patch);
}

function wrongType(patch: unknown): string {
  let kind: string = typeof patch;
  if (Array.isArray(patch)) kind = "array";
  if (kind === "boolean") kind = "bool";
  if (patch === null) return "Invalid JSON Patch";
  return `error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
}

function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  let result: Record<string, Json | undefined> | undefined;
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === undefined) continue;
    const exists = Object.hasOwn(document, key);
    if (change === null) {
      if (!exists) continue;
      result ??= { ...document };
      delete result[key];
      continue;
    }
    const current = exists ? document[key] : undefined;
    const merged =
      isJsonObject(change) && isJsonObject(current)
        ? mergeObjects(current, change)
        : keepNew(current, change);
    if (merged === current) continue;
    result ??= { ...document };
    setKey(result, key, merged);
  }
  return result ?? document;
}

/** A value that takes the place of another. Go strips nulls from it unless it is a list that replaces an object. */
function keepNew(current: Json | undefined, change: Json): Json {
  return isJsonObject(current) ? change : withoutNulls(change);
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return mapList(value, withoutNulls);
  if (!isJsonObject(value)) return value;
  let result: Record<string, Json> | undefined;
  for (const key of Object.keys(value)) {
    const child = value[key] ?? null;
    const cleaned = child === null ? undefined : withoutNulls(child);
    if (cleaned === child) continue;
    result ??= { ...(value as Record<string, Json>) };
    if (cleaned === undefined) delete result[key];
    else setKey(result, key, cleaned);
  }
  return result ?? value;
}

/** Maps a list and answers the same list when nothing changed. */
function mapList(list: readonly Json[], change: (item: Json) => Json): readonly Json[] {
  const mapped = list.map(change);
  return mapped.every((item, i) => item === list[i]) ? list : mapped;
}

function setKey(object: Record<string, Json | undefined>, key: string, value: Json): void {
  if (key === "__proto__") throw badRequest('error decoding patch: key "__proto__" is not allowed');
  object[key] = value;
}
