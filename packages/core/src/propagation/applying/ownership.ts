/**
 * Whose an object in a member is.
 *
 * 1. Ours is what bears our label, unless its annotations name another Work: then another control plane, or the same
 *    cluster under another name, has it.
 * 2. Releasing an object takes away exactly the marks that rendering puts on it, and the policy's claim.
 */
import { type Fields, fieldsAt, textAt, without, withValue } from "../../fields.ts";
import {
  BINDING_ID,
  BINDING_NAME,
  BINDING_NAMESPACE,
  CLUSTER_BINDING_ID,
  CLUSTER_BINDING_NAME,
  CONFLICT_RESOLUTION,
  MANAGED,
  MANAGED_ANNOTATIONS,
  MANAGED_LABELS,
  TEMPLATE_GENERATION,
  TEMPLATE_UID,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
} from "../../well-known.ts";

const OUR_LABELS = [
  MANAGED,
  BINDING_ID,
  CLUSTER_BINDING_ID,
  WORK_ID,
  "propagationpolicy.karmada.io/permanent-id",
  "clusterpropagationpolicy.karmada.io/permanent-id",
];

const OUR_ANNOTATIONS = [
  BINDING_NAMESPACE,
  BINDING_NAME,
  CLUSTER_BINDING_NAME,
  WORK_NAMESPACE,
  WORK_NAME,
  CONFLICT_RESOLUTION,
  TEMPLATE_UID,
  TEMPLATE_GENERATION,
  MANAGED_LABELS,
  MANAGED_ANNOTATIONS,
  "propagationpolicy.karmada.io/namespace",
  "propagationpolicy.karmada.io/name",
  "clusterpropagationpolicy.karmada.io/name",
];

/** Whether the object in the member belongs to the Work of this manifest. */
export function isOurs(observed: Fields, manifest: Fields): boolean {
  if (textAt(observed, "metadata", "labels", MANAGED) !== "true") return false;
  return [WORK_NAMESPACE, WORK_NAME].every((key) => {
    const marked = textAt(observed, "metadata", "annotations", key);
    return marked === "" || marked === textAt(manifest, "metadata", "annotations", key);
  });
}

/** What `released` changes, as a merge patch of this version of the object. */
export function releasePatch(observed: Fields): Fields {
  const gone = (keys: readonly string[], field: string): Fields => {
    const present = fieldsAt(observed, "metadata", field);
    return Object.fromEntries(keys.filter((key) => key in present).map((key) => [key, null]));
  };
  return {
    metadata: {
      uid: textAt(observed, "metadata", "uid"),
      resourceVersion: textAt(observed, "metadata", "resourceVersion"),
      labels: gone(OUR_LABELS, "labels"),
      annotations: gone(OUR_ANNOTATIONS, "annotations"),
    },
  };
}

/** The object without our marks. */
export function released(observed: Fields): Fields {
  const labels = without(fieldsAt(observed, "metadata", "labels"), ...OUR_LABELS);
  const annotations = without(fieldsAt(observed, "metadata", "annotations"), ...OUR_ANNOTATIONS);
  return withValue(
    withValue(observed, ["metadata", "labels"], labels),
    ["metadata", "annotations"],
    annotations,
  );
}
