/**
 * The checks that every kind's metadata must pass, on creation and on update.
 *
 * They run after the name has been generated and the namespace filled in. What the server sets itself (uid,
 * creationTimestamp, …) is compared on update only. Errors carry the words of a Kubernetes API server.
 */
import {
  type FieldError,
  forbidden,
  invalid,
  MAX_ERRORS,
  required,
  tooLong,
} from "../field-error.ts";
import type { NewMeta, ObjectMeta, OwnerReference } from "../object.ts";
import {
  dnsLabelProblems,
  labelKeyProblems,
  labelValueProblems,
  nameProblems,
  type NameRule,
  utf8Length,
} from "./names.ts";

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule: NameRule;
  /** False where the name is generated later. */
  readonly requireName?: boolean;
  /** Built-in kinds refuse finalizers without a domain, apart from the three of Kubernetes itself. */
  readonly qualifiedFinalizers?: boolean;
}

/** Metadata of an object that is being checked: what the server sets may be there or not. */
export type CheckedMeta = NewMeta & Partial<ObjectMeta>;

const MAX_ANNOTATION_BYTES = 256 * 1024;
const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";
const STANDARD_FINALIZERS = ["kubernetes", ORPHAN, FOREGROUND];

/** Everything that is wrong with the metadata of an object to be stored. */
export function validateMetadata(meta: CheckedMeta, rules: MetadataRules): FieldError[] {
  return [
    ...validateNames(meta, rules),
    ...validateNamespace(meta, rules.namespaced),
    ...validateGeneration(meta),
    ...validateLabels(meta.labels, "metadata.labels"),
    ...validateAnnotations(meta.annotations),
    ...validateOwnerReferences(meta.ownerReferences),
    ...validateFinalizers(meta.finalizers),
    ...(rules.qualifiedFinalizers === true ? validateQualifiedFinalizers(meta.finalizers) : []),
  ];
}

/** What an update may not do to metadata. An update must satisfy `validateMetadata`, too. */
export function validateMetadataUpdate(meta: CheckedMeta, old: CheckedMeta): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) errors.push(...validateNoNewFinalizers(meta, old));
  if (isEmpty(meta.resourceVersion))
    errors.push(invalid("metadata.resourceVersion", "", "must be specified for an update"));
  if ((meta.generation ?? 0) < (old.generation ?? 0))
    errors.push(invalid("metadata.generation", meta.generation ?? 0, "must not be decremented"));
  for (const field of IMMUTABLE_TEXTS) {
    if ((meta[field] ?? "") !== (old[field] ?? ""))
      errors.push(invalid(`metadata.${field}`, meta[field] ?? "", "field is immutable"));
  }
  for (const field of IMMUTABLE_OPTIONALS) {
    if (meta[field] !== old[field])
      errors.push(invalid(`metadata.${field}`, meta[field] ?? null, "field is immutable"));
  }
  return errors;
}

const IMMUTABLE_TEXTS = ["name", "namespace", "uid"] as const;
const IMMUTABLE_OPTIONALS = [
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

/** What is wrong with a set of labels at `field`. */
export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const problem of labelKeyProblems(key)) errors.push(invalid(field, key, problem));
    for (const problem of labelValueProblems(value)) errors.push(invalid(field, value, problem));
    // More are not told.
    if (errors.length > MAX_ERRORS) break;
  }
  return errors;
}

function validateNames(meta: CheckedMeta, rules: MetadataRules): FieldError[] {
  const errors: FieldError[] = [];
  const { generateName, name } = meta;
  if (generateName !== undefined && generateName !== "") {
    for (const problem of nameProblems(rules.nameRule, generateName, true))
      errors.push(invalid("metadata.generateName", generateName, problem));
  }
  if (name !== undefined && name !== "") {
    for (const problem of nameProblems(rules.nameRule, name))
      errors.push(invalid("metadata.name", name, problem));
  } else if (rules.requireName !== false) {
    errors.push(required("metadata.name", "name or generateName is required"));
  }
  return errors;
}

function validateNamespace(meta: CheckedMeta, namespaced: boolean): FieldError[] {
  const namespace = meta.namespace ?? "";
  const field = "metadata.namespace";
  if (!namespaced) return namespace === "" ? [] : [forbidden(field, "not allowed on this type")];
  if (namespace === "") return [required(field)];
  return dnsLabelProblems(namespace).map((problem) => invalid(field, namespace, problem));
}

