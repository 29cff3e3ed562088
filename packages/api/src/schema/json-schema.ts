/**
 * The schema language of custom resources: OpenAPI v3 as `apiextensions.k8s.io/v1` narrows it (JSONSchemaProps).
 *
 * Values of these types come from users. They passed the decoder of CustomResourceDefinitions, so fields have the type
 * written here, but nothing more is known about them until `validateCrd` has looked.
 */
import type { Json } from "../json.ts";

/** A rule in CEL. Stored and shown, not enforced yet. */
export interface ValidationRule {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface JsonSchema {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly title?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: Json;
  readonly example?: Json;
  readonly externalDocs?: Json;

  readonly enum?: readonly Json[];
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];

  readonly properties?: SchemaMap;
  readonly additionalProperties?: boolean | JsonSchema;
  /** A list of schemas can be written here; `validateCrd` refuses it. */
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;

  /** These four can be written and are refused by `validateCrd`. */
  readonly patternProperties?: SchemaMap;
  readonly definitions?: SchemaMap;
  readonly dependencies?: Readonly<Record<string, JsonSchema | readonly string[]>>;
  readonly additionalItems?: boolean | JsonSchema;

  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

export type SchemaMap = Readonly<Record<string, JsonSchema>>;

/** Schemas nested deeper than this are refused; walkers may therefore recurse. */
export const MAX_SCHEMA_DEPTH = 128;

/** The single schema of a list's elements; undefined when there is none or a list of them was written. */
export function itemsOf(schema: JsonSchema): JsonSchema | undefined {
  return isSchema(schema.items) ? schema.items : undefined;
}

/** The schema of a map's values; undefined when additionalProperties is absent or a boolean. */
export function additionalOf(schema: JsonSchema): JsonSchema | undefined {
  return isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Calls `visit` with every schema inside this one, itself first. Stops early, answering true, when `visit` does. */
export function someSchema(
  schema: JsonSchema,
  visit: (schema: JsonSchema) => boolean,
  depth = 0,
): boolean {
  if (depth > MAX_SCHEMA_DEPTH) return false;
  if (visit(schema)) return true;
  const inside = (child: unknown): boolean =>
    isSchema(child) && someSchema(child, visit, depth + 1);
  return (
    Object.values(schema.properties ?? {}).some(inside) ||
    inside(schema.additionalProperties) ||
    (Array.isArray(schema.items) ? schema.items.some(inside) : inside(schema.items)) ||
    (schema.allOf ?? []).some(inside) ||
    (schema.anyOf ?? []).some(inside) ||
    (schema.oneOf ?? []).some(inside) ||
    inside(schema.not)
  );
}
