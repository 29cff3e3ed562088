/** DELETE of one object and of a collection. */
import { deepFreeze } from "@lifeboat/base";
import {
  type AnyObject,
  conflict,
  deleted,
  type FieldError,
  invalid,
  notFound,
  notSupported,
  STALE_VERSION,
} from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import { type Entry, HeadMoved } from "../store/store.ts";
import { authorize } from "./authorize.ts";
import { decideDeletion, type Deletion } from "./deletion.ts";
import type { VerbDeps } from "./deps.ts";
import { listUnchecked } from "./list.ts";
import { invalidOptions, methodNotAllowed } from "./refusals.ts";
import type {
  DeleteAnswer,
  DeleteOptionsBody,
  Found,
  ListAnswer,
  ListParameters,
  RequestContext,
  Target,
} from "./verbs.ts";
import { fromStorage } from "./views.ts";
import { put, remove, settle, storeKey } from "./write-object.ts";

const MAX_ROUNDS = 100;
/** So many deletions of a collection share commit groups; more would only fill memory. */
const COLLECTION_BATCH = 500;
const POLICIES: readonly string[] = ["Foreground", "Background", "Orphan"];

export async function deleteOne(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  options: DeleteOptionsBody,
): Promise<DeleteAnswer> {
  authorize(deps, context, "delete", target);
  if (target.subresource !== "" || !target.resource.verbs.includes("delete"))
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  checkOptions(options);
  return deleteUnchecked(deps, context, target, options);
}

export async function deleteCollection(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  parameters: ListParameters,
  options: DeleteOptionsBody,
): Promise<ListAnswer> {
  authorize(deps, context, "deletecollection", target, parameters.fieldSelector);
  if (!target.resource.verbs.includes("deletecollection"))
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  checkOptions(options);
  const listed = await listUnchecked(deps, target, parameters);
  const removed: Found[] = [];
  for (let start = 0; start < listed.items.length; start += COLLECTION_BATCH) {
    const batch = listed.items.slice(start, start + COLLECTION_BATCH);
    const gone = await Promise.all(
      batch.map((item) => deleteListed(deps, context, target, item, options)),
    );
    for (const item of gone) if (item !== undefined) removed.push(item);
  }
  return { ...listed, items: removed };
}

/** Deletes one item of a collection; undefined when another request did it first. */
async function deleteListed(
  deps: VerbDeps,
  context: RequestContext,
  collection: Target,
  item: Found,
  options: DeleteOptionsBody,
): Promise<Found | undefined> {
  const { name, namespace = "", uid } = item.object.metadata;
  const target = { ...collection, name, namespace };
  const head = deps.store.head(target.resource.table, storeKey(target));
  if (head === undefined || head.object.metadata.uid !== uid) return undefined;
  const answer = await deleteUnchecked(deps, context, target, options);
  return answer.kind === "kept" ? answer : item;
}

/** Deletes without asking the authorizer: also what an eviction ends in. */
export async function deleteUnchecked(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  options: DeleteOptionsBody,
): Promise<DeleteAnswer> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const head = deps.store.head(target.resource.table, storeKey(target));
    if (head === undefined) {
      await settle(deps.store, target);
      if (deps.store.head(target.resource.table, storeKey(target)) !== undefined) continue;
      throw notFound(target.resource, target.name);
    }
    const answer = await deleteHead(deps, context, target, options, head);
    if (answer !== "look again") return answer;
  }
  throw conflict(target.resource, target.name, STALE_VERSION);
}

async function deleteHead(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  options: DeleteOptionsBody,
  head: Entry,
): Promise<DeleteAnswer | "look again"> {
  const { resource } = target;
  const dryRun = (options.dryRun?.length ?? 0) > 0;
  // Read once: of an Event that is no longer new, every reading parses.
  const { object } = head;
  checkPreconditions(resource, object, options);
  const validated = deps.admission.validate({
    operation: "DELETE",
    resource,
    subresource: "",
    namespace: target.namespace,
    name: target.name,
    user: context.user,
    dryRun,
    old: fromStorage(resource, object),
    warn: context.warn.bind(context),
  });
  if (validated instanceof Promise) await validated;

  try {
    return await carryOut(
      deps,
      target,
      { entry: head, object },
      decideDeletion(resource, object, options, deps.clock.now()),
      dryRun,
    );
  } catch (error) {
    if (error instanceof HeadMoved) return "look again";
    throw error;
  }
}

async function carryOut(
  deps: VerbDeps,
  target: Target,
  { entry, object }: { readonly entry: Entry; readonly object: AnyObject },
  deletion: Deletion,
  dryRun: boolean,
): Promise<DeleteAnswer | "look again"> {
  const { resource } = target;
  if (deletion.kind === "remove") {
    if (!dryRun) await remove(deps.store, target, entry, object);
    return { kind: "gone", status: deleted(resource, target.name, object.metadata.uid) };
  }
  if (deletion.kind === "mark") {
    if (dryRun) return kept({ object: deepFreeze(fromStorage(resource, deletion.object)) });
    return kept(deps.views.of(resource, await put(deps.store, target, entry, deletion.object)));
  }
  await settle(deps.store, target);
  if (deps.store.head(resource.table, storeKey(target))?.revision !== entry.revision)
    return "look again";
  return kept(deps.views.of(resource, entry));
}

function kept(found: Found): DeleteAnswer {
  const { object, bytes } = found;
  return bytes === undefined ? { kind: "kept", object } : { kind: "kept", object, bytes };
}

/** These refusals name the kind where others name the resource. */
function checkPreconditions(
  resource: ServedResource,
  object: AnyObject,
  { preconditions }: DeleteOptionsBody,
): void {
  if (preconditions === undefined) return;
  const { uid, resourceVersion, name } = object.metadata;
  const named = { group: resource.group, plural: resource.kind };
  if (preconditions.uid !== undefined && preconditions.uid !== uid)
    throw conflict(
      named,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  const version = preconditions.resourceVersion;
  if (version !== undefined && version !== resourceVersion)
    throw conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${version}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
}

function checkOptions(options: DeleteOptionsBody): void {
  const { propagationPolicy: policy, orphanDependents, dryRun } = options;
  const errors: FieldError[] = [];
  if (policy !== undefined && orphanDependents !== undefined)
    errors.push(
      invalid(
        "propagationPolicy",
        policy,
        "orphanDependents and deletionPropagation cannot be both set",
      ),
    );
  if (policy !== undefined && !POLICIES.includes(policy))
    errors.push(notSupported("propagationPolicy", policy, [...POLICIES, "nil"]));
  if (dryRun?.some((value) => value !== "All") === true)
    errors.push(notSupported("dryRun", dryRun, ["All"]));
  if (errors.length > 0) throw invalidOptions("DeleteOptions", errors);
}
