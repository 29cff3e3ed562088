/**
 * Reading of objects whose kind is known but whose TypeScript type is not, and the few field errors that the shared
 * makers do not cover. Readers never throw: what is absent reads as empty.
 */
import { equalJson } from "../../equal-json.ts";
import {
  type FieldError,
  invalid,
  MAX_ERRORS,
  notSupported,
  required,
  showValue,
} from "../../field-error.ts";
import type { Json, JsonObject } from "../../json.ts";

const NOTHING: JsonObject = Object.freeze({});
const NO_ITEMS: readonly never[] = Object.freeze([]);

/** A string field; "" when absent. */
export function text(of: JsonObject | undefined, name: string): string {
  const value = of?.[name];
  return typeof value === "string" ? value : "";
}

/** A number field; 0 when absent. */
export function count(of: JsonObject | undefined, name: string): number {
  const value = of?.[name];
  return typeof value === "number" ? value : 0;
}

/** An object field; undefined when absent. */
export function part(of: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = of?.[name];
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** An object field; an empty object when absent. */
export function partOf(of: JsonObject | undefined, name: string): JsonObject {
  return part(of, name) ?? NOTHING;
}

/** A list of objects; empty when absent. */
export function items(of: JsonObject | undefined, name: string): readonly JsonObject[] {
  const value = of?.[name];
  return Array.isArray(value) ? (value as readonly JsonObject[]) : NO_ITEMS;
}

/** A list of strings; empty when absent. */
export function texts(of: JsonObject | undefined, name: string): readonly string[] {
  const value = of?.[name];
  return Array.isArray(value) ? (value as readonly string[]) : NO_ITEMS;
}

/** A map of strings; empty when absent. */
export function textMap(
  of: JsonObject | undefined,
  name: string,
): Readonly<Record<string, string>> {
  return partOf(of, name) as Readonly<Record<string, string>>;
}

/** Whether a field has no value. Where Go writes a missing pointer out, normalized objects hold null. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

export function isEmpty(of: JsonObject | undefined): boolean {
  for (const _ in of) return false;
  return true;
}

/** What is wrong so far. Checks append to it, in the order a client should read it. */
export type Problems = FieldError[];

/** One `Invalid value` per message, as the checks of names answer several. */
export function pushInvalid(
  problems: Problems,
  field: string,
  value: unknown,
  messages: readonly string[],
): void {
  // What is not told needs no sentence; one more than is told means that there are more.
  if (problems.length > MAX_ERRORS) return;
  for (const message of messages) problems.push(invalid(field, value, message));
}

export function notFoundField(field: string, value: unknown): FieldError {
  return { reason: "FieldValueNotFound", field, message: `Not found: ${showValue(value)}` };
}

/** `Invalid value` without the value, where it would say nothing. */
export function invalidWithoutValue(field: string, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${detail}` };
}

/** `Invalid value` without saying why. */
export function invalidAlone(field: string, value: unknown): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${showValue(value)}` };
}

export function pushNonNegative(problems: Problems, field: string, value: unknown): void {
  if (typeof value === "number" && value < 0) {
    problems.push(invalid(field, value, "must be greater than or equal to 0"));
  }
}

/** `equalJson`, where an absent value and an empty list or map are the same, as they are to the server. */
export function sameOrEmpty(a: unknown, b: unknown): boolean {
  return equalJson(a, b) || (isHollow(a) && isHollow(b));
}

function isHollow(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/**
 * A copy to add fields to. It is made field by field, because engines are twenty times slower at adding a field to a
 * copy made by spreading.
 */
export function copyOf(of: JsonObject): Record<string, Json | undefined> {
  const copy: Record<string, Json | undefined> = {};
  for (const name in of) copy[name] = of[name];
  return copy;
}

/** The object with these values set. */
export function withValues(of: JsonObject, values: JsonObject): JsonObject {
  const copy = copyOf(of);
  for (const name in values) copy[name] = values[name];
  return copy;
}

/** The object with this value set. */
export function withValue(of: JsonObject, name: string, value: Json | undefined): JsonObject {
  const copy = copyOf(of);
  copy[name] = value;
  return copy;
}

/** Maps a list, keeping the list itself when no item changed. */
export function mapShared<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  let changed: T[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index] as T;
    const next = change(item);
    if (changed === undefined && next === item) continue;
    changed ??= list.slice(0, index);
    changed.push(next);
  }
  return changed ?? list;
}

/** One of the values, or `Unsupported value`. */
export function pushUnsupported(
  problems: Problems,
  field: string,
  value: unknown,
  supported: readonly string[],
): void {
  if (typeof value !== "string" || !supported.includes(value)) {
    problems.push(notSupported(field, value ?? "", supported));
  }
}

/** Present, and as the check wants it. */
export function pushRequiredName(
  problems: Problems,
  field: string,
  value: string,
  check: (value: string) => readonly string[],
): void {
  if (value === "") problems.push(required(field));
  else pushInvalid(problems, field, value, check(value));
}

export function pushRequired(problems: Problems, field: string, value: string): void {
  if (value === "") problems.push(required(field));
}

export function pushImmutable(
  problems: Problems,
  field: string,
  value: unknown,
  old: unknown,
): void {
  if (!sameOrEmpty(value, old)) problems.push(invalid(field, value ?? null, "field is immutable"));
}
