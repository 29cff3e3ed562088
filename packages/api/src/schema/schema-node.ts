/**
 * Schemas, compiled. A `SchemaNode` holds what the walkers (prune.ts, fill-defaults.ts, validate.ts, list-types.ts,
 * embedded.ts) need at one place of an object, in the form that is quickest to look at.
 *
 * 1. Compiling never throws: what does not make sense at a place (a pattern that is no pattern, a schema nested too
 *    deep) is left out there. `validateCrd` is where such schemas are refused.
 * 2. Nodes are made once per version of a CRD and never change.
 */
import { deepFreeze } from "@lifeboat/base";
import type { Json } from "../json.ts";
import { fillDefaults } from "./fill-defaults.ts";
import { type FormatCheck, isNumericFormat, stringFormat } from "./formats.ts";
import { isSchema, type JsonSchema, MAX_SCHEMA_DEPTH } from "./json-schema.ts";
import { compilePattern } from "./pattern.ts";

/** Types of JSON values as bits; a schema may allow several. */
export const STRING = 1;
export const INTEGER = 2;
export const NUMBER = 4;
export const BOOLEAN = 8;
export const ARRAY = 16;
export const OBJECT = 32;

const TYPE_BITS: Readonly<Record<string, number>> = {
  string: STRING,
  integer: INTEGER,
  number: NUMBER,
  boolean: BOOLEAN,
  array: ARRAY,
  object: OBJECT,
};

export interface SchemaNode {
  /** Bits of the types allowed; 0 allows all. */
  readonly types: number;
  /** The allowed types in messages: `integer,string`. */
  readonly typeText: string;
  readonly nullable: boolean;
  /** "" when absent or unknown to the server. */
  readonly format: string;
  readonly strings: StringLimits | undefined;
  readonly numbers: NumberLimits | undefined;
  readonly enumeration: Enumeration | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly required: readonly string[];
  readonly combined: Combined | undefined;

  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** Of map values; `true` says any value, `false` none; undefined says the schema does not speak of other fields. */
  readonly additional: SchemaNode | boolean | undefined;
  readonly items: SchemaNode | undefined;

  readonly preserve: boolean;
  readonly embedded: boolean;
  readonly listType: string;
  readonly mapKeys: readonly string[];
  readonly atomicMap: boolean;

  /** Undefined when there is none; null counts as none. */
  readonly default: Json | undefined;
  /** Names and values of the properties that have a default, for the walker. */
  readonly defaults: readonly (readonly [name: string, value: Json, nullable: boolean])[];

  /** What can be found in this node or below it: walkers skip the rest. */
  readonly anyDefaults: boolean;
  readonly anyListTypes: boolean;
  readonly anyEmbedded: boolean;
  readonly anyRules: boolean;
}

export interface StringLimits {
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string;
  readonly matches: ((text: string) => boolean) | undefined;
  readonly format: FormatCheck | undefined;
}

export interface NumberLimits {
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  /** `int32` when values must fit it. */
  readonly range: string;
  /** `integer` or `number`, for messages about the range. */
  readonly type: string;
}

export interface Enumeration {
  readonly values: readonly Json[];
  readonly scalars: ReadonlySet<Json>;
  readonly onlyScalars: boolean;
  /** As messages name them. */
  readonly texts: readonly string[];
}

export interface Combined {
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
}

/** Compiles a schema and everything inside it. */
export function compileNode(schema: JsonSchema, depth = 0): SchemaNode {
  if (depth > MAX_SCHEMA_DEPTH)
    return compileNode({ "x-kubernetes-preserve-unknown-fields": true });
  const child = (inner: JsonSchema): SchemaNode => compileNode(inner, depth + 1);
  const properties = compileProperties(schema, child);
  const additional = compileAdditional(schema, child);
  const items = isSchema(schema.items) ? child(schema.items) : undefined;
  const below = [...properties.values()];
  if (typeof additional === "object") below.push(additional);
  if (items !== undefined) below.push(items);
  const defaults = defaultsOf(properties);
  const listType = textOf(schema["x-kubernetes-list-type"]);
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const types = typesOf(schema);
  const node: SchemaNode = {
    types,
    typeText: typeTextOf(schema),
    nullable: schema.nullable === true,
    format: formatOf(schema),
    strings: stringLimits(schema),
    numbers: numberLimits(schema),
    enumeration: enumeration(schema),
    minItems: numberOf(schema.minItems),
    maxItems: numberOf(schema.maxItems),
    uniqueItems: schema.uniqueItems === true,
    minProperties: numberOf(schema.minProperties),
    maxProperties: numberOf(schema.maxProperties),
    required: textsOf(schema.required),
    combined: combined(schema, child),
    properties,
    additional,
    items,
    preserve: schema["x-kubernetes-preserve-unknown-fields"] === true,
    embedded,
    listType,
    mapKeys: textsOf(schema["x-kubernetes-list-map-keys"]),
    atomicMap: schema["x-kubernetes-map-type"] === "atomic",
    default: undefined,
    defaults,
    anyDefaults: below.some((inner) => inner.anyDefaults || inner.default !== undefined),
    anyListTypes:
      listType === "set" || listType === "map" || below.some((inner) => inner.anyListTypes),
    anyEmbedded: embedded || below.some((inner) => inner.anyEmbedded),
    anyRules:
      listOf(schema["x-kubernetes-validations"]).length > 0 ||
      below.some((inner) => inner.anyRules),
  };
  if (schema.default === undefined || schema.default === null) return node;
  return { ...node, default: deepFreeze(fillDefaults(node, schema.default)) };
}

