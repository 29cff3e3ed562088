/**
 * Deciding what to do with one object in a member so that it becomes what its Work asks for.
 *
 * 1. An object that is not ours is never written, unless the manifest sets `overwrite`.
 * 2. An update carries the uid and the resourceVersion it was decided on.
 * 3. An object that is being deleted is left to go, and made again afterwards.
 * 4. No write when the object is as we want it, or as the member answered our last write of the same manifest. So a
 *    member that fills in fields of its own costs no further write while the version of that answer is remembered,
 *    which outlives this process in the Work's status (see observing/work-status.ts).
 * 5. The headless Service of another writer that has the name of a federated StatefulSet's pod is deleted, under its uid, and created
 *    again: no update gives it an address.
 * 6. Nothing is written that holds an integer which may have been rounded when it was read.
 */
import { deepFreeze } from "@lifeboat/base";
import { equalJson, inexactIntegerIn } from "@lifeboat/api";
import { type Fields, integerAt, textAt, textsAt, without } from "../../fields.ts";
import type { Plan } from "../../plan.ts";
import { CONFLICT_RESOLUTION, FEDERATED_POD } from "../../well-known.ts";
import { isOurs } from "./ownership.ts";
import { applyReasons, type ApplyReason } from "./reasons.ts";
import { retainMarks, retainMember } from "./retain.ts";

export interface ApplyView {
  readonly cluster: string;
  /** The manifest of the Work, or what a script retained of it for this observed object. */
  readonly desired: Fields;
  /** The object in the member; absent when it does not exist there. */
  readonly observed?: Fields | undefined;
  /** The last write that succeeded, as far as it is remembered. */
  readonly applied?: AppliedRecord | undefined;
}

export interface AppliedRecord {
  readonly desired: Fields;
  /** `versionOf` the object as the member answered the write. */
  readonly version: string;
  /** The answer, of which its labels and annotations are enough; what remains after a restart is its version alone. */
  readonly answer?: Fields | undefined;
}

export type ApplyCommand =
  | { readonly kind: "create"; readonly object: Fields }
  | { readonly kind: "update"; readonly object: Fields }
  /** Deletes the object of this uid, then creates. */
  | { readonly kind: "replace"; readonly uid: string; readonly object: Fields };

export interface ApplyPlan extends Plan<ApplyCommand, ApplyReason> {
  /** Why the object cannot be what the Work asks for; absent when it is once the commands succeeded. */
  readonly problem?: string;
}

/** What to do so that the object in the member is what the Work asks for. */
export function decideApply(view: ApplyView): ApplyPlan {
  const { desired, observed, applied } = view;
  if (textAt(desired, "kind") === "" || textAt(desired, "metadata", "name") === "")
    return refuse("ManifestInvalid", applyReasons.ManifestInvalid);
  if (observed === undefined)
    return write(view, applied === undefined ? "Created" : "Recreated", {
      kind: "create",
      object: desired,
    });
  if (textAt(observed, "metadata", "deletionTimestamp") !== "")
    return refuse("BeingDeleted", `${describeObject(desired)} is being deleted in ${view.cluster}`);
  const ours = isOurs(observed, desired);
  if (!ours && textAt(desired, "metadata", "annotations", CONFLICT_RESOLUTION) !== "overwrite")
    return refuse("ForeignObject", foreignMessage(view));
  const uid = textAt(observed, "metadata", "uid");
  if (!ours && uid !== "" && cannotBecome(desired, observed))
    return write(view, "TakenOver", { kind: "replace", uid, object: desired });
  if (isAsAnswered(observed, view)) return success("UpToDate", []);
  const object = retainMember(desired, observed);
  // seed: up-to-date
  if (isSame(object, observed)) return success("UpToDate", []);
  return write(view, ours ? "Updated" : "TakenOver", { kind: "update", object });
}

/** Servers refuse to give a headless Service an address. Only Services of federated pods are replaced for that. */
function cannotBecome(desired: Fields, observed: Fields): boolean {
  const [wanted, present] = [desired, observed].map((one) => textAt(one, "spec", "clusterIP"));
  return (
    textAt(desired, "kind") === "Service" &&
    textAt(desired, "spec", "selector", FEDERATED_POD) !== "" &&
    wanted !== "None" &&
    present === "None"
  );
}

/**
 * The version of an object as far as drift is concerned: a status that moves is none where generations are counted. An
 * object of the same name that was deleted and created again has another one.
 */
export function versionOf(object: Fields): string {
  const generation = integerAt(object, "metadata", "generation") ?? 0;
  const uid = textAt(object, "metadata", "uid");
  return generation > 0
    ? `${uid}/gen:${generation}`
    : `${uid}/rv:${textAt(object, "metadata", "resourceVersion")}`;
}

/** The uid of the object that a version is of. */
export function uidIn(version: string): string {
  return version.slice(0, version.lastIndexOf("/"));
}

function isSame(wanted: Fields, observed: Fields): boolean {
  return hasSameMarks(wanted, observed) && equalJson(bodyOf(wanted), bodyOf(observed));
}

/** Labels and annotations are compared on their own: no generation counts them, and others may add theirs. */
function isAsAnswered(observed: Fields, { desired, applied }: ApplyView): boolean {
  if (applied === undefined || applied.version !== versionOf(observed)) return false;
  const { answer } = applied;
  return (
    equalJson(applied.desired, desired) &&
    ((answer !== undefined && hasSameMarks(answer, observed)) ||
      hasSameMarks({ metadata: retainMarks(desired, observed) }, observed))
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

function write({ desired }: ApplyView, reason: ApplyReason, command: ApplyCommand): ApplyPlan {
  // The status is the member's own, and servers take it from elsewhere.
  const path = inexactIntegerIn(without(command.object, "status"));
  if (path === undefined) return success(reason, [deepFreeze(command)]);
  return refuse(
    "InexactInteger",
    `${describeObject(desired)}: the integer at ${path} is beyond \u00b1(2^53 - 1) and would be changed by writing it`,
  );
}

function success(reason: ApplyReason, commands: readonly ApplyCommand[]): ApplyPlan {
  return { commands, conditions: [], events: [], reason };
}

function refuse(reason: ApplyReason, problem: string): ApplyPlan {
  return { commands: [], conditions: [], events: [], reason, problem };
}

function foreignMessage({ cluster, desired }: ApplyView): string {
  const strategy = textAt(desired, "metadata", "annotations", CONFLICT_RESOLUTION) || "empty";
  return (
    `${describeObject(desired)} already exists in the cluster ${cluster} and the ${CONFLICT_RESOLUTION} ` +
    `strategy value is ${strategy}, so it will not be managed`
  );
}

/** `resource(kind=Deployment, default/nginx)`: how messages name an object in a member. */
export function describeObject(object: Fields): string {
  const namespace = textAt(object, "metadata", "namespace");
  const name = textAt(object, "metadata", "name");
  const key = namespace === "" ? name : `${namespace}/${name}`;
  return `resource(kind=${textAt(object, "kind")}, ${key})`;
}
