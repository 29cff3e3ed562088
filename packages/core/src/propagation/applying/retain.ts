/**
 * What an update leaves as the member has it.
 *
 * 1. Identity, version, finalizers, owners and status are the member's.
 * 2. Labels and annotations that others put on the object stay; ours go when the manifest no longer has them; the record of
 *    the last rendering on the object distinguishes the two.
 * 3. The kind's own rules come from its interpreter.
 */
import { anew } from "@lifeboat/base";
import {
  type Fields,
  fieldsAt,
  textAt,
  textsAt,
  valueAt,
  without,
  withValue,
} from "../../fields.ts";
import { interpreterOf } from "../interpretation/interpretation.ts";
import { pick } from "../interpretation/statuses.ts";
import { MANAGED_ANNOTATIONS, MANAGED_LABELS } from "../../well-known.ts";

const MEMBER_METADATA = [
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "finalizers",
  "ownerReferences",
  "managedFields",
];

/** The labels and annotations of `retainMember`, without the rest, which costs more. */
export function retainMarks(
  desired: Fields,
  observed: Fields,
): { readonly labels: Fields; readonly annotations: Fields } {
  return {
    labels: mergedTexts(desired, observed, "labels", MANAGED_LABELS),
    annotations: mergedTexts(desired, observed, "annotations", MANAGED_ANNOTATIONS),
  };
}

/** The object to write over the observed one. `desired` is the manifest, or what a script retained of it. */
export function retainMember(desired: Fields, observed: Fields): Fields {
  const kept = withValue(interpreterOf(desired).retain(desired, observed), ["metadata"], {
    ...anew,
    ...fieldsAt(desired, "metadata"),
    ...pick(fieldsAt(observed, "metadata"), MEMBER_METADATA),
    ...retainMarks(desired, observed),
  });
  const status = valueAt(observed, "status");
  return status === undefined ? without(kept, "status") : withValue(kept, ["status"], status);
}

function mergedTexts(
  desired: Fields,
  observed: Fields,
  field: "labels" | "annotations",
  record: string,
): Fields {
  const ours = textAt(observed, "metadata", "annotations", record).split(",");
  const others = without(textsAt(observed, "metadata", field), ...ours);
  return { ...anew, ...others, ...textsAt(desired, "metadata", field) };
}
