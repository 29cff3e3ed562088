/**
 * The Entry as the store keeps it, and the one place that turns objects into bytes and back.
 *
 * 1. Bytes begin with `{"kind":…,"apiVersion":…,`, whatever order the caller's object had.
 * 2. `object` is frozen all the way down.
 * 3. An entry that only history still holds, or that is hardly ever read, may be `chilled`: it drops its parsed object,
 *    which is several times larger than its bytes, and parses again whenever it is asked. Only the time it takes
 *    shows it.
 */
import type { AnyObject, KubeObject } from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import type { Entry } from "./store.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export class StoredEntry implements Entry {
  readonly key: string;
  readonly revision: number;
  readonly bytes: Uint8Array;
  viewedAsIs: object | undefined = undefined;
  #object: AnyObject | undefined;

  constructor(key: string, revision: number, bytes: Uint8Array, object: AnyObject | undefined) {
    this.key = key;
    this.revision = revision;
    this.bytes = bytes;
    this.#object = object;
  }

  get object(): AnyObject {
    return this.#object ?? decodeObject(this.bytes);
  }

  /** Drops the parsed object. */
  chill(): void {
    this.#object = undefined;
  }
}

/** An entry of an object that was just built, and belongs to the entry from here on. */
export function entryOf(key: string, revision: number, built: KubeObject): StoredEntry {
  const object = deepFreeze((beginsWithType(built) ? built : withTypeFirst(built)) as AnyObject);
  return new StoredEntry(key, revision, encoder.encode(JSON.stringify(object)), object);
}

function beginsWithType(object: KubeObject): boolean {
  let place = 0;
  for (const field in object) {
    if (place === 1) return field === "apiVersion";
    if (field !== "kind") return false;
    place += 1;
  }
  return false;
}

function withTypeFirst({ kind, apiVersion, ...rest }: KubeObject): KubeObject {
  return { kind, apiVersion, ...rest };
}

/** An entry found on disk, parsed at once because it is the newest of its key. */
export function warmEntry(key: string, revision: number, bytes: Uint8Array): StoredEntry {
  return new StoredEntry(key, revision, bytes, decodeObject(bytes));
}

/** An entry found on disk that only history needs. */
export function coldEntry(key: string, revision: number, bytes: Uint8Array): StoredEntry {
  return new StoredEntry(key, revision, bytes, undefined);
}

function decodeObject(bytes: Uint8Array): AnyObject {
  return deepFreeze(JSON.parse(decoder.decode(bytes)) as AnyObject);
}
