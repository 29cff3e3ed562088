/**
 * What was truly written: every change that reached a disk, of every server of the simulation, in order.
 *
 * Oracles judge by the ledger and never by a cache or by what an API answers.
 *
 * 1. The hash covers time, server, revision, kind of change, key and bytes of every change: equal hashes mean equal runs.
 * 2. Objects are parsed when somebody looks at them, once.
 * 3. The answers of `objects` and `all` are the same arrays until something in them changes.
 */
import type { AnyObject } from "@lifeboat/api";
import type { ChangeRow } from "@lifeboat/apiserver";
import { deepFreeze, hashText } from "@lifeboat/base";

export interface Committed {
  /** Milliseconds since the simulation began. */
  readonly at: number;
  readonly server: string;
  readonly row: ChangeRow;
  /** `group/plural`. */
  readonly table: string;
  /** The object's key in its table, `namespace/name` or `/name`. */
  readonly key: string;
  /** What was there before. */
  readonly previous: Held | undefined;
}

export interface Held {
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  /** Since when it has been on the disk, whether it was written or restored; milliseconds since the simulation began. */
  readonly since: number;
  readonly object: AnyObject;
}

export class Ledger {
  readonly #now: () => number;
  readonly #beganAt: number;
  readonly #state = new Map<string, Holdings>();
  readonly #revisions = new Map<string, Set<number>>();
  readonly #listeners: ((change: Committed) => void)[] = [];
  readonly rows: Committed[] = [];
  #hash = 0x811c9dc5;

  /** `beganAt`: the true time when the simulation began. */
  constructor(now: () => number, beganAt = 0) {
    this.#now = now;
    this.#beganAt = beganAt;
  }

  /** Milliseconds since the simulation began. */
  get now(): number {
    return this.#now();
  }

  /** The true time, as a right clock shows it, so many milliseconds after the simulation began. */
  timeAt(at: number): number {
    return this.#beganAt + at;
  }

  get hash(): string {
    return this.#hash.toString(16).padStart(8, "0");
  }

  /** Called after every change. */
  onChange(listener: (change: Committed) => void): void {
    this.#listeners.push(listener);
  }

