/**
 * A map from text to values in the order of the texts (by UTF-16 units), with cheap snapshots.
 *
 * It is a B+ tree from the sorted-btree package. A snapshot shares all nodes with the map; later writes copy the few
 * nodes they touch. So a reader may take its time while writes go on. Single keys are found in a hash table beside it.
 */
import * as library from "sorted-btree";
import type BTree from "sorted-btree";

/** The package is CommonJS: Node hands its exports over as `default`, test runners the class itself. */
const exported: unknown = library.default;
const Tree = (
  typeof exported === "function" ? exported : (exported as { readonly default: unknown }).default
) as typeof BTree.default;

export class SortedMap<V> {
  readonly #tree = new Tree<string, V>(undefined, compareText);
  readonly #byKey = new Map<string, V>();

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key);
  }

  set(key: string, value: V): void {
    this.#tree.set(key, value);
    this.#byKey.set(key, value);
  }

  delete(key: string): void {
    this.#tree.delete(key);
    this.#byKey.delete(key);
  }

  /** The values at and after `start`, as of now, whatever is written while they are walked. */
  valuesFrom(start: string): IterableIterator<V> {
    return this.#tree.clone().values(start);
  }

  /** How many keys are at or after `start` and below `end` (undefined: no end); visits nodes, not keys. */
  count(start: string, end: string | undefined): number {
    if (start === "" && end === undefined) return this.size;
    const last = this.#tree.maxKey();
    if (last === undefined || (end !== undefined && end <= start)) return 0;
    if (end === undefined) return start > last ? 0 : this.#tree.forRange(start, last, true);
    return this.#tree.forRange(start, end, false);
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
