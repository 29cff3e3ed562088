/**
 * Strategic merge patch: a merge patch that knows which lists are keyed.
 *
 * Objects are merged and null removes. A list with a merge key is merged element by element; a list of scalars that
 * merges is a set; every other list is replaced whole. Directives inside the patch:
 *
 *   $patch: delete | replace          on an object, or on an element of a keyed list
 *   $deleteFromPrimitiveList/<list>   values to take out of a set
 *   $setElementOrder/<list>           the order the elements shall have
 *   $retainKeys                       the only keys the object may keep
 *
 * 1. The document and the patch are never touched; parts that no change reaches are shared.
 * 2. New elements come before existing ones, unless an order is given: that is how Kubernetes does it.
 * 3. Errors have the code and the words of a Kubernetes API server.
 * 4. An order for a list that is empty, or an empty order, changes nothing (Go refuses the one and shuffles on the other).
 */
import { type Json, isJsonObject, type JsonObject } from "../json.ts";
import { badRequest, failure, Refused } from "../status.ts";
import { formatLikeGo, goTypeOf } from "../go-text.ts";
import type { FieldShape, MergeShape } from "./merge-shape.ts";
import {
  checkSetOrder,
  deleteValues,
  inOrder,
  kindOfElements,
  mergeScalars,
  type List,
} from "./strategic-lists.ts";

const PATCH = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_VALUES = "$deleteFromPrimitiveList";
const SET_ORDER = "$setElementOrder";

type MutableObject = Record<string, Json | undefined>;

/** The merged document; throws Refused (400, 422 or 500, as a server answers). */
export function applyStrategicMerge(
  document: JsonObject,
  patch: JsonObject,
  shape: MergeShape,
): JsonObject {
  return mergeObject(document, patch, shape);
}

function mergeObject(
  original: JsonObject,
  patch: JsonObject,
  shape: MergeShape | undefined,
): JsonObject {
  if (Object.hasOwn(patch, PATCH)) return replaceObject(patch);
  const result: MutableObject = { ...original };
  if (Object.hasOwn(patch, RETAIN_KEYS)) dropUnretained(result, patch);
  const ordered = mergeOrderedLists(result, patch, shape);
  for (const key of Object.keys(patch)) {
    if (key === RETAIN_KEYS || key.startsWith(SET_ORDER) || ordered.has(key)) continue;
    const change = patch[key];
    if (change === undefined) continue;
    if (key.startsWith(DELETE_VALUES)) deleteFromSet(result, key, change, shape);
    else mergeField(result, key, change, shape);
  }
  return result;
}

/** What an object becomes whose patch carries a `$patch` directive. */
function replaceObject(patch: JsonObject): JsonObject {
  const directive = patch[PATCH];
  if (directive === "delete") return {};
  if (directive !== "replace") throw badDirective(directive, patch);
  const { [PATCH]: _, ...rest } = patch;
  return rest;
}

function mergeField(
  result: MutableObject,
  key: string,
  change: Json,
  shape: MergeShape | undefined,
): void {
  if (change === null) {
    delete result[key];
    return;
  }
  const current = Object.hasOwn(result, key) ? result[key] : undefined;
  const merged = mergeValue(current, change, key, shape);
  if (merged === undefined) delete result[key];
  else setKey(result, key, merged);
}

/** The new value of a field; undefined when the patch turns out to remove it. */
function mergeValue(
  current: Json | undefined,
  change: Json,
  key: string,
  shape: MergeShape | undefined,
): Json | undefined {
  if (isJsonObject(current) && isJsonObject(change)) {
    const field = fieldShape(shape, key);
    return field.replace === true ? change : mergeObject(current, change, field.shape);
  }
  if (Array.isArray(current) && Array.isArray(change)) {
    const field = fieldShape(shape, key);
    return field.merge === true ? mergeList(current, change, field) : change;
  }
  return newValue(change);
}

