/**
 * Label and field selectors of one request, compiled once.
 *
 * `name` and `namespace` are set when the selector can match only one of them: lists then look there and nowhere else.
 * Names never change, so such selectors alone do not need the state before a change (`onlyIdentity`).
 */
import {
  type AnyObject,
  badRequest,
  type FieldTerm,
  type LabelRequirement,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";

export interface Selection {
  /** Undefined: everything matches. */
  readonly matches: ((object: AnyObject) => boolean) | undefined;
  readonly name?: string;
  readonly namespace?: string;
  /** Whether an object can never begin or cease to match. */
  readonly onlyIdentity: boolean;
}

const EVERYTHING: Selection = Object.freeze({ matches: undefined, onlyIdentity: true });
const NAME = "metadata.name";
const NAMESPACE = "metadata.namespace";

/** Parses both selectors; throws the 400 of the real server when one cannot be used on this resource. */
export function selectionOf(
  resource: ServedResource,
  selectors: { readonly labelSelector: string; readonly fieldSelector: string },
): Selection {
  if (selectors.labelSelector === "" && selectors.fieldSelector === "") return EVERYTHING;
  const labels = parseLabelSelector(selectors.labelSelector);
  const fields = parseFieldSelector(selectors.fieldSelector);
  for (const term of fields) requireKnownField(resource, term.field);
  if (labels.length === 0 && fields.length === 0) return EVERYTHING;
  return {
    matches: matcherOf(resource, labels, fields),
    ...only(fields, NAME, "name"),
    ...only(fields, NAMESPACE, "namespace"),
    onlyIdentity:
      labels.length === 0 &&
      fields.every((term) => term.field === NAME || term.field === NAMESPACE),
  };
}

function matcherOf(
  resource: ServedResource,
  labels: readonly LabelRequirement[],
  fields: readonly FieldTerm[],
): (object: AnyObject) => boolean {
  return (object) =>
    (labels.length === 0 || matchesLabels(labels, object.metadata.labels ?? {})) &&
    (fields.length === 0 || matchesFields(fields, (field) => fieldOf(resource, object, field)));
}

function fieldOf(resource: ServedResource, object: AnyObject, field: string): string {
  if (field === NAME) return object.metadata.name;
  if (field === NAMESPACE) return object.metadata.namespace ?? "";
  return resource.selectableFields[field]?.(object) ?? "";
}

function only(
  fields: readonly FieldTerm[],
  field: string,
  as: "name" | "namespace",
): { readonly name?: string; readonly namespace?: string } {
  const term = fields.find((one) => one.field === field && one.operator === "=");
  return term === undefined ? {} : { [as]: term.value };
}

function requireKnownField(resource: ServedResource, field: string): void {
  if (field === NAME || field === NAMESPACE) return;
  if (Object.hasOwn(resource.selectableFields, field)) return;
  const plain = !resource.custom && Object.keys(resource.selectableFields).length === 0;
  throw badRequest(
    plain
      ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  );
}
