/** PUT: of the object, its status, its scale, or a namespace's finalizers. */
import type { JsonObject } from "@lifeboat/api";
import { anew } from "@lifeboat/base";
import { authorize } from "./authorize.ts";
import { createDecoded, decodeNew } from "./create.ts";
import { decodeBody } from "./decode-body.ts";
import type { VerbDeps } from "./deps.ts";
import { dropUndefinedBut } from "./drop-undefined.ts";
import { checkName, givenMetaOf } from "./metadata.ts";
import { methodNotAllowed } from "./refusals.ts";
import { checkUid, replace } from "./replace.ts";
import { updateScale } from "./scale.ts";
import { isServedSubresource } from "./subresources.ts";
import type { Body, RequestContext, Target, WriteAnswer, WriteParameters } from "./verbs.ts";
import { storeKey } from "./write-object.ts";

/** The state that the caller may have made its object from, as it was given out. */
function knownState(deps: VerbDeps, target: Target): JsonObject | undefined {
  const head = deps.store.head(target.resource.table, storeKey(target));
  if (head === undefined) return undefined;
  return deps.views.of(target.resource, head).object as unknown as JsonObject;
}

function withoutUndefined(body: Body, known: JsonObject | undefined): Body {
  return {
    ...anew,
    ...body,
    object: dropUndefinedBut(body.object, known),
    mayHoldUndefined: false,
  };
}

export async function update(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  given: Body,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  authorize(deps, context, "update", target);
  if (!isServedSubresource(target))
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  const known = knownState(deps, target);
  const body = given.mayHoldUndefined === true ? withoutUndefined(given, known) : given;
  if (target.subresource === "scale") return updateScale(deps, context, target, body, parameters);
  const { resource } = target;
  const decoded = decodeBody(context, resource, body, parameters.fieldValidation, known);
  checkName(target, givenMetaOf(decoded));
  const next = (): typeof decoded => decoded;
  if (!target.resource.createOnUpdate || target.subresource !== "")
    return replace(deps, context, target, parameters, { next });
  const ifAbsent = (): Promise<WriteAnswer> => {
    authorize(deps, context, "create", target);
    // A request that names a uid means that object, and no other.
    checkUid(target, givenMetaOf(body.object), "");
    const quiet = { ...parameters, fieldValidation: "Ignore" } as const;
    // A version of an object that is gone means nothing to the one that takes its place.
    const { resourceVersion: _, ...metadata } = givenMetaOf(body.object);
    const fresh = { ...body.object, metadata } as unknown as JsonObject;
    const created = decodeNew(context, target, { object: fresh }, quiet);
    return createDecoded(deps, context, target, created, parameters);
  };
  return replace(deps, context, target, parameters, { next, ifAbsent });
}