function fieldShape(shape: MergeShape | undefined, key: string): FieldShape {
  // The values of a free-form object have no shape: they are merged as plain JSON.
  if (shape === undefined) return { kind: "object" };
  const field = shape.field(key);
  if (field === undefined)
    throw serverError(
      `unable to find api field in struct for the json field ${JSON.stringify(key)}`,
    );
  // The keys of a map are not fields; each of its values has the shape of the map.
  return field.kind === "map" ? { ...field, shape: mapShape(field.shape) } : field;
}

function mapShape(values: MergeShape | undefined): MergeShape {
  const field: FieldShape =
    values === undefined ? { kind: "scalar" } : { kind: "object", shape: values };
  return { field: () => field };
}

/** A value that was not there before: without nulls, and without what only a directive mentions. */
function newValue(value: Json): Json | undefined {
  if (Array.isArray(value)) return newList(value);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, PATCH)) return undefined;
  const result: MutableObject = {};
  let changed = false;
  for (const key of Object.keys(value)) {
    const child = value[key] ?? null;
    const kept = child === null ? undefined : newValue(child);
    if (kept !== child) changed = true;
    if (kept !== undefined) setKey(result, key, kept);
  }
  return changed ? result : value;
}

function newList(list: List): List {
  const kept: Json[] = [];
  for (const item of list) {
    const value = newValue(item);
    if (value !== undefined) kept.push(value);
  }
  return kept.length === list.length && kept.every((item, i) => item === list[i]) ? list : kept;
}

function mergeList(original: List, patch: List, field: FieldShape): List {
  if (original.length === 0 && patch.length === 0) return original;
  if (kindOfElements(original, patch) !== "object") return mergeScalars(original, patch);
  const { mergeKey } = field;
  if (mergeKey === undefined) throw serverError("cannot merge lists without merge key for struct");
  const elements = withoutDirectives(original, patch as readonly JsonObject[], mergeKey);
  if (elements.replaced !== undefined) return elements.replaced;
  const merged = mergeElements(elements.original, elements.patch, mergeKey, field.shape);
  return inOrder(merged, elements.patch, elements.original, mergeKey);
}

/** Carries out the `$patch` directives among the elements of a keyed list. */
function withoutDirectives(
  original: List,
  patch: readonly JsonObject[],
  mergeKey: string,
): {
  readonly original: List;
  readonly patch: readonly JsonObject[];
  readonly replaced: List | undefined;
} {
  const plain: JsonObject[] = [];
  const deleted = new Set<Json | undefined>();
  let replace = false;
  for (const element of patch) {
    const directive = element[PATCH];
    if (!Object.hasOwn(element, PATCH)) plain.push(element);
    else if (directive === "delete") deleted.add(keyValue(element, mergeKey));
    else if (directive === "replace") replace = true;
    else if (directive === "merge")
      throw serverError("merging lists cannot yet be specified in the patch");
    else throw badDirective(directive, element);
  }
  const kept =
    deleted.size === 0
      ? original
      : original.filter((item) => {
          const element = item as JsonObject;
          return !Object.hasOwn(element, mergeKey) || !deleted.has(element[mergeKey]);
        });
  const replaced = replace ? inOrder(plain, [], plain, mergeKey) : undefined;
  return { original: kept, patch: plain, replaced };
}

/** Existing elements with their changes, then the new ones. */
function mergeElements(
  original: List,
  patch: readonly JsonObject[],
  mergeKey: string,
  shape: MergeShape | undefined,
): List {
  const merged = [...original];
  const places = new Map<Json | undefined, number>();
  for (const [i, item] of merged.entries()) {
    const element = item as JsonObject;
    if (Object.hasOwn(element, mergeKey) && !places.has(element[mergeKey]))
      places.set(element[mergeKey], i);
  }
  for (const element of patch) {
    const value = keyValue(element, mergeKey);
    const place = places.get(value);
    if (place === undefined) {
      places.set(value, merged.length);
      merged.push(element);
    } else {
      merged[place] = mergeObject(merged[place] as JsonObject, element, shape);
    }
  }
  return merged;
}

