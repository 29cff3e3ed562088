/**
 * How much an object may report of itself. A status is kept in the Work, in the binding and often in the template, so what
 * a single member reports must not fill them, and no code here walks it without knowing how deep it goes.
 *
 * Sizes are estimated, never too small: about what the status takes as JSON.
 */
import { isFields } from "../../fields.ts";

/** A sixth of what the API takes as one object. */
const MAX_SIZE = 262_144;
const MAX_DEPTH = 64;
/** What a number, a literal, or the marks around anything else take at most. */
const MARKS = 8;

/** Why a status is not kept; undefined when it is. */
export function reportProblem(status: unknown): string | undefined {
  let size = 0;
  let level: readonly unknown[] = [status];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `The status is nested more than ${MAX_DEPTH} levels deep.`;
    const next: unknown[] = [];
    for (const value of level) {
      size += sizeOf(value);
      // seed: too-large
      if (size > MAX_SIZE) return `The status is larger than ${MAX_SIZE / 1024} KiB.`;
      if (Array.isArray(value)) for (const item of value) next.push(item);
      else if (isFields(value)) for (const item of Object.values(value)) next.push(item);
    }
    level = next;
  }
  return undefined;
}

/** Of the value without what it holds, but with the names under which it does. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + MARKS;
  if (!isFields(value)) return MARKS;
  return Object.keys(value).reduce((sum, key) => sum + key.length + MARKS, MARKS);
}
