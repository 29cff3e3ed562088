/**
 * Bringing a body into the shape that is stored: fields the schema does not know are dropped and reported, and so are
 * nulls where null is not allowed and no default will replace it.
 *
 * 1. A place with x-kubernetes-preserve-unknown-fields keeps what it does not know; what it does know is pruned as
 *    everywhere else.
 * 2. The value of a field whose schema says nothing about values (`additionalProperties: true`) loses all its own fields:
 *    surprising, and what a Kubernetes API server does.
 * 3. At the root and in embedded resources apiVersion, kind and metadata stay, whatever the schema says.
 * 4. What does not change is shared. Pruning is idempotent.
 */
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { MAX_TOLD_FIELDS, shownKey } from "../shown-path.ts";
import type { SchemaNode } from "./schema-node.ts";
import { setField } from "./set-field.ts";

export interface Pruned {
  readonly value: Json;
  /** Paths of the first dropped fields such as `spec.items[0].x`, sorted. Dropped nulls are not among them. */
  readonly unknownFields: readonly string[];
}

/** Prunes a whole object (`root`: its type and metadata fields are kept) or a part of one. */
export function prune(node: SchemaNode, value: Json, root: boolean): Pruned {
  const walk: Walk = { path: [], unknown: undefined };
  const pruned = isJsonObject(value)
    ? pruneObject(walk, node, value, { meta: root || node.embedded, unknown: node.preserve })
    : pruneValue(walk, node, value);
  return { value: pruned, unknownFields: walk.unknown?.sort() ?? NONE };
}

const NONE: readonly string[] = [];

interface Walk {
  readonly path: (string | number)[];
  unknown: string[] | undefined;
}

/** The node of a place whose schema says nothing: undefined. */
type Place = SchemaNode | undefined;

function pruneValue(walk: Walk, node: Place, value: Json, preserve = false): Json {
  if (typeof value !== "object" || value === null) return value;
  const keepUnknown = preserve || node?.preserve === true;
  if (Array.isArray(value)) return pruneList(walk, node, value, keepUnknown);
  return pruneObject(walk, node, value as JsonObject, {
    meta: node?.embedded === true,
    unknown: keepUnknown,
  });
}

interface Keep {
  readonly meta: boolean;
  readonly unknown: boolean;
}

function pruneObject(walk: Walk, node: Place, object: JsonObject, keep: Keep): JsonObject {
  let pruned: Record<string, Json | undefined> | undefined;
  for (const key in object) {
    const current = object[key];
    if (keep.meta && isMetaField(key)) continue;
    const property = node?.properties.get(key);
    if (property === undefined && node?.additional === undefined) {
      if (keep.unknown) continue;
      if (walk.path.length > 0 || !isMetaField(key)) report(walk, key);
      pruned ??= { ...object };
      delete pruned[key];
      continue;
    }
    const inner = property ?? (typeof node?.additional === "object" ? node.additional : undefined);
    if (current === null) {
      if (inner === undefined || inner.nullable || inner.default !== undefined) continue;
      pruned ??= { ...object };
      delete pruned[key];
      continue;
    }
    if (typeof current !== "object") continue;
    walk.path.push(key);
    const next = pruneValue(walk, inner, current);
    walk.path.pop();
    if (next === current) continue;
    pruned ??= { ...object };
    setField(pruned, key, next);
  }
  return pruned ?? object;
}

function pruneList(
  walk: Walk,
  node: Place,
  list: readonly Json[],
  keepUnknown: boolean,
): readonly Json[] {
  const items = node?.items;
  if (items === undefined && keepUnknown) return list;
  let pruned: Json[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const current = list[i] as Json;
    if (typeof current !== "object" || current === null) continue;
    walk.path.push(i);
    // A list that keeps what it does not know says so for its elements, too.
    const next = pruneValue(walk, items, current, keepUnknown);
    walk.path.pop();
    if (next === current) continue;
    pruned ??= [...list];
    pruned[i] = next;
  }
  return pruned ?? list;
}

function isMetaField(key: string): boolean {
  return key === "metadata" || key === "kind" || key === "apiVersion";
}

function report(walk: Walk, key: string): void {
  walk.unknown ??= [];
  if (walk.unknown.length >= MAX_TOLD_FIELDS) return;
  walk.path.push(key);
  walk.unknown.push(formatPath(walk.path));
  walk.path.pop();
}

/** `spec.items[0].name`. */
export function formatPath(path: readonly (string | number)[]): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`;
    else text += (text === "" ? "" : ".") + shownKey(segment);
  }
  return text;
}
