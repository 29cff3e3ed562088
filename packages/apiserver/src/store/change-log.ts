/**
 * A queue of changes in order of revision: new ones at the end, the oldest dropped from the front.
 *
 * The front is an index into an array that is cut when half of it is spent, so both ends cost constant time.
 */

export class ChangeLog<T extends { readonly revision: number }> {
  #items: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#items.length - this.#first;
  }

  /** The i-th oldest. */
  at(index: number): T | undefined {
    return index < 0 ? undefined : this.#items[this.#first + index];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#items[this.#first] = undefined;
    this.#first += 1;
    if (this.#first > 64 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  /** The index of the first item whose revision is above `revision`; `size` when there is none. */
  indexAfter(revision: number): number {
    let low = this.#first;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#items[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low - this.#first;
  }
}
