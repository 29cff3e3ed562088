/**
 * Changes to JSON that nobody has validated yet. Defaults beyond the schema are filled in before an object is checked,
 * so each function here leaves alone what does not have the expected form: validation will say what is wrong with it.
 *
 * An object that needs no change is answered as it came, so that "nothing to do" costs no copy.
 */
import { isJsonObject, type Json, type JsonObject } from "../../json.ts";

/** Changes one field of an object that is itself an object. */
export function within(
  parent: JsonObject,
  field: string,
  change: (child: JsonObject) => JsonObject,
): JsonObject {
  const child = parent[field];
  if (!isJsonObject(child)) return parent;
  const changed = change(child);
  return changed === child ? parent : { ...parent, [field]: changed };
}

/** Changes each object in a list. */
export function eachIn(
  parent: JsonObject,
  field: string,
  change: (item: JsonObject, index: number) => JsonObject,
): JsonObject {
  const items = parent[field];
  if (!isList(items)) return parent;
  const changed = items.map((item, index) => (isJsonObject(item) ? change(item, index) : item));
  return changed.every((item, index) => item === items[index])
    ? parent
    : { ...parent, [field]: changed };
}

/** Sets a field unless it has this value. */
export function setTo(parent: JsonObject, field: string, value: Json): JsonObject {
  return parent[field] === value ? parent : { ...parent, [field]: value };
}

/** Sets a field that is absent, null or "". */
export function setIfEmpty(parent: JsonObject, field: string, value: Json): JsonObject {
  return isEmpty(parent[field]) ? { ...parent, [field]: value } : parent;
}

export function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || value === "";
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The objects of a list; none when it is no list. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isJsonObject) : [];
}
