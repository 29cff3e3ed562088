/**
 * A small language for the fields of a kind. One declaration gives both the schema of the wire (what a CRD carries) and
 * the TypeScript type (`Static<typeof shape>`), so the two cannot drift apart.
 *
 * 1. Every field has a description: it is the reference documentation.
 * 2. A field with a default is optional in its type too: manifests may leave it out, and objects stored before the
 *    default existed lack it until they are read through the server.
 * 3. Shapes are plain data and are never changed.
 */
import type { Json } from "../../json.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";

declare const valueType: unique symbol;

export interface Shape<T> {
  readonly schema: JsonSchema;
  /** Never present; it carries the type. */
  readonly [valueType]?: T;
}

/** A field that may be left out. */
export interface OptionalShape<T> extends Shape<T> {
  readonly optional: true;
}

/** The TypeScript type of what a shape describes. */
export type Static<S> = S extends Shape<infer T> ? T : never;

export type Fields = Readonly<Record<string, Shape<unknown>>>;

type Flat<T> = { readonly [K in keyof T]: T[K] };

/** The type of an object with these fields. */
export type ObjectOf<F extends Fields> = Flat<
  {
    readonly [K in keyof F as F[K] extends OptionalShape<unknown> ? never : K]: Static<F[K]>;
  } & {
    readonly [K in keyof F as F[K] extends OptionalShape<unknown> ? K : never]?: Static<F[K]>;
  }
>;

type TextRules = Pick<JsonSchema, "minLength" | "maxLength" | "pattern" | "format">;
type NumberRules = Pick<JsonSchema, "minimum" | "maximum">;
type ListRules = Pick<
  JsonSchema,
  "minItems" | "maxItems" | "x-kubernetes-list-type" | "x-kubernetes-list-map-keys"
>;

export function text(description: string, rules: TextRules = {}): Shape<string> {
  return { schema: { description, type: "string", ...rules } };
}

/** One of a few texts. */
export function choice<const C extends readonly string[]>(
  description: string,
  choices: C,
): Shape<C[number]> {
  return { schema: { description, type: "string", enum: choices } };
}

/** A whole number that fits 32 bits, unless the rules narrow it. */
export function integer(description: string, rules: NumberRules = {}): Shape<number> {
  return { schema: { description, type: "integer", format: "int32", ...rules } };
}

/** A whole number that fits 64 bits. */
export function longInteger(description: string, rules: NumberRules = {}): Shape<number> {
  return { schema: { description, type: "integer", format: "int64", ...rules } };
}

export function decimal(description: string, rules: NumberRules = {}): Shape<number> {
  return { schema: { description, type: "number", ...rules } };
}

export function flag(description: string): Shape<boolean> {
  return { schema: { description, type: "boolean" } };
}

/** A point in time, RFC 3339. */
export function time(description: string): Shape<string> {
  return text(description, { format: "date-time" });
}

const QUANTITY =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** An amount such as `500m` or `4Gi`; a bare whole number may be written without quotes. */
export function quantity(description: string): Shape<string | number> {
  const anyOf = [{ type: "integer" }, { type: "string" }];
  return {
    schema: { description, anyOf, pattern: QUANTITY, "x-kubernetes-int-or-string": true },
  };
}

export function list<T>(
  description: string,
  item: Shape<T>,
  rules: ListRules = {},
): Shape<readonly T[]> {
  return { schema: { description, type: "array", items: item.schema, ...rules } };
}

/** A list in which each value of the key field occurs once; server-side apply merges it entry by entry. */
export function keyedList<T>(
  description: string,
  key: keyof T & string,
  item: Shape<T>,
): Shape<readonly T[]> {
  return list(description, item, {
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [key],
  });
}

export function map<T>(description: string, value: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return { schema: { description, type: "object", additionalProperties: value.schema } };
}

export function object<const F extends Fields>(description: string, fields: F): Shape<ObjectOf<F>> {
  const names = Object.keys(fields);
  const required = names.filter((name) => !("optional" in (fields[name] ?? {})));
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, shape]) => [name, shape.schema]),
  );
  return {
    schema: {
      description,
      type: "object",
      ...(required.length > 0 && { required }),
      ...(names.length > 0 && { properties }),
    },
  };
}

/** Any JSON at all. */
export function anything(description: string): Shape<Json> {
  return { schema: { description, "x-kubernetes-preserve-unknown-fields": true } };
}

/** An object whose fields are not known here. */
export function anyObject(description: string): Shape<Readonly<Record<string, unknown>>> {
  return { schema: { description, type: "object", "x-kubernetes-preserve-unknown-fields": true } };
}

export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { ...shape, optional: true };
}

/** Optional, and filled in by the server. */
export function withDefault<T extends Json>(shape: Shape<T>, value: T): OptionalShape<T> {
  return { schema: { ...shape.schema, default: value }, optional: true };
}