function validateGeneration(meta: CheckedMeta): FieldError[] {
  const { generation } = meta;
  if (generation === undefined || generation >= 0) return [];
  return [invalid("metadata.generation", generation, "must be greater than or equal to 0")];
}

function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
): FieldError[] {
  const field = "metadata.annotations";
  const errors: FieldError[] = [];
  let units = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Case does not matter in annotation keys, not even in their prefix.
    for (const problem of labelKeyProblems(key.toLowerCase()))
      errors.push(invalid(field, key, problem));
    units += key.length + value.length;
    if (errors.length > MAX_ERRORS) break;
  }
  // A UTF-16 unit takes at most three bytes, so most annotations need no closer look.
  if (3 * units > MAX_ANNOTATION_BYTES && annotationBytes(annotations ?? {}) > MAX_ANNOTATION_BYTES)
    errors.push(tooLong(field, MAX_ANNOTATION_BYTES));
  return errors;
}

function annotationBytes(annotations: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations))
    bytes += utf8Length(key) + utf8Length(value);
  return bytes;
}

function validateOwnerReferences(owners: readonly OwnerReference[] | undefined): FieldError[] {
  const field = "metadata.ownerReferences";
  const errors: FieldError[] = [];
  let controller = "";
  for (const owner of owners ?? []) {
    errors.push(...validateOwnerReference(owner, field));
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller === "") controller = name;
    else
      errors.push(
        invalid(
          field,
          owners?.map(inWireOrder),
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
        ),
      );
  }
  return errors;
}

function validateOwnerReference(owner: OwnerReference, field: string): FieldError[] {
  const { apiVersion = "", kind = "", name = "", uid = "" } = owner as Partial<OwnerReference>;
  const errors: FieldError[] = [];
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  if (version === "" || apiVersion.split("/").length > 2)
    errors.push(invalid(`${field}.apiVersion`, apiVersion, "version must not be empty"));
  if (kind === "") errors.push(invalid(`${field}.kind`, kind, "must not be empty"));
  if (name === "") errors.push(invalid(`${field}.name`, name, "must not be empty"));
  if (uid === "") errors.push(invalid(`${field}.uid`, uid, "must not be empty"));
  if (apiVersion === "v1" && kind === "Event")
    errors.push(
      invalid(field, inWireOrder(owner), "/v1, Kind=Event is disallowed from being an owner"),
    );
  return errors;
}

/** Messages show owner references with their fields in the order of the Go type. */
function inWireOrder(owner: OwnerReference): object {
  const { apiVersion = "", kind = "", name = "", uid = "" } = owner as Partial<OwnerReference>;
  const { controller, blockOwnerDeletion } = owner;
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  };
}

function validateFinalizers(finalizers: readonly string[] | undefined): FieldError[] {
  const field = "metadata.finalizers";
  const errors: FieldError[] = [];
  for (const finalizer of finalizers ?? []) {
    for (const problem of labelKeyProblems(finalizer))
      errors.push(invalid(field, finalizer, problem));
  }
  if (finalizers?.includes(ORPHAN) === true && finalizers.includes(FOREGROUND))
    errors.push(
      invalid(field, finalizers, `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`),
    );
  return errors;
}

function validateQualifiedFinalizers(finalizers: readonly string[] | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, finalizer] of (finalizers ?? []).entries()) {
    if (finalizer.includes("/") || STANDARD_FINALIZERS.includes(finalizer)) continue;
    errors.push(
      invalid(
        `metadata.finalizers[${i}]`,
        finalizer,
        "name is neither a standard finalizer name nor is it fully qualified",
      ),
    );
  }
  return errors;
}

function validateNoNewFinalizers(meta: CheckedMeta, old: CheckedMeta): FieldError[] {
  const known = new Set(old.finalizers);
  const added = new Set((meta.finalizers ?? []).filter((finalizer) => !known.has(finalizer)));
  if (added.size === 0) return [];
  const shown = [...added].toSorted().map((finalizer) => JSON.stringify(finalizer));
  return [
    forbidden(
      "metadata.finalizers",
      "no new finalizers can be added if the object is being deleted, found new finalizers " +
        `[]string{${shown.join(", ")}}`,
    ),
  ];
}

function isEmpty(text: string | undefined): boolean {
  return text === undefined || text === "";
}
