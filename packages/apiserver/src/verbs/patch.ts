/**
 * PATCH: JSON patch, merge patch and strategic merge patch, of objects and of their subresources.
 *
 * The patch is applied to the object in the served version and its result goes the way of an update. When another
 * write comes between, it is applied again to the new state; a resourceVersion inside the patch makes that a conflict.
 * Server-side apply is refused with 415 until it exists: clients then fall back or report it.
 */
import {
  type AnyObject,
  apiVersionOf,
  forbidden,
  type Json,
  type JsonObject,
  isJsonObject,
} from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import { applyPatch } from "./apply-patch.ts";
import { authorize } from "./authorize.ts";
import { complaintsAbout, normalizeChanged, wrongCustomType, wrongType } from "./decode-body.ts";
import type { VerbDeps } from "./deps.ts";
import { badPatch } from "./patch-errors.ts";
import { invalidOptions, methodNotAllowed, unsupportedMediaType } from "./refusals.ts";
import { replace } from "./replace.ts";
import { patchScale } from "./scale.ts";
import { isServedSubresource } from "./subresources.ts";
import type { PatchBody, PatchParameters, RequestContext, Target, WriteAnswer } from "./verbs.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";

export async function patch(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: PatchBody,
  parameters: PatchParameters,
): Promise<WriteAnswer> {
  authorize(deps, context, "patch", target);
  if (!isServedSubresource(target) || target.subresource === "finalize")
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  if (body.type !== "apply" && parameters.force === true)
    throw invalidOptions("PatchOptions", [
      forbidden("force", "may not be specified for non-apply patch"),
    ]);
  refuseType(target, body);
  if (target.subresource === "scale") return patchScale(deps, context, target, body, parameters);
  const next = (current: AnyObject): JsonObject => {
    const patched = applyPatch(current as unknown as JsonObject, body, target.resource.schema);
    const known = current as unknown as JsonObject;
    return decodePatched(context, target.resource, patched, known, body, parameters);
  };
  return replace(deps, context, target, parameters, { next });
}

function refuseType(target: Target, body: PatchBody): void {
  const strategic =
    target.resource.schema.mergeShape !== undefined || target.subresource === "scale";
  if (body.type !== "apply" && (body.type !== "strategic" || strategic)) return;
  throw unsupportedMediaType(
    strategic ? [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH] : [JSON_PATCH, MERGE_PATCH],
  );
}

/** The patched document in the shape of its kind. What is wrong with it is reported of the patch. */
function decodePatched(
  context: RequestContext,
  resource: ServedResource,
  patched: Json,
  known: JsonObject,
  body: PatchBody,
  parameters: PatchParameters,
): JsonObject {
  if (!isJsonObject(patched)) throw badPatch(body, patched, "the document is no object any more");
  checkType(resource, patched, body);
  const normalized = normalizeChanged(resource, patched, known);
  if (!normalized.ok) throw badPatch(body, patched, normalized.message);
  const duplicates = body.type === "json" ? [] : (body.body.duplicateFields ?? []);
  const complaints = complaintsAbout(duplicates, normalized.unknownFields);
  if (complaints.length > 0 && parameters.fieldValidation === "Strict")
    throw badPatch(body, patched, `strict decoding error: ${complaints.join(", ")}`);
  if (parameters.fieldValidation === "Warn") complaints.forEach((text) => context.warn(text));
  return normalized.object;
}

/** A patch cannot make an object one of another kind. */
function checkType(resource: ServedResource, patched: JsonObject, body: PatchBody): void {
  const { apiVersion, kind } = patched;
  if (apiVersion === apiVersionOf(resource) && kind === resource.kind) return;
  if (resource.custom) throw wrongCustomType(resource, patched);
  throw badPatch(body, patched, wrongType(resource, showType(apiVersion), showType(kind)));
}

function showType(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}
