/**
 * From a decoded body to an object in the shape of its kind: checks apiVersion and kind, normalizes, and reports what
 * the field validation of the request asks for.
 */
import {
  apiVersionOf,
  badRequest,
  builtinSchema,
  invalid,
  invalidObject,
  type Json,
  type JsonObject,
  type Normalized,
  parseApiVersion,
} from "@lifeboat/api";
import { anew } from "@lifeboat/base";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { Body, RequestContext, WriteParameters } from "./verbs.ts";

/** Answers the normalized object; its apiVersion and kind are those of the resource. `known`: see normalizeChanged. */
export function decodeBody(
  context: RequestContext,
  resource: ServedResource,
  body: Body,
  fieldValidation: WriteParameters["fieldValidation"],
  known?: JsonObject,
): JsonObject {
  const normalized = normalizeChanged(resource, withType(resource, body.object), known);
  if (!normalized.ok) throw cannotBeHandled(resource, resource.kind, normalized.message);
  const complaints = complaintsAbout(body.duplicateFields ?? [], normalized.unknownFields);
  if (complaints.length > 0) report(context, resource, fieldValidation, complaints);
  return normalized.object;
}

/**
 * The normalized form of an object that was made from `known`, which is normalized: a field that is still the known value
 * itself is not walked again. Callers in this process, and patches, hand in most of an object as it was.
 */
export function normalizeChanged(
  resource: ServedResource,
  object: JsonObject,
  known: JsonObject | undefined,
): Normalized {
  if (known === undefined) return resource.schema.normalize(object);
  const isKept = (field: string): boolean => {
    const value = object[field];
    return typeof value === "object" && value === known[field];
  };
  const fields = Object.keys(object);
  if (!fields.some(isKept)) return resource.schema.normalize(object);
  const changed = fields.filter((field) => !isKept(field));
  const normalized = resource.schema.normalize(pick(object, changed));
  if (!normalized.ok) return normalized;
  // The normalizer writes out fields that must not be absent, so what was set aside goes over its answer.
  return {
    ...anew,
    ...normalized,
    object: { ...anew, ...normalized.object, ...pick(object, fields.filter(isKept)) },
  };
}

function pick(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.map((field) => [field, object[field] as Json]));
}

/** What strict decoding reports: one sentence per field that is unknown or stands twice. */
export function complaintsAbout(
  duplicateFields: readonly string[],
  unknownFields: readonly string[],
): readonly string[] {
  if (duplicateFields.length === 0 && unknownFields.length === 0) return [];
  return [
    ...duplicateFields.map((field) => `duplicate field ${JSON.stringify(field)}`),
    ...unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`),
  ];
}

function report(
  context: RequestContext,
  resource: ServedResource,
  fieldValidation: WriteParameters["fieldValidation"],
  complaints: readonly string[],
): void {
  if (fieldValidation === "Ignore") return;
  if (fieldValidation === "Strict") {
    const message = `strict decoding error: ${complaints.join(", ")}`;
    throw cannotBeHandled(resource, resource.kind, message);
  }
  for (const complaint of complaints) context.warn(complaint);
}

/** The body with apiVersion and kind filled in where they are missing; refuses other ones. */
function withType(resource: ServedResource, object: JsonObject): JsonObject {
  const expected = apiVersionOf(resource);
  const { apiVersion, kind } = object;
  if (apiVersion === expected && kind === resource.kind) return object;
  const givenVersion =
    apiVersion === undefined || apiVersion === "" ? expected : textOf(apiVersion);
  const givenKind = kind === undefined || kind === "" ? resource.kind : textOf(kind);
  if (givenVersion === expected && givenKind === resource.kind)
    return { ...object, kind: resource.kind, apiVersion: expected };
  if (!resource.custom) {
    const { version } = parseApiVersion(givenVersion);
    throw cannotBeHandled(
      resource,
      givenKind,
      wrongType(resource, givenVersion, givenKind),
      version,
    );
  }
  if (givenKind !== resource.kind) throw wrongCustomType(resource, object);
  throw badRequest(
    `the API version in the data (${givenVersion}) does not match the expected API version (${expected})`,
  );
}

/** Why an object of this type cannot be one of a built-in resource. */
export function wrongType(resource: ServedResource, apiVersion: string, kind: string): string {
  const { version } = parseApiVersion(apiVersion);
  return builtinSchema(apiVersion, kind) === undefined
    ? `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`
    : `converting (${version}.${kind}) to (${groupWord(resource)}.${resource.kind}): unknown conversion`;
}

/** The 422 about a custom resource's kind or apiVersion. It speaks of the kind that was given. */
export function wrongCustomType(resource: ServedResource, object: JsonObject): Error {
  const expected = apiVersionOf(resource);
  const { apiVersion, kind } = object;
  const error =
    kind === resource.kind
      ? invalid("apiVersion", apiVersion, `must be ${expected}`)
      : invalid("kind", kind, `must be ${resource.kind}`);
  const name = (object["metadata"] as { readonly name?: unknown } | undefined)?.name;
  return invalidObject({ group: resource.group, kind: textOf(kind) }, textOf(name ?? ""), [error]);
}

function cannotBeHandled(
  resource: ServedResource,
  kind: string,
  message: string,
  version = resource.version,
): Error {
  return badRequest(
    `${kind} in version "${version}" cannot be handled as a ${resource.kind}: ${message}`,
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Messages name the group by its first word, and the core group `core`. */
function groupWord(resource: ServedResource): string {
  return resource.group === "" ? "core" : (resource.group.split(".")[0] ?? "");
}
