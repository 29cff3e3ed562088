/**
 * The lists of strategic merge patch: sets of scalars, and the order of merged lists.
 *
 * The order rule: elements the patch names stand in the order of the patch; the others keep the order they had; where
 * the two meet, an old element goes first only if it already stood before the named one.
 */
import { type Json, isJsonObject } from "../json.ts";
import { failure, Refused } from "../status.ts";
import { formatLikeGo, goTypeOf } from "../go-text.ts";

export type List = readonly Json[];

/** What all elements of the lists are; refuses mixtures, lists of lists and lists without any element. */
export function kindOfElements(...lists: readonly List[]): "object" | "scalar" {
  let first: string | undefined;
  for (const list of lists) {
    for (const element of list) {
      const kind = goTypeOf(element);
      if (first === undefined && Array.isArray(element))
        throw unprocessable("lists of lists are not supported");
      if (element === null || (first !== undefined && first !== kind))
        throw serverError(
          `list element types are not identical: [${lists.map((item) => formatLikeGo(item)).join(" ")}]`,
        );
      first = kind;
    }
  }
  if (first === undefined) throw serverError("no elements in any of the given slices");
  return first === "map[string]interface {}" ? "object" : "scalar";
}

/** The union of two sets, in the order rule above. */
export function mergeScalars(original: List, patch: List): List {
  return inOrder([...new Set([...original, ...patch])], patch, original, undefined);
}

/** A set without some of its values. */
export function deleteValues(current: List, values: List): List {
  if (current.length === 0 && values.length === 0) return current;
  if (kindOfElements(current, values) === "object")
    throw serverError("cannot merge lists without merge key for struct");
  const gone = new Set(values);
  return current.filter((value) => !gone.has(value));
}

/** Brings a merged list into order: `patchOrder` for what it names, `serverOrder` for the rest. */
export function inOrder(
  merged: List,
  patchOrder: List,
  serverOrder: List,
  mergeKey: string | undefined,
): List {
  const patchPlaces = placesIn(patchOrder, mergeKey);
  const serverPlaces = placesIn(serverOrder, mergeKey);
  const named: Placed[] = [];
  const others: Placed[] = [];
  for (const item of merged) {
    const key = identity(item, mergeKey);
    const place = patchPlaces.get(key);
    const serverPlace = serverPlaces.get(key) ?? -1;
    if (place === undefined) others.push({ item, place: serverPlace, serverPlace });
    else named.push({ item, place, serverPlace });
  }
  return interleave(others.sort(byPlace), named.sort(byPlace));
}

/** Refuses a patch whose elements stand in another order than the order it asks for. */
export function checkSetOrder(patch: List, order: List, mergeKey: string | undefined): void {
  if (patch.length === 0 || order.length === 0) return;
  const elements = patch.filter((element) => !hasDirective(element, mergeKey));
  let next = 0;
  for (const wanted of order) {
    if (next === elements.length) return;
    if (identity(elements[next] as Json, mergeKey) === identity(wanted, mergeKey)) next += 1;
  }
  if (next < elements.length)
    throw serverError(
      `The order in patch list:\n${formatLikeGo(patch)}\n doesn't match $setElementOrder list:\n${formatLikeGo(order)}\n`,
    );
}

interface Placed {
  readonly item: Json;
  /** Where it stands among its own kind. */
  readonly place: number;
  /** Where it stood in the document; -1 when it is new. */
  readonly serverPlace: number;
}

function byPlace(a: Placed, b: Placed): number {
  return a.place - b.place;
}

function interleave(others: readonly Placed[], named: readonly Placed[]): List {
  const result: Json[] = [];
  let at = 0;
  for (const { item, serverPlace } of named) {
    for (let other = others[at]; other !== undefined; other = others[++at]) {
      const goesFirst =
        other.serverPlace >= 0 && serverPlace >= 0 && other.serverPlace < serverPlace;
      if (!goesFirst) break;
      result.push(other.item);
    }
    result.push(item);
  }
  for (; at < others.length; at++) result.push((others[at] as Placed).item);
  return result;
}

function placesIn(list: List, mergeKey: string | undefined): Map<Json | undefined, number> {
  const places = new Map<Json | undefined, number>();
  for (const [i, item] of list.entries()) {
    const key = identity(item, mergeKey);
    if (!places.has(key)) places.set(key, i);
  }
  return places;
}

/** What makes an element the same as another: its merge key, or itself. */
function identity(item: Json, mergeKey: string | undefined): Json | undefined {
  if (mergeKey === undefined) return item;
  if (!isJsonObject(item))
    throw serverError(`expected a map[string]interface {}, but received a ${goTypeOf(item)}`);
  if (!Object.hasOwn(item, mergeKey))
    throw serverError(
      `map: ${formatLikeGo(item)} does not contain declared merge key: ${mergeKey}`,
    );
  return item[mergeKey];
}

function hasDirective(element: Json, mergeKey: string | undefined): boolean {
  return mergeKey !== undefined && isJsonObject(element) && Object.hasOwn(element, "$patch");
}

function serverError(message: string): Refused {
  return new Refused(failure(500, undefined, message));
}

function unprocessable(message: string): Refused {
  return new Refused(failure(422, "Invalid", message, {}));
}
