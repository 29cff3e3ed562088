/** PUT: of the object, its status, its scale, or a namespace's finalizers. */
import type { JsonObject } from "@lifeboat/api";
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
  const decoded = decodeBody(context, target.resource, body, parameters.fieldValidation);
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
