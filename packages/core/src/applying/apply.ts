/**
 * Deciding what to do with one object in a member so that it becomes what its Work says.
 *
 * 1. An object that is not ours is never written, unless the manifest says `overwrite`.
 * 2. An update carries the uid and the resourceVersion it was decided on.
 * 3. An object that is being deleted is left to go, and made again afterwards.
 * 4. No write when the object is as we want it, or as the member answered our last write of the same manifest. So a
 *    member that fills in fields of its own costs one write after a restart, and none from then on.
 */
import { deepFreeze } from "@lifeboat/base";
import { equalJson } from "@lifeboat/api";
import { type Fields, integerAt, textAt, textsAt, without } from "../fields.ts";
import type { Plan, PlannedCondition } from "../plan.ts";
import { CONFLICT_RESOLUTION } from "../well-known.ts";
import { isOurs } from "./ownership.ts";
import { applyReasons, type ApplyReason } from "./reasons.ts";
import { retainMember } from "./retain.ts";

export interface ApplyView {
  readonly cluster: string;
  /** The manifest of the Work, or what a script retained of it for this observed object. */
  readonly desired: Fields;
  /** The object in the member; absent when it does not exist there. */
  readonly observed?: Fields | undefined;
  /** The last write of this process that succeeded; after a restart there is none. */
  readonly applied?: AppliedRecord | undefined;
}

export interface AppliedRecord {
  readonly desired: Fields;
  /** The object as the member answered the write. */
  readonly answer: Fields;
}

export type ApplyCommand =
  | { readonly kind: "create"; readonly object: Fields }
  | { readonly kind: "update"; readonly object: Fields };

export type ApplyPlan = Plan<ApplyCommand, ApplyReason>;

/** What to do so that the object in the member is what the Work says. The conditions hold once the commands succeeded. */
export function decideApply(view: ApplyView): ApplyPlan {
  const { desired, observed, applied } = view;
  if (textAt(desired, "kind") === "" || textAt(desired, "metadata", "name") === "")
    return refuse("ManifestInvalid", applyReasons.ManifestInvalid);
  if (observed === undefined)
    return write(applied === undefined ? "Created" : "Recreated", {
      kind: "create",
      object: desired,
    });
  if (textAt(observed, "metadata", "deletionTimestamp") !== "")
    return refuse("BeingDeleted", `${describe(desired)} is being deleted in ${view.cluster}`);
  const ours = isOurs(observed, desired);
  if (!ours && textAt(desired, "metadata", "annotations", CONFLICT_RESOLUTION) !== "overwrite")
    return refuse("ForeignObject", foreignMessage(view));
  if (isAsAnswered(observed, view)) return success("UpToDate", []);
  const object = retainMember(desired, observed);
  if (isSame(object, observed)) return success("UpToDate", []);
  return write(ours ? "Updated" : "TakenOver", { kind: "update", object });
}

/** The version of an object as far as drift is concerned: a status that moves is none where generations are counted. */
export function versionOf(object: Fields): string {
  const generation = integerAt(object, "metadata", "generation") ?? 0;
  return generation > 0
    ? `gen:${generation}`
    : `rv:${textAt(object, "metadata", "resourceVersion")}`;
}

function isSame(wanted: Fields, observed: Fields): boolean {
  return hasSameMarks(wanted, observed) && equalJson(bodyOf(wanted), bodyOf(observed));
}

/** Labels and annotations are compared on their own: no generation counts them. */
function isAsAnswered(observed: Fields, { desired, applied }: ApplyView): boolean {
  return (
    applied !== undefined &&
    versionOf(applied.answer) === versionOf(observed) &&
    hasSameMarks(applied.answer, observed) &&
    equalJson(applied.desired, desired)
  );
}

function hasSameMarks(a: Fields, b: Fields): boolean {
  return ["labels", "annotations"].every((field) =>
    equalJson(textsAt(a, "metadata", field), textsAt(b, "metadata", field)),
  );
}

function bodyOf(object: Fields): Fields {
  return without(object, "apiVersion", "kind", "metadata", "status");
}

function write(reason: ApplyReason, command: ApplyCommand): ApplyPlan {
  return success(reason, [deepFreeze(command)]);
}

function success(reason: ApplyReason, commands: readonly ApplyCommand[]): ApplyPlan {
  const condition: PlannedCondition = {
    type: "Applied",
    status: "True",
    reason: reason === "Recreated" ? "ReCreateSuccessful" : "AppliedSuccessful",
    message: "Manifest has been successfully applied",
  };
  return { commands, conditions: [condition], events: [], reason };
}

function refuse(reason: ApplyReason, message: string): ApplyPlan {
  const condition: PlannedCondition = {
    type: "Applied",
    status: "False",
    reason: "AppliedFailed",
    message: `Failed to apply all manifests (0/1): ${message}`,
  };
  return { commands: [], conditions: [condition], events: [], reason };
}

function foreignMessage({ cluster, desired }: ApplyView): string {
  const strategy = textAt(desired, "metadata", "annotations", CONFLICT_RESOLUTION) || "empty";
  return (
    `${describe(desired)} already exists in the cluster ${cluster} and the ${CONFLICT_RESOLUTION} ` +
    `strategy value is ${strategy}, so it will not be managed`
  );
}

function describe(object: Fields): string {
  const namespace = textAt(object, "metadata", "namespace");
  const name = textAt(object, "metadata", "name");
  const key = namespace === "" ? name : `${namespace}/${name}`;
  return `resource(kind=${textAt(object, "kind")}, ${key})`;
}
