/**
 * Resources embedded in custom resources (`x-kubernetes-embedded-resource`): their apiVersion, kind and metadata are those
 * of a real object, so their metadata is brought into shape and checked as such.
 */
import { showJson } from "../go-text.ts";
import { type FieldError, invalid, required } from "../field-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { dns1035LabelProblems } from "../metadata/names.ts";
import { type CheckedMeta, validateMetadata } from "../metadata/validate-metadata.ts";
import { MAX_TOLD_FIELDS, shownKey } from "../shown-path.ts";
import { normalizeObjectMeta } from "./object-meta.ts";
import type { SchemaNode } from "./schema-node.ts";
import { setField } from "./set-field.ts";

export type Coerced =
  | { readonly ok: true; readonly value: Json; readonly unknownFields: readonly string[] }
  /** The object cannot be decoded at all. */
  | { readonly ok: false; readonly message: string };

/** Brings the metadata of all embedded resources into shape. Shares what does not change. */
export function coerceEmbedded(node: SchemaNode, value: Json): Coerced {
  if (!node.anyEmbedded) return { ok: true, value, unknownFields: [] };
  const unknown: string[] = [];
  try {
    const coerced = coerce(node, value, "", unknown);
    return { ok: true, value: coerced, unknownFields: unknown.sort() };
  } catch (error) {
    if (error instanceof CoerceError) return { ok: false, message: error.message };
    throw error;
  }
}

class CoerceError extends Error {}

function coerce(node: SchemaNode, value: Json, path: string, unknown: string[]): Json {
  if (!node.anyEmbedded || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return coerceList(node, value, path, unknown);
  return coerceObject(node, value as JsonObject, path, unknown);
}

function coerceList(
  node: SchemaNode,
  list: readonly Json[],
  path: string,
  unknown: string[],
): readonly Json[] {
  const { items } = node;
  if (items === undefined) return list;
  const coerced = list.map((element, i) => coerce(items, element, `${path}[${i}]`, unknown));
  return coerced.every((element, i) => element === list[i]) ? list : coerced;
}

function coerceObject(
  node: SchemaNode,
  object: JsonObject,
  path: string,
  unknown: string[],
): JsonObject {
  let changed: Record<string, Json | undefined> | undefined;
  for (const key in object) {
    const current = object[key] as Json;
    const below = child(path, key);
    const next = node.embedded ? coerceMetaField(key, current, below, unknown) : current;
    const property = node.properties.get(key);
    let result = next;
    if (property !== undefined) result = coerce(property, next, below, unknown);
    else if (typeof node.additional === "object")
      result = coerce(node.additional, next, `${path}[${shownKey(key)}]`, unknown);
    if (result === current) continue;
    changed ??= { ...object };
    setField(changed, key, result);
  }
  return changed ?? object;
}

function coerceMetaField(key: string, value: Json, path: string, unknown: string[]): Json {
  if ((key === "apiVersion" || key === "kind") && typeof value !== "string")
    throw new CoerceError(`${path}: Invalid value: ${showJson(value)}: must be a string`);
  if (key !== "metadata") return value;
  const normalized = normalizeObjectMeta(value, path);
  if (!normalized.ok)
    throw new CoerceError(`${path}: Invalid value: ${showJson(value)}: ${normalized.message}`);
  if (unknown.length < MAX_TOLD_FIELDS) unknown.push(...normalized.unknownFields);
  return normalized.object;
}

/** What is wrong with the identities of embedded resources. */
export function validateEmbedded(node: SchemaNode, value: Json): readonly FieldError[] {
  if (!node.anyEmbedded) return [];
  const errors: FieldError[] = [];
  walk(node, value, "", errors);
  return errors;
}

function walk(node: SchemaNode, value: Json | undefined, path: string, errors: FieldError[]): void {
  if (!node.anyEmbedded || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const { items } = node;
    if (items !== undefined)
      value.forEach((element, i) => walk(items, element, `${path}[${i}]`, errors));
    return;
  }
  const object = value as JsonObject;
  if (node.embedded) checkResource(object, path, errors);
  for (const key in object) {
    const property = node.properties.get(key);
    if (property !== undefined) walk(property, object[key], child(path, key), errors);
    else if (typeof node.additional === "object")
      walk(node.additional, object[key], `${path}[${shownKey(key)}]`, errors);
  }
}

function checkResource(object: JsonObject, path: string, errors: FieldError[]): void {
  const { apiVersion, kind } = object;
  const at = (field: string): string => child(path, field);
  if (apiVersion === undefined) errors.push(required(at("apiVersion")));
  if (kind === undefined) errors.push(required(at("kind")));
  if (apiVersion !== undefined) errors.push(...checkApiVersion(apiVersion, at("apiVersion")));
  if (kind !== undefined) errors.push(...checkKind(kind, at("kind")));
  const { metadata } = object;
  if (isJsonObject(metadata)) errors.push(...checkMetadata(metadata, path));
}

/** As of any object, but that it needs no name and may have one that is good for a path. */
function checkMetadata(metadata: JsonObject, path: string): readonly FieldError[] {
  const meta = metadata as CheckedMeta;
  return validateMetadata(meta, {
    namespaced: (meta.namespace ?? "") !== "",
    nameRule: "pathSegment",
    requireName: false,
  }).map((error) => ({ ...error, field: child(path, error.field) }));
}

function checkApiVersion(value: Json, field: string): readonly FieldError[] {
  if (typeof value !== "string") return [invalid(field, value, "must be a string")];
  if (value === "") return [invalid(field, value, "must not be empty")];
  if (value.split("/").length <= 2) return [];
  return [invalid(field, value, `unexpected GroupVersion string: ${value}`)];
}

function checkKind(value: Json, field: string): readonly FieldError[] {
  if (typeof value !== "string") return [invalid(field, value, "must be a string")];
  if (value === "") return [invalid(field, value, "must not be empty")];
  const errors = dns1035LabelProblems(value.toLowerCase());
  if (errors.length === 0) return [];
  const detail = `may have mixed case, but should otherwise match: ${errors.join(",")}`;
  return [invalid(field, value, detail)];
}

function child(path: string, key: string): string {
  return path === "" ? shownKey(key) : `${path}.${shownKey(key)}`;
}
