/**
 * Lists that are sets or maps (`x-kubernetes-list-type`) must not hold an element, or a key, twice. The second appearance
 * is reported, later ones are not.
 *
 * The good case must be quick: no path and no key is written as text before something is wrong.
 */
import { formatJsonLikeGo, showJson } from "../go-text.ts";
import type { FieldError } from "../field-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { SchemaNode } from "./schema-node.ts";

export function validateListTypes(node: SchemaNode, value: Json): readonly FieldError[] {
  if (!node.anyListTypes) return NONE;
  const walk: Walk = { path: [], errors: undefined };
  visit(walk, node, value);
  return walk.errors ?? NONE;
}

const NONE: readonly FieldError[] = [];

/** A field, an index, or (as a list of one) a key of a map. */
type Segment = string | number | readonly [key: string];

interface Walk {
  readonly path: Segment[];
  errors: FieldError[] | undefined;
}

function visit(walk: Walk, node: SchemaNode, value: Json | undefined): void {
  if (!node.anyListTypes || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) visitList(walk, node, value);
  else visitObject(walk, node, value as JsonObject);
}

function visitObject(walk: Walk, node: SchemaNode, object: JsonObject): void {
  for (const key in object) {
    const property = node.properties.get(key);
    if (property !== undefined) {
      if (!property.anyListTypes) continue;
      walk.path.push(key);
      visit(walk, property, object[key]);
      walk.path.pop();
    } else if (typeof node.additional === "object" && node.additional.anyListTypes) {
      walk.path.push([key]);
      visit(walk, node.additional, object[key]);
      walk.path.pop();
    }
  }
}

function visitList(walk: Walk, node: SchemaNode, list: readonly Json[]): void {
  if (node.listType === "set") checkSet(walk, list);
  if (node.listType === "map") checkMap(walk, node, list);
  const { items } = node;
  if (items?.anyListTypes !== true) return;
  for (let i = 0; i < list.length; i++) {
    walk.path.push(i);
    visit(walk, items, list[i]);
    walk.path.pop();
  }
}

function checkSet(walk: Walk, list: readonly Json[]): void {
  reportRepeated(
    walk,
    list.length,
    (i) => identityOf(list[i] ?? null),
    (i) => list[i] ?? null,
  );
}

function checkMap(walk: Walk, node: SchemaNode, list: readonly Json[]): void {
  for (let i = 0; i < list.length; i++) {
    const element = list[i] ?? null;
    if (element === null || isJsonObject(element)) continue;
    const detail = "must be an object for an array of list-type map";
    report(walk, i, "FieldValueInvalid", `Invalid value: ${showJson(element)}: ${detail}`);
    return;
  }
  const elements = list as readonly (JsonObject | null)[];
  const { mapKeys } = node;
  const single = mapKeys.length === 1 ? mapKeys[0] : undefined;
  reportRepeated(
    walk,
    list.length,
    single === undefined
      ? (i) => identityOf(keyOf(mapKeys, elements[i] ?? null))
      : (i) => identityOf(fieldOf(elements[i] ?? null, single)),
    (i) => keyOf(mapKeys, elements[i] ?? null),
  );
}

/** Reports every position whose identity stands before it exactly once. */
function reportRepeated(
  walk: Walk,
  length: number,
  identity: (i: number) => Json | undefined,
  shown: (i: number) => Json,
): void {
  if (length < 2) return;
  const times = new Map<Json | undefined, number>();
  for (let i = 0; i < length; i++) {
    const id = identity(i);
    const seen = times.get(id) ?? 0;
    times.set(id, seen + 1);
    if (seen === 1)
      report(walk, i, "FieldValueDuplicate", `Duplicate value: ${showJson(shown(i))}`);
  }
}

/** Scalars stand for themselves; lists and objects for their text, marked so that no string can look like it. */
export function identityOf(value: Json | undefined): Json | undefined {
  return typeof value === "object" && value !== null ? `\0${formatJsonLikeGo(value)}` : value;
}

function fieldOf(element: JsonObject | null, name: string): Json | undefined {
  return element !== null && Object.hasOwn(element, name) ? element[name] : undefined;
}

function keyOf(names: readonly string[], element: JsonObject | null): JsonObject {
  const key: Record<string, Json> = {};
  for (const name of names) {
    const part = fieldOf(element, name);
    if (part !== undefined) key[name] = part;
  }
  return key;
}

function report(walk: Walk, index: number, reason: FieldError["reason"], message: string): void {
  walk.errors ??= [];
  walk.errors.push({ reason, field: `${textOf(walk.path)}[${index}]`, message });
}

function textOf(path: readonly Segment[]): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "string") text += text === "" ? segment : `.${segment}`;
    else text += `[${typeof segment === "number" ? segment : segment[0]}]`;
  }
  return text;
}
