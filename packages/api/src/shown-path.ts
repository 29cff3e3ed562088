/**
 * Paths such as `spec.items[0].name` in what a client is told about its body. Keys come from the client: one of a megabyte, under
 * which a thousand fields are wrong, must not become an answer of a gigabyte.
 */

/** More unknown or duplicate fields of one body are not told; the real server stops here, too. */
export const MAX_TOLD_FIELDS = 100;

const MAX_SHOWN_KEY = 512;

/** A key as it is shown: the beginning of one that is longer than any real one. */
export function shownKey(key: string): string {
  return key.length <= MAX_SHOWN_KEY ? key : `${key.slice(0, MAX_SHOWN_KEY)}...`;
}
