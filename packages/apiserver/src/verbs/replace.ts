/**
 * The one way an existing object changes: update, patch and the subresources all come through here.
 *
 * Read the head, make the next state from it, admit, validate, compare, commit. When another write was committed in
 * between (which only a waiting admission plugin makes possible) it starts again from the new head; a version the
 * client gave is compared again each time, so it gets its conflict.
 *
 * 1. A write that changes nothing takes no revision and wakes no watcher, and is answered when what it found is durable.
 * 2. An update that leaves an object under deletion without finalizers removes it in the same commit.
 * 3. The generation rises exactly when something but metadata and status changed.
 */
import { anew, deepFreeze } from "@lifeboat/base";
import {
  type AnyObject,
  conflict,
  equalJson,
  invalid,
  invalidObject,
  type JsonObject,
  notFound,
  type ObjectMeta,
  STALE_VERSION,
} from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import { type Entry, HeadMoved } from "../store/store.ts";
import type { VerbDeps } from "./deps.ts";
import { equalExcept } from "./equality.ts";
import { strategyOf } from "./kind-strategies.ts";
import {
  checkName,
  checkNamespace,
  type GivenMeta,
  givenMetaOf,
  updatedMetadata,
} from "./metadata.ts";
import { serverError } from "./refusals.ts";
import { parseVersion } from "./resource-version.ts";
import type { Found, RequestContext, Target, WriteAnswer, WriteParameters } from "./verbs.ts";
import { shownAsStored, toStorage } from "./views.ts";
import { put, remove, settle, storeKey, validateUpdated } from "./write-object.ts";

/** More often than this, something is wrong: every round means that another write succeeded. */
const MAX_ROUNDS = 100;

export interface Replacement {
  /** The next state in the served version, normalized, from the current one. Its metadata is as a client sends it. */
  next(current: AnyObject): JsonObject;
  /** What to do when there is no such object; absent: 404. */
  ifAbsent?(): Promise<WriteAnswer>;
}

export async function replace(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  parameters: WriteParameters,
  replacement: Replacement,
): Promise<WriteAnswer> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const head = deps.store.head(target.resource.table, storeKey(target));
    if (head === undefined) {
      await settle(deps.store, target);
      if (deps.store.head(target.resource.table, storeKey(target)) !== undefined) continue;
      if (replacement.ifAbsent !== undefined) return replacement.ifAbsent();
      throw notFound(target.resource, target.name);
    }
    const answer = await replaceHead(deps, context, target, parameters, replacement, head);
    if (answer !== "look again") return answer;
  }
  throw conflict(target.resource, target.name, STALE_VERSION);
}

async function replaceHead(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  parameters: WriteParameters,
  replacement: Replacement,
  head: Entry,
): Promise<WriteAnswer | "look again"> {
  const { resource } = target;
  // Converted once, also for later readers of this version: bringing it into shape costs as much as the write itself.
  const current = deps.views.of(resource, head).object;
  const decoded = replacement.next(current);
  const given = givenMetaOf(decoded);
  checkName(target, given);
  checkNamespace(target, given);
  checkVersion(resource, target, given, head);

  const prepared = prepareUpdate(target, decoded, given, current);
  const admitting = admit(deps, context, target, parameters, prepared, current);
  // Without a waiting plugin nothing is awaited between reading the head and the commit.
  const admitted = admitting instanceof Promise ? await admitting : admitting;
  const object = withGeneration(resource, target.subresource, admitted, current);
  const stored = toStorage(resource, object);
  if (equalJson(stored, head.object)) return unchanged(deps, target, head);
  if (parameters.dryRun) return { object: deepFreeze(object), created: false };
  try {
    if (isReleased(resource, stored)) {
      await remove(deps.store, target, head, head.object);
      return { object: deepFreeze(object), created: false };
    }
    const entry = await put(deps.store, target, head, stored, shownAsStored(resource));
    return answerOf(deps.views.of(resource, entry), false);
  } catch (error) {
    if (error instanceof HeadMoved) return "look again";
    throw error;
  }
}

/** A found object as the answer to a write. */
export function answerOf(found: Found, created: boolean): WriteAnswer {
  const { object, bytes } = found;
  return bytes === undefined ? { object, created } : { object, bytes, created };
}

async function unchanged(
  deps: VerbDeps,
  target: Target,
  head: Entry,
): Promise<WriteAnswer | "look again"> {
  try {
    await deps.store.durable(target.resource.table, storeKey(target));
  } catch {
    // What was found never became durable: the next attempt decides on what is there then.
    return "look again";
  }
  return answerOf(deps.views.of(target.resource, head), false);
}

function admit(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  parameters: WriteParameters,
  object: AnyObject,
  old: AnyObject,
): AnyObject | Promise<AnyObject> {
  const request = {
    operation: "UPDATE",
    resource: target.resource,
    subresource: target.subresource,
    namespace: target.namespace,
    name: target.name,
    user: context.user,
    dryRun: parameters.dryRun,
    old,
    warn: context.warn.bind(context),
  } as const;
  const validate = (admitted: AnyObject): AnyObject | Promise<AnyObject> => {
    validateUpdated(target.resource, target.subresource, admitted, old);
    const validated = deps.admission.validate({ ...anew, ...request, object: admitted });
    return validated instanceof Promise ? validated.then(() => admitted) : admitted;
  };
  const mutated = deps.admission.mutate({ ...anew, ...request, object });
  return mutated instanceof Promise ? mutated.then(validate) : validate(mutated);
}

