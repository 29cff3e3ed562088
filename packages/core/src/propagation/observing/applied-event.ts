/**
 * The Events of a Work whose objects were applied, perhaps over objects of others, or could not be. They are recorded on the Work by what applies it, and on the template:
 * by execution for Push clusters, by the control plane for Pull clusters, whose agents record no Events there.
 */
import { type Condition, findCondition, type KubeObject } from "@lifeboat/api";
import { type Fields, textAt } from "../../fields.ts";
import type { PlannedEvent } from "../../plan.ts";
import { TEMPLATE_UID } from "../../well-known.ts";

interface Reported {
  readonly conditions?: readonly Condition[];
}

/** How Events name the object of a manifest. */
export function nameOf(manifest: Fields): string {
  const namespace = textAt(manifest, "metadata", "namespace");
  const name = textAt(manifest, "metadata", "name");
  return `${textAt(manifest, "kind")}(${namespace === "" ? name : `${namespace}/${name}`})`;
}

/** The condition, where there is news in it. */
export function changed(old: Reported, now: Reported, type: string): Condition | undefined {
  const before = findCondition(old.conditions, type);
  const after = findCondition(now.conditions, type);
  if (after === undefined) return undefined;
  if (before?.status !== after.status) return after;
  return after.status === "False" && before.message !== after.message ? after : undefined;
}

/** The message of the condition Applied when an object of another writer was taken over, as the policy allows. */
export const APPLIED_OVER_ANOTHER =
  "Manifest has been successfully applied, over an object that this control plane did not manage";

/** The Events of a change of the condition Applied. */
export function appliedEvents(
  { cluster, manifests }: { readonly cluster: string; readonly manifests: readonly Fields[] },
  old: Reported,
  now: Reported,
): readonly PlannedEvent<"SyncSucceed" | "SyncFailed" | "ObjectOverwritten">[] {
  const names = manifests.map(nameOf).join(", ");
  const condition = changed(old, now, "Applied");
  const overwritten = [old, now].map(
    ({ conditions }) => findCondition(conditions, "Applied")?.message === APPLIED_OVER_ANOTHER,
  );
  const events: PlannedEvent<"SyncSucceed" | "SyncFailed" | "ObjectOverwritten">[] = [];
  if (overwritten[0] !== true && overwritten[1] === true) {
    const message = `Cluster ${cluster}: ${names} existed there, made by another writer, and is overwritten`;
    events.push({ type: "Warning", reason: "ObjectOverwritten", message });
  }
  if (condition?.status === "True") {
    const message = `Successfully applied ${names} to cluster ${cluster}`;
    events.push({ type: "Normal", reason: "SyncSucceed", message });
  } else if (condition !== undefined) {
    const message = `Cluster ${cluster}: ${condition.message}`;
    events.push({ type: "Warning", reason: "SyncFailed", message });
  }
  return events;
}

/** The template that a manifest of a Work names; undefined when it names none. */
export function templateOf(
  manifest: Fields,
): (Pick<KubeObject, "apiVersion" | "kind"> & TemplateName) | undefined {
  const [apiVersion, kind] = [textAt(manifest, "apiVersion"), textAt(manifest, "kind")];
  const uid = textAt(manifest, "metadata", "annotations", TEMPLATE_UID);
  const name = textAt(manifest, "metadata", "name");
  if (apiVersion === "" || kind === "" || name === "" || uid === "") return undefined;
  const namespace = textAt(manifest, "metadata", "namespace");
  return { apiVersion, kind, metadata: { name, uid, ...(namespace !== "" && { namespace }) } };
}

interface TemplateName {
  readonly metadata: { readonly name: string; readonly uid: string; readonly namespace?: string };
}
