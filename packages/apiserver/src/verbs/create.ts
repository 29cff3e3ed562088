/**
 * POST: normalize, fill in, admit, validate, commit.
 *
 * A name made from generateName that turns out to be taken is drawn again a few times, as a real server does.
 */
import { anew, deepFreeze } from "@lifeboat/base";
import {
  alreadyExists,
  type AnyObject,
  forbiddenBecause,
  isRefused,
  type JsonObject,
} from "@lifeboat/api";
import { HeadMoved } from "../store/store.ts";
import { authorize } from "./authorize.ts";
import { decodeBody } from "./decode-body.ts";
import type { VerbDeps } from "./deps.ts";
import { strategyOf } from "./kind-strategies.ts";
import { checkNamespace, type GivenMeta, givenMetaOf, newMetadata } from "./metadata.ts";
import { createBinding } from "./pod-binding.ts";
import { createEviction } from "./pod-eviction.ts";
import { methodNotAllowed, serverError } from "./refusals.ts";
import { answerReview } from "./reviews.ts";
import { createTokenRequest } from "./token-request.ts";
import type { Body, RequestContext, Target, WriteAnswer, WriteParameters } from "./verbs.ts";
import { shownAsStored, toStorage } from "./views.ts";
import { put, settle, storeKey, validateNew } from "./write-object.ts";

const GENERATE_NAME_ATTEMPTS = 8;
const BINDINGS_TABLE = "/bindings";

export async function create(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: Body,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  authorize(deps, context, "create", target);
  if (target.subresource === "binding" || target.resource.table === BINDINGS_TABLE)
    return createBinding(deps, context, target, body, parameters);
  if (target.subresource === "eviction")
    return createEviction(deps, context, target, body, parameters);
  if (target.subresource === "token" && target.resource.subresources.token === true)
    return createTokenRequest(deps, context, target, body, parameters);
  if (target.resource.virtual === true)
    return answerReview(deps, context, target, body, parameters);
  if (
    target.subresource !== "" ||
    (!target.resource.custom && !target.resource.verbs.includes("create"))
  )
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  const decoded = decodeNew(context, target, body, parameters);
  return createDecoded(deps, context, target, decoded, parameters);
}

/** Creates a normalized object. Also the second half of a PUT on kinds that are created by it. */
export async function createDecoded(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  decoded: JsonObject,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  const given = givenMetaOf(decoded);
  checkNamespace(target, given);
  if (!target.resource.verbs.includes("create"))
    throw forbiddenBecause(
      target.resource,
      given.name ?? "",
      "create not allowed while custom resource definition is terminating",
    );
  if (target.resource.namespaced && target.namespace === "")
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  const generated = (given.name ?? "") === "" && (given.generateName ?? "") !== "";
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryCreate(deps, context, target, decoded, parameters);
    } catch (error) {
      const again = generated && isRefused(error, "AlreadyExists");
      if (!again || attempt === GENERATE_NAME_ATTEMPTS) throw error;
    }
  }
}

/** The normalized body without a status, where the status is a resource of its own. */
export function decodeNew(
  context: RequestContext,
  target: Target,
  body: Body,
  parameters: WriteParameters,
): JsonObject {
  const { resource } = target;
  const decoded = decodeBody(context, resource, body, parameters.fieldValidation);
  if (resource.subresources.status !== true || body.object["status"] === undefined) return decoded;
  const { status: _, ...rest } = body.object;
  return decodeBody(context, resource, { object: rest }, "Ignore");
}

async function tryCreate(
  deps: VerbDeps,
  context: RequestContext,
  bare: Target,
  decoded: JsonObject,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  const { resource } = bare;
  const given = givenMetaOf(decoded);
  const object = prepareNew(deps, bare, decoded, given);
  const target = { ...anew, ...bare, name: object.metadata.name };
  const request = {
    operation: "CREATE",
    resource,
    subresource: "",
    namespace: target.namespace,
    name: target.name,
    user: context.user,
    dryRun: parameters.dryRun,
    warn: context.warn.bind(context),
  } as const;
  const mutated = deps.admission.mutate({ ...anew, ...request, object });
  const admitted = mutated instanceof Promise ? await mutated : mutated;
  validateNew(resource, admitted);
  const validated = deps.admission.validate({ ...anew, ...request, object: admitted });
  if (validated instanceof Promise) await validated;
  refuseVersion(given);
  return insert(deps, target, admitted, parameters.dryRun);
}

async function insert(
  deps: VerbDeps,
  target: Target,
  object: AnyObject,
  dryRun: boolean,
): Promise<WriteAnswer> {
  const { resource } = target;
  for (;;) {
    if (deps.store.head(resource.table, storeKey(target)) !== undefined) {
      await settle(deps.store, target);
      if (deps.store.head(resource.table, storeKey(target)) === undefined) continue;
      throw alreadyExists(resource, target.name);
    }
    if (dryRun) return { object: deepFreeze(object), created: true };
    try {
      const stored = toStorage(resource, object);
      const entry = await put(deps.store, target, undefined, stored, shownAsStored(resource));
      const { object: written, bytes } = deps.views.of(resource, entry);
      return bytes === undefined
        ? { object: written, created: true }
        : { object: written, bytes, created: true };
    } catch (error) {
      if (!(error instanceof HeadMoved)) throw error;
    }
  }
}

/** The object as it would be stored, before admission. */
function prepareNew(
  deps: VerbDeps,
  target: Target,
  decoded: JsonObject,
  given: GivenMeta,
): AnyObject {
  const { resource } = target;
  const metadata = newMetadata(deps, resource, target.namespace, given);
  const filled = { ...decoded, metadata } as unknown as JsonObject;
  const defaulted = resource.schema.applyDefaults(filled) as unknown as AnyObject;
  const prepared = resource.prepareCreate?.(defaulted) ?? defaulted;
  return strategyOf(resource.table).prepareCreate?.(prepared) ?? prepared;
}

function refuseVersion(given: GivenMeta): void {
  const version = given.resourceVersion ?? "";
  if (version === "" || version === "0") return;
  throw serverError("resourceVersion should not be set on objects to be created");
}