/** The preconditions a body carries: its uid and its resourceVersion. */
export function checkVersion(
  resource: ServedResource,
  target: Target,
  given: GivenMeta,
  head: Entry,
): void {
  const current = head.object.metadata;
  checkUid(target, given, current.uid);
  const version = given.resourceVersion ?? "";
  if (parseVersion(version) === undefined)
    throw serverError(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
  if (version !== "" && version !== "0") {
    // seed: stale-version
    if (version !== current.resourceVersion) throw conflict(resource, target.name, STALE_VERSION);
    return;
  }
  if (resource.unconditionalUpdate) return;
  // This one answer names the resource where others name the kind.
  throw invalidObject({ group: resource.group, kind: resource.plural }, target.name, [
    invalid("metadata.resourceVersion", 0, "must be specified for an update"),
  ]);
}

/** `actual`: empty when there is no object. */
export function checkUid(target: Target, { uid = "" }: GivenMeta, actual: string): void {
  if (uid !== "" && uid !== actual)
    throw conflict(target.resource, target.name, uidMismatch(target, uid, actual));
}

function uidMismatch(target: Target, asked: string, actual: string): string {
  const { resource, namespace, name } = target;
  const key = ["/registry", resource.plural, ...(namespace === "" ? [] : [namespace]), name];
  return (
    `StorageError: invalid object, Code: 4, Key: ${key.join("/")}, ResourceVersion: 0, ` +
    `AdditionalErrorMsg: Precondition failed: UID in precondition: ${asked}, UID in object meta: ${actual}`
  );
}

/** What the update may change: everything but the status, mostly the status alone, or metadata and spec.finalizers. */
function prepareUpdate(
  target: Target,
  decoded: JsonObject,
  given: GivenMeta,
  current: AnyObject,
): AnyObject {
  const { resource, subresource } = target;
  if (subresource === "status") return withStatus(resource, decoded, given, current);
  if (subresource === "approval") return withApproval(decoded, given, current);
  const metadata = updatedMetadata(given, current.metadata);
  if (subresource === "finalize") {
    const finalized = withField({ ...anew, ...current, metadata }, "spec", decoded["spec"]);
    return resource.schema.applyDefaults(
      finalized as unknown as JsonObject,
    ) as unknown as AnyObject;
  }
  const merged = { ...anew, ...decoded, metadata } as unknown as AnyObject;
  const object =
    resource.subresources.status === true ? withField(merged, "status", current["status"]) : merged;
  const defaulted = resource.schema.applyDefaults(object as unknown as JsonObject);
  const filled = defaulted as unknown as AnyObject;
  return strategyOf(resource.table).prepareUpdate?.(filled, current) ?? filled;
}

/** Of custom resources the status alone is taken; built-in kinds take metadata too, but for what each keeps back. */
function withStatus(
  resource: ServedResource,
  decoded: JsonObject,
  given: GivenMeta,
  current: AnyObject,
): AnyObject {
  const object = withField(current, "status", decoded["status"]);
  if (resource.custom)
    return resource.schema.applyDefaults(object as unknown as JsonObject) as unknown as AnyObject;
  const updated = updatedMetadata(given, current.metadata);
  const field = strategyOf(resource.table).keptByStatus;
  if (field === undefined) return { ...anew, ...object, metadata: updated };
  const { [field]: _, ...metadata } = updated;
  const kept = current.metadata[field];
  return {
    ...anew,
    ...object,
    metadata: kept === undefined ? metadata : { ...anew, ...metadata, [field]: kept },
  };
}

/** Of a certificate request: metadata and the conditions. The rest of its status belongs to its signer. */
function withApproval(decoded: JsonObject, given: GivenMeta, current: AnyObject): AnyObject {
  const { conditions } = (decoded["status"] ?? {}) as JsonObject;
  const { conditions: _, ...status } = (current["status"] ?? {}) as JsonObject;
  return {
    ...anew,
    ...current,
    metadata: updatedMetadata(given, current.metadata),
    status: conditions === undefined ? status : { ...status, conditions },
  };
}

function withField(object: AnyObject, field: string, value: unknown): AnyObject {
  if (value !== undefined) return { ...anew, ...object, [field]: value };
  const { [field]: _, ...rest } = object;
  return rest as AnyObject;
}

function withGeneration(
  resource: ServedResource,
  subresource: string,
  object: AnyObject,
  old: AnyObject,
): AnyObject {
  if (!resource.hasGeneration || subresource === "status" || subresource === "approval")
    return object;
  if (!countsAsNewGeneration(resource, object, old)) return object;
  const metadata: ObjectMeta = {
    ...anew,
    ...object.metadata,
    generation: (old.metadata.generation ?? 0) + 1,
  };
  return { ...anew, ...object, metadata };
}

const WITHOUT_STATUS: readonly string[] = ["metadata", "status"];
const WITH_STATUS: readonly string[] = ["metadata"];

function countsAsNewGeneration(
  resource: ServedResource,
  object: AnyObject,
  old: AnyObject,
): boolean {
  const hasOwnStatus = !resource.custom || resource.subresources.status === true;
  if (!equalExcept(object, old, hasOwnStatus ? WITHOUT_STATUS : WITH_STATUS)) return true;
  if (strategyOf(resource.table).annotationsCount !== true) return false;
  return !equalJson(object.metadata.annotations, old.metadata.annotations);
}

/** Whether nothing keeps an object under deletion any longer. */
export function isReleased(resource: ServedResource, object: AnyObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined) return false;
  if ((deletionGracePeriodSeconds ?? 0) > 0 || (finalizers?.length ?? 0) > 0) return false;
  return strategyOf(resource.table).isHeld?.(object) !== true;
}
