/** How many values a document holds: the elements of its lists and the fields of its objects, at every level. */
import type { Json } from "../json.ts";

/** Whether a value holds more than `limit` values. Takes no longer than counting up to there. */
export function exceedsValues(value: Json | undefined, limit: number): boolean {
  return left(value, limit) < 0;
}

/** What is left of `limit`; below zero when it was exceeded. */
function left(value: Json | undefined, limit: number): number {
  if (typeof value !== "object" || value === null || limit < 0) return limit;
  let rest = limit;
  if (Array.isArray(value)) {
    rest -= value.length;
    for (let i = 0; i < value.length && rest >= 0; i++) rest = left(value[i] as Json, rest);
    return rest;
  }
  const object = value as { readonly [field: string]: Json };
  for (const field in object) {
    rest = left(object[field], rest - 1);
    if (rest < 0) break;
  }
  return rest;
}
