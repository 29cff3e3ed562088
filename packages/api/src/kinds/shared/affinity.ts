/**
 * How policies name clusters and resources, and what is wrong with such a selection.
 */
import { type FieldError, invalid, notSupported } from "../../field-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import { validateLabelSelector } from "../../selectors/label-selector.ts";
import { eachIn, setIfEmpty } from "../builder/changes.ts";
import {
  list,
  map,
  object,
  type ObjectOf,
  optional,
  type Shape,
  type Static,
  text,
} from "../builder/shape.ts";

const requirement = object("One requirement; all must hold.", {
  key: text("The label's key."),
  operator: text("In, NotIn, Exists or DoesNotExist."),
  values: optional(list("What In and NotIn compare with.", text("A value."))),
});

export const labelSelector = object("A selection by labels; an empty one selects everything.", {
  matchLabels: optional(
    map("Labels that must be present with exactly these values.", text("A value.")),
  ),
  matchExpressions: optional(list("Further requirements.", requirement)),
});

const fieldRequirement = object("One requirement; all must hold.", {
  key: text("provider, region or zone."),
  operator: text("In or NotIn."),
  values: optional(list("What the field is compared with.", text("A value."))),
});

/** The fields of a ClusterAffinity, for kinds that carry them beside others. */
export const affinityFields = {
  labelSelector: optional(labelSelector),
  fieldSelector: optional(
    object("A selection by where the cluster runs.", {
      matchExpressions: optional(list("The requirements.", fieldRequirement)),
    }),
  ),
  clusterNames: optional(list("Only these clusters; empty: all.", text("A cluster's name."))),
  exclude: optional(list("Never these clusters.", text("A cluster's name."))),
} as const;

export type ClusterAffinity = ObjectOf<typeof affinityFields>;

/** A selection of clusters: all its parts must agree, and `exclude` wins. */
export function clusterAffinity(description: string): Shape<ClusterAffinity> {
  return object(description, affinityFields);
}

export function validateAffinity(
  affinity: ClusterAffinity | undefined,
  field: string,
): FieldError[] {
  if (affinity === undefined) return [];
  const labels = affinity.labelSelector;
  const errors =
    labels === undefined ? [] : validateLabelSelector(labels, `${field}.labelSelector`);
  for (const [i, { key, operator }] of (affinity.fieldSelector?.matchExpressions ?? []).entries()) {
    const at = `${field}.fieldSelector.matchExpressions[${i}]`;
    if (!FIELD_KEYS.includes(key)) errors.push(notSupported(`${at}.key`, key, FIELD_KEYS));
    if (!FIELD_OPERATORS.includes(operator))
      errors.push(notSupported(`${at}.operator`, operator, FIELD_OPERATORS));
  }
  return errors;
}

const FIELD_KEYS: readonly string[] = ["provider", "region", "zone"];
const FIELD_OPERATORS: readonly string[] = ["In", "NotIn"];

/** Whether a selection says nothing at all. */
export function isEmptyAffinity(affinity: ClusterAffinity): boolean {
  return (
    affinity.labelSelector === undefined &&
    affinity.fieldSelector === undefined &&
    (affinity.clusterNames ?? []).length === 0 &&
    (affinity.exclude ?? []).length === 0
  );
}

export const resourceSelector = object("Which resources.", {
  apiVersion: text("The group and version of the resources."),
  kind: text("The kind of the resources."),
  namespace: optional(
    text("The namespace; a namespaced policy selects only in its own, which is the default."),
  ),
  name: optional(text("One resource by its name; the labels then do not matter.")),
  labelSelector: optional(labelSelector),
});

export type ResourceSelector = Static<typeof resourceSelector>;

/** `namespace` is the policy's own, "" for a policy that selects everywhere. */
export function validateSelectors(
  selectors: readonly ResourceSelector[] | undefined,
  field: string,
  namespace: string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, selector] of (selectors ?? []).entries()) {
    const at = `${field}[${i}]`;
    const chosen = selector.namespace ?? "";
    if (namespace !== "" && chosen !== "" && chosen !== namespace)
      errors.push(
        invalid(`${at}.namespace`, chosen, "a namespaced policy selects in its own namespace only"),
      );
    if (selector.labelSelector !== undefined)
      errors.push(...validateLabelSelector(selector.labelSelector, `${at}.labelSelector`));
  }
  return errors;
}

/** The selectors of a namespaced policy name its namespace. */
export function selectInNamespace(spec: JsonObject, policy: JsonObject): JsonObject {
  const namespace = namespaceOf(policy);
  if (namespace === "") return spec;
  return eachIn(spec, "resourceSelectors", (one) => setIfEmpty(one, "namespace", namespace));
}

function namespaceOf(object: JsonObject): string {
  const metadata = object["metadata"];
  const namespace: Json | undefined = isJsonObject(metadata) ? metadata["namespace"] : undefined;
  return typeof namespace === "string" ? namespace : "";
}
