/** Schemas and values for property tests: schemas that are structural, with values that satisfy them, and nonsense. */
import fc from "fast-check";
import type { Json } from "../json.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A structural schema, and a value that satisfies it once its defaults are filled in. */
export interface SchemaWithValue {
  readonly schema: JsonSchema;
  readonly value: Json;
}

const FIELD_NAMES = ["a", "b", "c", "name", "x-y", "constructor", "toString", "metadata", "kind"];

const fieldName = fc.constantFrom(...FIELD_NAMES);

function leaf(schema: JsonSchema, value: fc.Arbitrary<Json>): fc.Arbitrary<SchemaWithValue> {
  return value.map((found) => ({ schema, value: found }));
}

const leaves: fc.Arbitrary<SchemaWithValue> = fc.oneof(
  leaf({ type: "string" }, fc.string()),
  leaf({ type: "string", default: "d" }, fc.string()),
  leaf({ type: "string", maxLength: 5, minLength: 1 }, fc.string({ minLength: 1, maxLength: 5 })),
  leaf({ type: "string", pattern: "^[a-c]+$" }, fc.constantFrom("a", "abc", "cc")),
  leaf({ type: "string", enum: ["x", "y"], default: "y" }, fc.constantFrom("x", "y")),
  leaf({ type: "integer", minimum: -5, maximum: 5 }, fc.integer({ min: -5, max: 5 })),
  leaf({ type: "integer", format: "int32", default: 7 }, fc.integer()),
  leaf({ type: "number" }, fc.double({ noNaN: true, noDefaultInfinity: true })),
  leaf({ type: "boolean" }, fc.boolean()),
  leaf({ type: "string", nullable: true }, fc.option(fc.string())),
  leaf({ "x-kubernetes-int-or-string": true }, fc.oneof(fc.integer(), fc.string())),
  leaf(
    { "x-kubernetes-preserve-unknown-fields": true },
    // Null would be dropped: the schema does not allow it.
    fc.jsonValue().filter((value) => value !== null) as fc.Arbitrary<Json>,
  ),
  leaf({ type: "string", format: "ipv4" }, fc.ipV4()),
  leaf(
    { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    fc.uniqueArray(fc.string(), { maxLength: 4 }),
  ),
);

export const schemaWithValue: fc.Arbitrary<SchemaWithValue> = fc.letrec<{ any: SchemaWithValue }>(
  (tie) => ({
    any: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaves,
      tie("any").chain(listOf),
      tie("any").chain(mapOf),
      fc.dictionary(fieldName, tie("any"), { maxKeys: 4 }).map(objectOf),
    ),
  }),
).any;

function listOf(element: SchemaWithValue): fc.Arbitrary<SchemaWithValue> {
  const schema: JsonSchema = { type: "array", items: element.schema };
  return fc.nat({ max: 3 }).map((count) => ({
    schema,
    value: Array.from({ length: count }, () => element.value),
  }));
}

function mapOf(element: SchemaWithValue): fc.Arbitrary<SchemaWithValue> {
  const schema: JsonSchema = { type: "object", additionalProperties: element.schema };
  return fc
    .uniqueArray(fieldName, { maxLength: 3 })
    .map((keys) => ({ schema, value: record(keys.map((key) => [key, element.value])) }));
}

function objectOf(fields: Readonly<Record<string, SchemaWithValue>>): SchemaWithValue {
  const entries = Object.entries(fields);
  return {
    schema: {
      type: "object",
      properties: record(entries.map(([key, field]) => [key, field.schema])),
      required: entries.map(([key]) => key),
    },
    value: record(entries.map(([key, field]) => [key, field.value])),
  };
}

function record<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.fromEntries(entries);
}

/** Any JSON, with names that schemas of these tests use. */
export const anyValue: fc.Arbitrary<Json> = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string(),
    ) as fc.Arbitrary<Json>,
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(fieldName, tie("any"), { maxKeys: 4 }) as fc.Arbitrary<Json>,
  ),
})).any;

const KEYWORDS = [
  "type",
  "format",
  "properties",
  "additionalProperties",
  "items",
  "required",
  "enum",
  "default",
  "pattern",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "nullable",
  "maximum",
  "minLength",
  "maxItems",
  "multipleOf",
  "uniqueItems",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
];
const WORDS = ["object", "array", "string", "integer", "map", "set", "(", "^a$", "name", "ipv4"];

/** Something that uses the words of schemas in any way at all. */
export const nonsenseSchema: fc.Arbitrary<JsonSchema> = fc.letrec<{
  schema: JsonSchema;
  any: Json;
}>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.constantFrom(...WORDS),
    ) as fc.Arbitrary<Json>,
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fieldName, tie("any"), { maxKeys: 3 }) as fc.Arbitrary<Json>,
    tie("schema") as unknown as fc.Arbitrary<Json>,
    fc.dictionary(fieldName, tie("schema"), { maxKeys: 3 }) as unknown as fc.Arbitrary<Json>,
    fc.array(tie("schema"), { maxLength: 3 }) as unknown as fc.Arbitrary<Json>,
  ),
  schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie("any"), {
    maxKeys: 5,
  }),
})).schema;
