/**
 * Lists that are sets or maps (`x-kubernetes-list-type`) must not hold an element, or a key, twice. The second appearance
 * is reported, later ones are not.
 */
import { duplicate, type FieldError } from "../field-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { showJson, sortedJson } from "./go-text.ts";
import type { SchemaNode } from "./schema-node.ts";

export function validateListTypes(node: SchemaNode, value: Json): readonly FieldError[] {
  if (!node.anyListTypes) return [];
  const errors: FieldError[] = [];
  walk(node, value, "", errors);
  return errors;
}

function walk(node: SchemaNode, value: Json | undefined, path: string, errors: FieldError[]): void {
  if (!node.anyListTypes || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) walkList(node, value, path, errors);
  else walkObject(node, value as JsonObject, path, errors);
}

function walkObject(
  node: SchemaNode,
  object: JsonObject,
  path: string,
  errors: FieldError[],
): void {
  for (const key in object) {
    const property = node.properties.get(key);
    if (property !== undefined)
      walk(property, object[key], path === "" ? key : `${path}.${key}`, errors);
    else if (typeof node.additional === "object")
      walk(node.additional, object[key], `${path}[${key}]`, errors);
  }
}

function walkList(
  node: SchemaNode,
  list: readonly Json[],
  path: string,
  errors: FieldError[],
): void {
  if (node.listType === "set") checkSet(list, list, path, errors);
  if (node.listType === "map") checkMap(node, list, path, errors);
  const { items } = node;
  if (items?.anyListTypes !== true) return;
  for (let i = 0; i < list.length; i++) walk(items, list[i], `${path}[${i}]`, errors);
}

/** Reports the second appearance of each value of `keys`, showing what stands there in `shown`. */
function checkSet(
  keys: readonly Json[],
  shown: readonly Json[],
  path: string,
  errors: FieldError[],
): void {
  if (keys.length < 2) return;
  const times = new Map<Json, number>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as Json;
    // Lists and objects are compared by their text; the mark keeps it apart from a string that looks like it.
    const id = typeof key === "object" && key !== null ? `\0${sortedJson(key)}` : key;
    const seen = times.get(id) ?? 0;
    times.set(id, seen + 1);
    if (seen !== 1) continue;
    const field = `${path}[${i}]`;
    errors.push({ ...duplicate(field, ""), message: `Duplicate value: ${showJson(shown[i])}` });
  }
}

function checkMap(
  node: SchemaNode,
  list: readonly Json[],
  path: string,
  errors: FieldError[],
): void {
  const stray = list.findIndex((element) => element !== null && !isJsonObject(element));
  if (stray >= 0) {
    errors.push({
      reason: "FieldValueInvalid",
      field: `${path}[${stray}]`,
      message: `Invalid value: ${showJson(list[stray])}: must be an object for an array of list-type map`,
    });
    return;
  }
  const keys = list.map((element) => keyOf(node, element as JsonObject | null));
  checkSet(keys, keys, path, errors);
}

function keyOf(node: SchemaNode, element: JsonObject | null): JsonObject {
  if (element === null) return {};
  const parts = node.mapKeys
    .filter((name) => Object.hasOwn(element, name) && element[name] !== undefined)
    .map((name) => [name, element[name]] as const);
  return Object.fromEntries(parts);
}
