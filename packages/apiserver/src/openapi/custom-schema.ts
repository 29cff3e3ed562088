/**
 * The schema of a CRD as OpenAPI shows it: what is implied there is written out here. Resources, the root and embedded ones, have
 * apiVersion, kind and metadata; a place for integers and strings is described in words that every client knows.
 */
import type { JsonSchema, SchemaMap } from "@lifeboat/api";

/** `metadata` refers to the schema of ObjectMeta. */
export function customSchema(schema: JsonSchema, metadata: object): object {
  return { ...converted(schema, metadata), ...identity(schema, metadata, []) };
}

function converted(schema: JsonSchema, metadata: object): object {
  const inner = (child: JsonSchema): object => converted(child, metadata);
  return {
    ...schema,
    ...(schema.properties !== undefined && { properties: mapped(schema.properties, inner) }),
    ...(isSchema(schema.additionalProperties) && {
      additionalProperties: inner(schema.additionalProperties),
    }),
    ...(isSchema(schema.items) && { items: inner(schema.items) }),
    ...(schema["x-kubernetes-int-or-string"] === true && intOrString(schema)),
    ...(schema["x-kubernetes-embedded-resource"] === true &&
      identity(schema, metadata, ["kind", "apiVersion"])),
  };
}

function mapped(properties: SchemaMap, convert: (schema: JsonSchema) => object): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, convert(schema)]),
  );
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function intOrString(schema: JsonSchema): object {
  if (schema.anyOf !== undefined || schema.allOf !== undefined) return {};
  return { anyOf: [{ type: "integer" }, { type: "string" }] };
}

/** The fields every resource has, and which of them a schema requires beside its own. */
function identity(schema: JsonSchema, metadata: object, required: readonly string[]): object {
  const all = [...new Set([...(schema.required ?? []), ...required])];
  const own = mapped(schema.properties ?? {}, (child) => converted(child, metadata));
  return {
    ...(all.length > 0 && { required: all }),
    properties: {
      ...own,
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { allOf: [metadata] },
    },
  };
}
