/**
 * Filling in a schema's defaults.
 *
 * 1. A field that is absent, or null where null is not allowed, gets its default. Defaults have their own defaults filled
 *    in when they are compiled, so filling is idempotent.
 * 2. What does not change is shared: the answer is the value itself when nothing was to fill in.
 */
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { SchemaNode } from "./schema-node.ts";
import { setField } from "./set-field.ts";

export function fillDefaults(node: SchemaNode, value: Json): Json {
  if (!node.anyDefaults) return value;
  if (Array.isArray(value)) return fillList(node, value);
  return isJsonObject(value) ? fillObject(node, value) : value;
}

function fillObject(node: SchemaNode, object: JsonObject): JsonObject {
  let filled: Record<string, Json | undefined> | undefined;
  for (const [name, value, nullable] of node.defaults) {
    const present = Object.hasOwn(object, name) ? object[name] : undefined;
    if (present !== undefined && (present !== null || nullable)) continue;
    filled ??= { ...object };
    setField(filled, name, value);
  }
  for (const key in object) {
    const current = object[key];
    if (typeof current !== "object") continue;
    const inner =
      node.properties.get(key) ??
      (typeof node.additional === "object" ? node.additional : undefined);
    if (inner === undefined) continue;
    const next = current === null ? fillNull(inner) : fillDefaults(inner, current);
    if (next === current) continue;
    filled ??= { ...object };
    setField(filled, key, next);
  }
  return filled ?? object;
}

function fillNull(node: SchemaNode): Json {
  return node.nullable || node.default === undefined ? null : node.default;
}

function fillList(node: SchemaNode, list: readonly Json[]): readonly Json[] {
  const items = node.items;
  if (items === undefined) return list;
  let filled: Json[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const current = list[i] as Json;
    const next = current === null ? fillNull(items) : fillDefaults(items, current);
    if (next === current) continue;
    filled ??= [...list];
    filled[i] = next;
  }
  return filled ?? list;
}
