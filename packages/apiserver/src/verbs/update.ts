/** PUT: of the object, its status, its scale, or a namespace's finalizers. */
import type { Json, JsonObject } from "@lifeboat/api";
import { authorize } from "./authorize.ts";
import { createDecoded, decodeNew } from "./create.ts";
import { decodeBody } from "./decode-body.ts";
import type { VerbDeps } from "./deps.ts";
import { checkName, givenMetaOf } from "./metadata.ts";
import { methodNotAllowed } from "./refusals.ts";
import { replace } from "./replace.ts";
import { updateScale } from "./scale.ts";
import { isServedSubresource } from "./subresources.ts";
import type { Body, RequestContext, Target, WriteAnswer, WriteParameters } from "./verbs.ts";
import { storeKey } from "./write-object.ts";

/**
 * The normalized body. Callers in this process hand in most of an object as the store gave it out: a field that is still
 * the stored value itself was normalized when it was stored, and is not walked again.
 */
function decodeChanged(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: Body,
  { fieldValidation }: WriteParameters,
): JsonObject {
  const { resource } = target;
  const stored = deps.store.head(resource.table, storeKey(target))?.object;
  const isSame = (field: string): boolean =>
    field !== "metadata" &&
    typeof body.object[field] === "object" &&
    body.object[field] === (stored as JsonObject | undefined)?.[field];
  const fields = Object.keys(body.object);
  if (resource.fromStorage !== undefined || !fields.some(isSame))
    return decodeBody(context, resource, body, fieldValidation);
  const changed = Object.fromEntries(
    fields.filter((field) => !isSame(field)).map((field) => [field, body.object[field] as Json]),
  );
  const decoded = decodeBody(context, resource, { ...body, object: changed }, fieldValidation);
  // The normalizer writes out fields that must not be absent, so what was set aside goes over its answer.
  const kept = fields.filter(isSame).map((field) => [field, body.object[field] as Json]);
  return { ...decoded, ...Object.fromEntries(kept) };
}

export async function update(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: Body,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  authorize(deps, context, "update", target);
  if (!isServedSubresource(target))
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  if (target.subresource === "scale") return updateScale(deps, context, target, body, parameters);
  const decoded = decodeChanged(deps, context, target, body, parameters);
  checkName(target, givenMetaOf(decoded));
  const next = (): typeof decoded => decoded;
  if (!target.resource.createOnUpdate || target.subresource !== "")
    return replace(deps, context, target, parameters, { next });
  const ifAbsent = (): Promise<WriteAnswer> => {
    authorize(deps, context, "create", target);
    const quiet = { ...parameters, fieldValidation: "Ignore" } as const;
    // A version of an object that is gone means nothing to the one that takes its place.
    const { resourceVersion: _, ...metadata } = givenMetaOf(body.object);
    const fresh = { ...body.object, metadata } as unknown as JsonObject;
    const created = decodeNew(context, target, { object: fresh }, quiet);
    return createDecoded(deps, context, target, created, parameters);
  };
  return replace(deps, context, target, parameters, { next, ifAbsent });
}
