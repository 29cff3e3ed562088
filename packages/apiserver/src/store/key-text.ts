/**
 * The text under which the storage keeps an object: `table/key`. A table is `group/plural` (the core group is empty, so
 * its tables begin with a slash) and a key is `namespace/name` or `/name`; none of the four parts holds a slash.
 */
import { assert } from "@lifeboat/base";

/** The longest storage key: group, plural, namespace and name at their longest stay well below it. */
const LONGEST_KEY = 1024;

export function storageKeyOf(table: string, key: string): string {
  const text = `${table}/${key}`;
  assert(text.length <= LONGEST_KEY, "a storage key is too long", { length: text.length });
  return text;
}

export function splitStorageKey(text: string): { readonly table: string; readonly key: string } {
  const end = text.indexOf("/", text.indexOf("/") + 1);
  assert(end > 0, "a storage key has no table", { text });
  return { table: text.slice(0, end), key: text.slice(end + 1) };
}

/** The least text above every text that begins with `prefix`; undefined when there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  for (let last = prefix.length - 1; last >= 0; last--) {
    const code = prefix.charCodeAt(last);
    if (code < 0xffff) return prefix.slice(0, last) + String.fromCharCode(code + 1);
  }
  return undefined;
}
