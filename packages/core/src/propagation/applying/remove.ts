/**
 * Deciding what becomes of the object in a member when its Work goes.
 *
 * 1. Nothing is deleted that is not ours, and never without the uid it was decided on: an object of the same name that was
 *    created since is another object.
 * 2. The Work's fields when it goes are final: a controller that deletes a Work whose object must not stay (an eviction,
 *    D21) takes `preserveResourcesOnDeletion` off first.
 * 3. An object that stays loses our marks and nothing else.
 */
import { inexactIntegerIn } from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import { type Fields, textAt } from "../../fields.ts";
import type { Plan } from "../../plan.ts";
import { isOurs, released, releasePatch } from "./ownership.ts";
import type { RemoveReason } from "./reasons.ts";

export interface RemoveView {
  /** The manifest of the Work that goes. */
  readonly manifest: Fields;
  /** The object in the member; absent when it does not exist there. */
  readonly observed?: Fields | undefined;
  /** The Work's `preserveResourcesOnDeletion`. */
  readonly preserve: boolean;
  /** Whether what the object owns must be gone before the object is: for evictions in mode Directly. */
  readonly waitForDependents: boolean;
}

export type RemoveCommand =
  | { readonly kind: "update"; readonly object: Fields }
  /** A merge patch, for an object that cannot be written whole. */
  | { readonly kind: "patch"; readonly body: Fields }
  | {
      readonly kind: "delete";
      readonly uid: string;
      readonly propagationPolicy: "Background" | "Foreground";
    };

export type RemovePlan = Plan<RemoveCommand, RemoveReason>;

/** What to do with the object in the member. When it is `Deleted` or `BeingDeleted`, look again until it is `Gone`. */
export function decideRemove(view: RemoveView): RemovePlan {
  const { manifest, observed } = view;
  if (observed === undefined) return plan("Gone");
  // seed: not-ours
  if (!isOurs(observed, manifest)) return plan("NotOurs");
  if (textAt(observed, "metadata", "deletionTimestamp") !== "") return plan("BeingDeleted");
  if (view.preserve) return plan("Released", release(observed));
  const uid = textAt(observed, "metadata", "uid");
  if (uid === "") return plan("UidUnknown");
  const propagationPolicy = view.waitForDependents ? "Foreground" : "Background";
  return plan("Deleted", { kind: "delete", uid, propagationPolicy });
}

/** An object that holds a rounded integer is not written whole: that would change it. */
function release(observed: Fields): RemoveCommand {
  return inexactIntegerIn(observed) === undefined
    ? { kind: "update", object: released(observed) }
    : { kind: "patch", body: releasePatch(observed) };
}

function plan(reason: RemoveReason, ...commands: readonly RemoveCommand[]): RemovePlan {
  return { commands: deepFreeze(commands), conditions: [], events: [], reason };
}
