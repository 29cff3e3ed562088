/**
 * From a decoded body to an object in the shape of its kind: checks apiVersion and kind, normalizes, and reports what
 * the field validation of the request asks for.
 */
import { apiVersionOf, badRequest, type JsonObject } from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { Body, RequestContext, WriteParameters } from "./verbs.ts";

/** Answers the normalized object; its apiVersion and kind are those of the resource. */
export function decodeBody(
  context: RequestContext,
  resource: ServedResource,
  body: Body,
  fieldValidation: WriteParameters["fieldValidation"],
): JsonObject {
  const normalized = resource.schema.normalize(withType(resource, body.object));
  if (!normalized.ok) throw cannotBeHandled(resource, resource.kind, normalized.message);
  const complaints = complaintsAbout(body.duplicateFields ?? [], normalized.unknownFields);
  if (complaints.length > 0) report(context, resource, fieldValidation, complaints);
  return normalized.object;
}

/** What strict decoding says: one sentence per field that is unknown or stands twice. */
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
  if (kind !== undefined && kind !== "" && kind !== resource.kind) {
    const reason = `converting (${resource.version}.${textOf(kind)}) to (${groupWord(resource)}.${resource.kind}): unknown conversion`;
    throw cannotBeHandled(resource, textOf(kind), reason);
  }
  if (apiVersion !== undefined && apiVersion !== "" && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${textOf(apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  return { ...object, kind: resource.kind, apiVersion: expected };
}

function cannotBeHandled(resource: ServedResource, kind: string, message: string): Error {
  return badRequest(
    `${kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${message}`,
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Messages name the group by its first word, and the core group `core`. */
function groupWord(resource: ServedResource): string {
  return resource.group === "" ? "core" : (resource.group.split(".")[0] ?? "");
}