type CompileChild = (schema: JsonSchema) => SchemaNode;

function compileProperties(schema: JsonSchema, child: CompileChild): Map<string, SchemaNode> {
  const nodes = new Map<string, SchemaNode>();
  if (!isSchema(schema.properties)) return nodes;
  for (const [name, inner] of Object.entries(schema.properties)) {
    if (isSchema(inner)) nodes.set(name, child(inner));
  }
  return nodes;
}

function compileAdditional(
  schema: JsonSchema,
  child: CompileChild,
): SchemaNode | boolean | undefined {
  const additional = schema.additionalProperties;
  if (isSchema(additional)) return child(additional);
  return typeof additional === "boolean" ? additional : undefined;
}

function defaultsOf(properties: ReadonlyMap<string, SchemaNode>): SchemaNode["defaults"] {
  const found: (readonly [string, Json, boolean])[] = [];
  for (const [name, node] of properties) {
    if (node.default !== undefined) found.push([name, node.default, node.nullable]);
  }
  return found;
}

function typesOf(schema: JsonSchema): number {
  if (schema["x-kubernetes-int-or-string"] === true) return INTEGER | STRING;
  return TYPE_BITS[textOf(schema.type)] ?? 0;
}

function typeTextOf(schema: JsonSchema): string {
  return schema["x-kubernetes-int-or-string"] === true ? "integer,string" : textOf(schema.type);
}

function formatOf(schema: JsonSchema): string {
  const format = textOf(schema.format);
  if (format === "") return "";
  const type = schema["x-kubernetes-int-or-string"] === true ? "" : textOf(schema.type);
  if (type === "" || type === "string") return stringFormat(format) === undefined ? "" : format;
  return isNumericFormat(type, format) ? format : "";
}

function stringLimits(schema: JsonSchema): StringLimits | undefined {
  const minLength = numberOf(schema.minLength);
  const maxLength = numberOf(schema.maxLength);
  const pattern = textOf(schema.pattern);
  const format = stringFormat(formatOf(schema));
  if (minLength === undefined && maxLength === undefined && pattern === "" && format === undefined)
    return undefined;
  const compiled = pattern === "" ? undefined : compilePattern(pattern);
  const matches = compiled?.ok === true ? compiled.matches : undefined;
  return { minLength, maxLength, pattern, matches, format };
}

function numberLimits(schema: JsonSchema): NumberLimits | undefined {
  const minimum = numberOf(schema.minimum);
  const maximum = numberOf(schema.maximum);
  const multipleOf = numberOf(schema.multipleOf);
  const type = textOf(schema.type);
  const range = isNumericFormat(type, textOf(schema.format)) ? textOf(schema.format) : "";
  const checked = type === "integer" || range === "float";
  if (minimum === undefined && maximum === undefined && multipleOf === undefined && !checked)
    return undefined;
  return {
    minimum,
    exclusiveMinimum: schema.exclusiveMinimum === true,
    maximum,
    exclusiveMaximum: schema.exclusiveMaximum === true,
    multipleOf,
    range,
    type,
  };
}

function enumeration(schema: JsonSchema): Enumeration | undefined {
  const values = listOf(schema.enum);
  if (values.length === 0) return undefined;
  const scalars = values.filter((value) => typeof value !== "object" || value === null);
  return {
    values,
    scalars: new Set(scalars),
    onlyScalars: scalars.length === values.length,
    texts: values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))),
  };
}

function combined(schema: JsonSchema, child: CompileChild): Combined | undefined {
  const compileAll = (list: unknown): readonly SchemaNode[] =>
    (Array.isArray(list) ? list : []).filter(isSchema).map(child);
  const allOf = compileAll(schema.allOf);
  const anyOf = compileAll(schema.anyOf);
  const oneOf = compileAll(schema.oneOf);
  const not = isSchema(schema.not) ? child(schema.not) : undefined;
  if (allOf.length + anyOf.length + oneOf.length === 0 && not === undefined) return undefined;
  return { allOf, anyOf, oneOf, not };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
