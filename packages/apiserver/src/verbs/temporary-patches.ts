/** Stands in until the patch algorithms of @lifeboat/api are there. */
import { isJsonObject, type Json, type JsonObject } from "@lifeboat/api";
export function applyMergePatch(document: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, Json | undefined> = isJsonObject(document) ? { ...document } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (value !== undefined) result[key] = applyMergePatch(result[key] ?? null, value);
  }
  return result;
}
export function applyStrategicMerge(
  document: JsonObject,
  patch: JsonObject,
  _shape: unknown,
): Json {
  return applyMergePatch(document, patch);
}
export function applyJsonPatch(_document: Json, _operations: unknown): Json {
  throw new Error("not yet");
}
