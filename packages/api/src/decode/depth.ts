/** How deep JSON may be nested, everywhere: objects and lists count, their scalars do not. */
import type { Json } from "../json.ts";

/** Go stops at 10,000; nothing real comes near either, and walks over a document may recurse this far safely. */
export const MAX_DEPTH = 256;

/** Whether a value has more than `limit` objects and lists inside each other. */
export function exceedsDepth(value: Json | undefined, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit <= 0) return true;
  for (const child of Object.values(value) as Json[]) {
    if (typeof child === "object" && exceedsDepth(child, limit - 1)) return true;
  }
  return false;
}
