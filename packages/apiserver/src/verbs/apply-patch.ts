/** One patch on one document, by the algorithm its type names. */
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMerge,
  exceedsValues,
  failure,
  type Json,
  type JsonObject,
  type KindSchema,
  MAX_VALUES,
  Refused,
} from "@lifeboat/api";
import type { PatchBody } from "./verbs.ts";

/** The document after the patch, as it came out: not normalized. Refuses to make it larger than a body may be. */
export function applyPatch(document: JsonObject, body: PatchBody, schema: KindSchema): Json {
  const patched = patchedBy(document, body, schema);
  if (exceedsValues(patched, MAX_VALUES) && !exceedsValues(document, MAX_VALUES))
    throw new Refused(
      failure(
        413,
        "RequestEntityTooLarge",
        `Request entity too large: with this patch the object would hold more than ${MAX_VALUES} values`,
      ),
    );
  return patched;
}

function patchedBy(document: JsonObject, body: PatchBody, schema: KindSchema): Json {
  if (body.type === "json") return applyJsonPatch(document, body.operations);
  const patched = body.body.object;
  const shape = body.type === "strategic" ? schema.mergeShape : undefined;
  return shape === undefined
    ? applyMergePatch(document, patched)
    : applyStrategicMerge(document, patched, shape);
}
