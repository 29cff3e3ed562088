/** JSON pointers (RFC 6901): reading the value an override policy points at. */
import { isFields } from "../../fields.ts";

/** The value at a pointer; undefined when it is absent or the text is no pointer. */
export function readPointer(document: unknown, pointer: string): unknown {
  if (pointer === "") return document;
  if (!pointer.startsWith("/")) return undefined;
  let at = document;
  for (const escaped of pointer.slice(1).split("/")) {
    const key = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = /^(0|[1-9][0-9]*)$/.test(key) ? at[Number(key)] : undefined;
    else if (isFields(at) && Object.hasOwn(at, key)) at = at[key];
    else return undefined;
  }
  return at;
}

/** A key as a part of a pointer. */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
