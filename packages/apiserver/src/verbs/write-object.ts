/**
 * What creates and updates have in common: validation in the server's order, the limit on size, the commit and its
 * mapping of storage failures.
 */
import {
  type AnyObject,
  failure,
  type FieldError,
  invalidObject,
  Refused,
  validateMetadata,
  validateMetadataUpdate,
} from "@lifeboat/api";
import { anew } from "@lifeboat/base";
import type { ServedResource } from "../catalog/served-resource.ts";
import { StorageFull } from "../store/storage.ts";
import type { Entry, Mutation, Store } from "../store/store.ts";
import { nameRuleOf } from "./name-rules.ts";
import { objectTooLarge } from "./refusals.ts";
import type { Target } from "./verbs.ts";

/** What etcd takes by default; larger objects could never move to a real server. */
export const OBJECT_SIZE_LIMIT = 1_572_864;

/** The key of an object in its table. */
export function storeKey(target: { readonly namespace: string; readonly name: string }): string {
  return `${target.namespace}/${target.name}`;
}

export function validateNew(resource: ServedResource, object: AnyObject): void {
  const errors = [...metadataErrors(resource, object), ...resource.schema.validateCreate(object)];
  refuseInvalid(resource, object, errors);
}

export function validateUpdated(
  resource: ServedResource,
  subresource: string,
  object: AnyObject,
  old: AnyObject,
): void {
  const kindErrors =
    subresource === "status" || subresource === "approval"
      ? resource.schema.validateStatusUpdate(object, old)
      : resource.schema.validateUpdate(object, old);
  const errors = [
    ...(hasSameMarks(object, old) ? [] : metadataErrors(resource, object)),
    ...validateMetadataUpdate(object.metadata, old.metadata),
    ...kindErrors,
  ];
  refuseInvalid(resource, object, errors);
}

/**
 * Whether all that metadata validation checks is what is stored already, and so was found good: the names are those of
 * the old object, or `validateMetadataUpdate` complains.
 */
function hasSameMarks({ metadata }: AnyObject, { metadata: old }: AnyObject): boolean {
  return (
    metadata.name === old.name &&
    metadata.namespace === old.namespace &&
    metadata.generateName === old.generateName &&
    metadata.labels === old.labels &&
    metadata.annotations === old.annotations &&
    metadata.ownerReferences === old.ownerReferences &&
    metadata.finalizers === old.finalizers
  );
}

function metadataErrors(resource: ServedResource, object: AnyObject): readonly FieldError[] {
  return validateMetadata(object.metadata, {
    namespaced: resource.namespaced,
    nameRule: nameRuleOf(resource),
    requireName: true,
    qualifiedFinalizers: !resource.custom && resource.group !== "apiextensions.k8s.io",
  });
}

function refuseInvalid(
  resource: ServedResource,
  object: AnyObject,
  errors: readonly FieldError[],
): void {
  if (errors.length > 0) throw invalidObject(resource, object.metadata.name, errors);
}

/**
 * Writes `stored` under the revision the commit gets. Throws HeadMoved when another write was first. `viewedAsIs`: the
 * resource that shows it just so.
 */
export function put(
  store: Store,
  target: Target,
  expected: Entry | undefined,
  stored: AnyObject,
  viewedAsIs?: ServedResource,
): Promise<Entry> {
  return commit(store, target, expected, {
    kind: "put",
    build: (revision) => withVersion(stored, revision),
    checkSize: refuseTooLarge,
    viewedAsIs,
  });
}

/** Removes what is at the head: `last`. Watchers see it once more, under the revision of the removal. */
export function remove(
  store: Store,
  target: Target,
  expected: Entry,
  last: AnyObject,
): Promise<Entry> {
  return commit(store, target, expected, {
    kind: "remove",
    build: (revision) => withVersion(last, revision),
  });
}

function withVersion(object: AnyObject, revision: number): AnyObject {
  return {
    ...anew,
    ...object,
    metadata: { ...anew, ...object.metadata, resourceVersion: String(revision) },
  };
}

async function commit(
  store: Store,
  target: Target,
  expected: Entry | undefined,
  mutation: Mutation,
): Promise<Entry> {
  try {
    return await store.commit(target.resource.table, storeKey(target), expected, mutation);
  } catch (error) {
    if (error instanceof StorageFull) throw diskFull();
    throw error;
  }
}

function diskFull(): Refused {
  return new Refused(
    failure(507, "InsufficientStorage", "the disk of this server is full: nothing was written"),
  );
}

/**
 * Waits until what stands at the head is on disk, or has been taken back because its group failed. Either way the
 * head can then be read again: an answer never reports a write that might still vanish.
 */
export async function settle(store: Store, target: Target): Promise<void> {
  try {
    await store.durable(target.resource.table, storeKey(target));
  } catch {
    // The group failed and the head is what it was before; its writers get the error.
  }
}

function refuseTooLarge(bytes: number): void {
  if (bytes > OBJECT_SIZE_LIMIT) throw objectTooLarge(bytes, OBJECT_SIZE_LIMIT);
}
