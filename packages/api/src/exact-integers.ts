/**
 * Integers that a double cannot hold exactly. JSON.parse rounds them without a word, but what it makes of an integer beyond
 * ±(2^53 - 1) lies beyond that too: so a value that was rounded can still be told by its size.
 */
import { isJsonObject } from "./json.ts";

/** Whether an integer may have been another one in the text that it was read from. */
export function isInexactInteger(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** The path of the first such integer, such as `spec.ids[0]`; undefined when there is none. */
export function inexactIntegerIn(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const path = inexactIntegerIn(item);
      if (path !== undefined) return joined(`[${i}]`, path);
    }
    return undefined;
  }
  if (isJsonObject(value)) {
    for (const key in value) {
      const path = inexactIntegerIn(value[key]);
      if (path !== undefined) return joined(key, path);
    }
    return undefined;
  }
  return isInexactInteger(value) ? "" : undefined;
}

function joined(outer: string, inner: string): string {
  return inner === "" || inner.startsWith("[") ? `${outer}${inner}` : `${outer}.${inner}`;
}
