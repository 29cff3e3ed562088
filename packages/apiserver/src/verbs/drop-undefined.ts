/**
 * Fields that are undefined do not exist in JSON, but they do in objects that code builds. They go before the server
 * sees them. A value without such fields is answered as it is.
 */
import type { Json, JsonObject } from "@lifeboat/api";

/** The same for an object that was made from `known`, which has no such fields: what it shares with it is not walked. */
export function dropUndefinedBut(object: JsonObject, known: JsonObject | undefined): JsonObject {
  return dropFromObject(object, known) as JsonObject;
}

export function dropUndefined(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return dropFromList(value as readonly Json[]);
  return dropFromObject(value as Readonly<Record<string, Json | undefined>>);
}

function dropFromList(list: readonly Json[]): Json {
  let changed: Json[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i] as Json;
    const clean = dropUndefined(item);
    if (clean === item) continue;
    changed ??= [...list];
    changed[i] = clean;
  }
  return changed ?? list;
}

function dropFromObject(
  object: Readonly<Record<string, Json | undefined>>,
  known?: JsonObject,
): Json {
  let changed: Record<string, Json | undefined> | undefined;
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (known !== undefined && value !== undefined && value === known[key]) continue;
    const clean = value === undefined ? undefined : dropUndefined(value);
    if (value !== undefined && clean === value) continue;
    changed ??= { ...object };
    if (clean === undefined) delete changed[key];
    else changed[key] = clean;
  }
  return changed ?? object;
}