  /** What a disk held before the simulation began: known, and no write of it. */
  load(server: string, rows: Iterable<Pick<ChangeRow, "key" | "revision" | "bytes">>): void {
    const state = this.#stateOf(server);
    const revisions = this.#revisionsOf(server);
    for (const { key, revision, bytes } of rows) {
      state.put(new LazyHeld(key, revision, bytes, this.#now()));
      revisions.add(revision);
    }
  }

  /** A disk holds other data from now on: nobody wrote it, so nobody is told. */
  replace(server: string, rows: readonly Pick<ChangeRow, "key" | "revision" | "bytes">[]): void {
    this.#state.set(server, new Holdings());
    this.load(server, rows);
    this.#hash = hashText(`${this.#now()} ${server} replaced`, this.#hash);
  }

  /** Whether a change of this version ever reached the disk. */
  has(server: string, revision: number): boolean {
    return this.#revisionsOf(server).has(revision);
  }

  record(server: string, row: ChangeRow): void {
    const state = this.#stateOf(server);
    const previous = state.get(row.key);
    const since = previous?.since ?? this.#now();
    const held = new LazyHeld(row.key, row.revision, row.bytes, since);
    const { table, key } = held;
    const change = { at: this.#now(), server, row, previous, table, key };
    this.rows.push(change);
    this.#revisionsOf(server).add(row.revision);
    this.#mix(change);
    if (row.type === "DELETED") state.remove(held);
    else state.put(held);
    for (const listener of this.#listeners) listener(change);
  }

  servers(): readonly string[] {
    return [...this.#state.keys()];
  }

  /** Everything a server holds in a table, in order of keys. */
  objects(server: string, table: string): readonly Held[] {
    return this.#stateOf(server).table(table);
  }

  /** Everything a server holds, in order of keys. */
  all(server: string): readonly Held[] {
    return this.#stateOf(server).all();
  }

  find(server: string, table: string, key: string): Held | undefined {
    return this.#stateOf(server).get(`${table}/${key}`);
  }

  /** The version of each stored row by its storage key. */
  versions(server: string): ReadonlyMap<string, number> {
    return new Map(
      this.#stateOf(server)
        .all()
        .map(({ row, revision }) => [row, revision]),
    );
  }

  #revisionsOf(server: string): Set<number> {
    const found = this.#revisions.get(server) ?? new Set<number>();
    this.#revisions.set(server, found);
    return found;
  }

  #stateOf(server: string): Holdings {
    const found = this.#state.get(server);
    if (found !== undefined) return found;
    const state = new Holdings();
    this.#state.set(server, state);
    return state;
  }

  #mix({ at, server, row }: Committed): void {
    const { revision, type, key, bytes } = row;
    this.#hash = hashText(`${at} ${server} ${revision} ${type} ${key}`, this.#hash);
    for (const byte of bytes) this.#hash = Math.imul(this.#hash ^ byte, 0x01000193) >>> 0;
  }
}

/** What one server holds, by row and by table; lists are made when asked for and kept until something changes. */
class Holdings {
  readonly #rows = new Map<string, LazyHeld>();
  readonly #tables = new Map<string, Map<string, LazyHeld>>();
  readonly #lists = new Map<string, readonly LazyHeld[]>();
  #all: readonly LazyHeld[] | undefined;

  get(row: string): LazyHeld | undefined {
    return this.#rows.get(row);
  }

  put(held: LazyHeld): void {
    this.#rows.set(held.row, held);
    const table = this.#tables.get(held.table);
    if (table === undefined) this.#tables.set(held.table, new Map([[held.row, held]]));
    else table.set(held.row, held);
    this.#changed(held);
  }

  remove(held: LazyHeld): void {
    this.#rows.delete(held.row);
    this.#tables.get(held.table)?.delete(held.row);
    this.#changed(held);
  }

  table(name: string): readonly LazyHeld[] {
    const known = this.#lists.get(name);
    if (known !== undefined) return known;
    const list = inOrder(this.#tables.get(name));
    this.#lists.set(name, list);
    return list;
  }

  all(): readonly LazyHeld[] {
    this.#all ??= inOrder(this.#rows);
    return this.#all;
  }

  #changed({ table }: LazyHeld): void {
    this.#lists.delete(table);
    this.#all = undefined;
  }
}

function inOrder(held: ReadonlyMap<string, LazyHeld> | undefined): readonly LazyHeld[] {
  return held === undefined ? [] : [...held.values()].sort((a, b) => compare(a.row, b.row));
}

class LazyHeld implements Held {
  readonly row: string;
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  readonly since: number;
  readonly #bytes: Uint8Array;

  constructor(row: string, revision: number, bytes: Uint8Array, since: number) {
    this.row = row;
    ({ table: this.table, key: this.key } = splitKey(row));
    this.revision = revision;
    this.since = since;
    this.#bytes = bytes;
  }

  get object(): AnyObject {
    return parseObject(this.#bytes);
  }
}

/** The object of a row, parsed once: rows of images are shared by all worlds of a process. */
export function parseObject(bytes: Uint8Array): AnyObject {
  const known = parsed.get(bytes);
  if (known !== undefined) return known;
  const object = deepFreeze(JSON.parse(decoder.decode(bytes)) as AnyObject);
  parsed.set(bytes, object);
  return object;
}

const decoder = new TextDecoder();
const parsed = new WeakMap<Uint8Array, AnyObject>();

/** A storage key is `group/plural/` and the object's own key. */
function splitKey(key: string): { readonly table: string; readonly key: string } {
  const end = key.indexOf("/", key.indexOf("/") + 1);
  return { table: key.slice(0, end), key: key.slice(end + 1) };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
