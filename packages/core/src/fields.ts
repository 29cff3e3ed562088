/**
 * Reading and changing objects of which nothing is certain.
 *
 * Templates, member objects and statuses may come from anywhere, so decisions read them through these functions: a
 * field of the wrong type reads as an absent one, and nothing throws.
 *
 * 1. Only own fields are read and written: `__proto__` and `constructor` in a document are ordinary keys.
 * 2. A change builds new objects along its path and shares everything else.
 */
import { anew } from "@lifeboat/base";

export interface Fields {
  readonly [field: string]: unknown;
}

export const NO_FIELDS: Fields = Object.freeze({});
const NOTHING: readonly unknown[] = Object.freeze([]);

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path of field names; undefined when it is absent. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return walk(value, path);
}

/** The others call this with the list they got: passing it on one by one would copy it each time. */
function walk(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (!isFields(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

/** The object at a path, or an empty one. */
export function fieldsAt(value: unknown, ...path: readonly string[]): Fields {
  return fieldsOf(walk(value, path));
}

function fieldsOf(found: unknown): Fields {
  return isFields(found) ? found : NO_FIELDS;
}

/** The list at a path, or an empty one. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = walk(value, path);
  return Array.isArray(found) ? found : NOTHING;
}

/** The text at a path, or "". */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = walk(value, path);
  return typeof found === "string" ? found : "";
}

/** The whole number at a path; undefined when there is none. */
export function integerAt(value: unknown, ...path: readonly string[]): number | undefined {
  return integerOf(walk(value, path));
}

function integerOf(found: unknown): number | undefined {
  return Number.isSafeInteger(found) ? (found as number) : undefined;
}

/** The number at a path as a count: absent or negative is 0. */
export function countAt(value: unknown, ...path: readonly string[]): number {
  return Math.max(0, integerOf(walk(value, path)) ?? 0);
}

/** Labels or annotations at a path: the entries that are texts. */
export function textsAt(value: unknown, ...path: readonly string[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, text] of Object.entries(fieldsOf(walk(value, path))))
    if (typeof text === "string") define(texts, key, text);
  return texts;
}

/** The object with the value at a path set; undefined takes the field away. Missing or wrong parents become objects. */
export function withValue(object: Fields, path: readonly string[], value: unknown): Fields {
  const [name, ...rest] = path;
  if (name === undefined) return object;
  if (rest.length === 0)
    return value === undefined ? without(object, name) : { ...object, [name]: value };
  const inner = valueAt(object, name);
  if (value === undefined && !isFields(inner)) return object;
  return { ...object, [name]: withValue(isFields(inner) ? inner : NO_FIELDS, rest, value) };
}

/** The object without some of its fields; the same object when it has none of them. */
export function without(object: Fields, ...names: readonly string[]): Fields {
  if (!names.some((name) => Object.hasOwn(object, name))) return object;
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object))
    if (!names.includes(key)) define(kept, key, value);
  return kept;
}

/** Two objects in one; the second wins. */
export function merged(a: Fields, b: Fields): Fields {
  return { ...anew, ...a, ...b };
}

/** Orders texts by their code units: the one order that is the same everywhere. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Assignment would call the setter of `__proto__`. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else object[key] = value;
}
