/**
 * The objects an informer holds, by key and by the indexes its users asked for.
 *
 * 1. Every object is in `byIndex(name, value)` for exactly the values its index function gave when it was put.
 * 2. Answers are arrays of shared frozen objects; the arrays themselves never change after they were handed out.
 */
import { assert } from "@lifeboat/base";
import type { KubeObject } from "@lifeboat/api";

/** The values under which an object is found. Must be a pure function of the object. */
export type IndexFunction<T> = (object: T) => readonly string[];

export class ObjectIndex<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #functions: readonly (readonly [string, IndexFunction<T>])[];
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>();
  /** The answer of `list`, until something changes. */
  #listed: readonly T[] | undefined;

  constructor(functions: Readonly<Record<string, IndexFunction<T>>>) {
    this.#functions = Object.entries(functions);
    for (const [name] of this.#functions) this.#indexes.set(name, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  list(): readonly T[] {
    this.#listed ??= [...this.#objects.values()];
    return this.#listed;
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    assert(index !== undefined, "the index was not declared", { index: name });
    const found = index.get(value);
    return found === undefined ? NOTHING : [...found.values()];
  }

  put(key: string, object: T): void {
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#listed = undefined;
    for (const [name, valuesOf] of this.#functions) {
      const values = valuesOf(object);
      const former = old === undefined ? NOTHING : valuesOf(old);
      // Most changes leave an object where it is found.
      if (!isSame(former, values)) this.#leave(name, former, key);
      this.#enter(name, values, key, object);
    }
  }

  remove(key: string): void {
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#objects.delete(key);
    this.#listed = undefined;
    for (const [name, valuesOf] of this.#functions) this.#leave(name, valuesOf(old), key);
  }

  #enter(name: string, values: readonly string[], key: string, object: T): void {
    const index = this.#indexes.get(name) as Map<string, Map<string, T>>;
    for (const value of values) {
      const found = index.get(value);
      if (found === undefined) index.set(value, new Map([[key, object]]));
      else found.set(key, object);
    }
  }

  #leave(name: string, values: readonly string[], key: string): void {
    const index = this.#indexes.get(name) as Map<string, Map<string, T>>;
    for (const value of values) {
      const found = index.get(value);
      found?.delete(key);
      if (found?.size === 0) index.delete(value);
    }
  }
}

const NOTHING: readonly never[] = Object.freeze([]);

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