function keyValue(element: JsonObject, mergeKey: string): Json | undefined {
  if (!Object.hasOwn(element, mergeKey))
    throw serverError(
      `map: ${formatLikeGo(element)} does not contain declared merge key: ${mergeKey}`,
    );
  return element[mergeKey];
}

/** Applies `$deleteFromPrimitiveList/<list>`. Null instead of a list removes the whole field. */
function deleteFromSet(
  result: MutableObject,
  directive: string,
  values: Json,
  shape: MergeShape | undefined,
): void {
  const key = fieldOf(directive, DELETE_VALUES, "invalid patch format of primitive list");
  if (values === null) {
    delete result[key];
    return;
  }
  const current = Object.hasOwn(result, key) ? result[key] : undefined;
  if (!Array.isArray(current) || !Array.isArray(values)) return;
  fieldShape(shape, key);
  setKey(result, key, deleteValues(current, values));
}

/** Applies every `$setElementOrder/<list>`; answers the lists that are thereby done. */
function mergeOrderedLists(
  result: MutableObject,
  patch: JsonObject,
  shape: MergeShape | undefined,
): ReadonlySet<string> {
  const done = new Set<string>();
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(SET_ORDER)) continue;
    const order = asList(patch[directive]);
    const key = fieldOf(directive, SET_ORDER, "invalid patch format of setElementOrder list");
    const current = Object.hasOwn(result, key) ? asList(result[key]) : undefined;
    const changes = Object.hasOwn(patch, key) ? asList(patch[key]) : undefined;
    const field = fieldShape(shape, key);
    checkSetOrder(changes ?? [], order, field.mergeKey);
    const merged = mergeOrderedList(current, changes, field);
    if (merged === undefined) continue;
    setKey(result, key, inOrder(merged, order, current ?? [], field.mergeKey));
    done.add(key);
  }
  return done;
}

function mergeOrderedList(
  current: List | undefined,
  changes: List | undefined,
  field: FieldShape,
): List | undefined {
  if (changes === undefined) return current;
  kindOfElements(current ?? [], changes);
  if (current === undefined) return newList(changes);
  return field.merge === true ? mergeList(current, changes, field) : changes;
}

/** Applies `$retainKeys`: what the list does not name goes, and the patch may set nothing else. */
function dropUnretained(result: MutableObject, patch: JsonObject): void {
  const retained = patch[RETAIN_KEYS];
  if (!Array.isArray(retained)) throw badRequest("invalid patch format of retainKeys");
  const keep = new Set<Json>(retained as List);
  for (const key of Object.keys(patch)) {
    const isDirective =
      key === RETAIN_KEYS || key.startsWith(DELETE_VALUES) || key.startsWith(SET_ORDER);
    if (isDirective || patch[key] === null || keep.has(key)) continue;
    throw badRequest("invalid patch format of retainKeys");
  }
  for (const key of Object.keys(result)) {
    if (!keep.has(key)) delete result[key];
  }
}

/** The field a directive such as `$setElementOrder/containers` is about. */
function fieldOf(directive: string, prefix: string, problem: string): string {
  if (directive[prefix.length] !== "/") throw badRequest(problem);
  return directive.slice(prefix.length + 1);
}

function asList(value: Json | undefined): List {
  if (Array.isArray(value)) return value as List;
  throw serverError(`expected a []interface {}, but received a ${goTypeOf(value)}`);
}

function badDirective(directive: Json | undefined, patch: JsonObject): Refused {
  return serverError(
    `unknown patch type: ${formatLikeGo(directive)} in map: ${formatLikeGo(patch)}`,
  );
}

/** Servers answer the rarer mistakes with a bare 500. */
function serverError(message: string): Refused {
  return new Refused(failure(500, undefined, message));
}

function setKey(object: MutableObject, key: string, value: Json): void {
  if (key === "__proto__") throw badRequest('key "__proto__" is not allowed');
  object[key] = value;
}
