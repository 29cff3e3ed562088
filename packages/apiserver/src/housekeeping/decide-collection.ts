/**
 * What garbage collection does with one object, decided from the object, the state of its owners and its dependents.
 *
 * An owner is one of: `present`; `leaving` (it waits in foreground deletion for its dependents); `absent`, which only a
 * live read may find. What cannot be resolved (an unknown kind, a namespaced owner of a cluster-scoped object) counts as
 * present: nothing is ever deleted because of it.
 *
 *   marked with `orphan`              dependents lose their reference to it, then it loses the mark
 *   marked with `foregroundDeletion`  it loses the mark when no dependent blocks it any more
 *   otherwise being deleted           nothing: finalizers of others hold it
 *   has a present owner               references to absent and leaving owners are removed
 *   has none, but had owners          it is deleted
 */
import type { AnyObject, OwnerReference } from "@lifeboat/api";

export const ORPHAN = "orphan";
export const FOREGROUND = "foregroundDeletion";

export type OwnerState = "present" | "leaving" | "absent";

export interface CollectionView {
  readonly object: AnyObject;
  /** The state of each owner, in the order of ownerReferences. Empty while the object itself is being deleted. */
  readonly owners: readonly OwnerState[];
  readonly dependents: readonly AnyObject[];
}

export type CollectionPlan =
  | { readonly kind: "nothing" }
  /** Dependents (by index into the view) lose their reference, then the object its mark. */
  | { readonly kind: "orphan"; readonly dependents: readonly AnyObject[] }
  | { readonly kind: "release"; readonly finalizer: string }
  | { readonly kind: "setOwners"; readonly ownerReferences: readonly OwnerReference[] }
  | { readonly kind: "delete"; readonly policy: "Foreground" | "Background" | "Orphan" };

/** Decides for one object. Pure. */
export function decideCollection(view: CollectionView): CollectionPlan {
  const { object, owners, dependents } = view;
  if (isMarked(object, ORPHAN)) return { kind: "orphan", dependents };
  if (isMarked(object, FOREGROUND))
    return dependents.some((dependent) => blocks(dependent, object))
      ? { kind: "nothing" }
      : { kind: "release", finalizer: FOREGROUND };
  if (object.metadata.deletionTimestamp !== undefined) return { kind: "nothing" };
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0) return { kind: "nothing" };
  if (owners.includes("present"))
    return owners.every((owner) => owner === "present")
      ? { kind: "nothing" }
      : {
          kind: "setOwners",
          ownerReferences: references.filter((_, i) => owners[i] === "present"),
        };
  if (!owners.includes("leaving") || dependents.length === 0)
    return { kind: "delete", policy: policyOf(object) };
  // A circle of objects that wait for each other would wait for ever: one of them stops blocking.
  const inCircle = dependents.some((dependent) => isMarked(dependent, FOREGROUND));
  if (inCircle && references.some((owner) => owner.blockOwnerDeletion === true))
    return { kind: "setOwners", ownerReferences: references.map(unblocked) };
  return { kind: "delete", policy: "Foreground" };
}

/** Whether the object is being deleted and carries the finalizer. */
export function isMarked(object: AnyObject, finalizer: string): boolean {
  const { deletionTimestamp, finalizers } = object.metadata;
  return deletionTimestamp !== undefined && finalizers?.includes(finalizer) === true;
}

function blocks(dependent: AnyObject, owner: AnyObject): boolean {
  const references = dependent.metadata.ownerReferences ?? [];
  return references.some(
    (reference) => reference.uid === owner.metadata.uid && reference.blockOwnerDeletion === true,
  );
}

/** A finalizer that was put on by hand sets what shall happen to the dependents. */
function policyOf(object: AnyObject): "Foreground" | "Background" | "Orphan" {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(ORPHAN)) return "Orphan";
  return finalizers.includes(FOREGROUND) ? "Foreground" : "Background";
}

function unblocked(reference: OwnerReference): OwnerReference {
  return { ...reference, blockOwnerDeletion: false };
}
