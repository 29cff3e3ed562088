/** One patch on one document, by the algorithm its type names. */
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMerge,
  type Json,
  type JsonObject,
  type KindSchema,
} from "@lifeboat/api";
import type { PatchBody } from "./verbs.ts";

/** The document after the patch, as it came out: not normalized. */
export function applyPatch(document: JsonObject, body: PatchBody, schema: KindSchema): Json {
  if (body.type === "json") return applyJsonPatch(document, body.operations);
  const patched = body.body.object;
  const shape = body.type === "strategic" ? schema.mergeShape : undefined;
  return shape === undefined
    ? applyMergePatch(document, patched)
    : applyStrategicMerge(document, patched, shape);
}
