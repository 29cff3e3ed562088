/**
 * What is taken of a range of numbers, and by which Service: cluster IPs and node ports.
 *
 * 1. Owners follow from the stored Services; whatever was given out counts as taken until it is seen stored.
 * 2. What was given to a write that then failed is free again after a minute.
 * 3. The first choice is derived from a text, so that the same Service gets the same number again when it can.
 */
import { type Clock, hashText } from "@lifeboat/base";

const RESERVED_FOR_MS = 60_000;

export interface Range {
  readonly first: number;
  readonly size: number;
}

export class ServiceRange {
  readonly #clock: Clock;
  readonly #range: Range;
  readonly #owners = new Map<number, string>();
  /** Given out and not seen stored yet, with when that ends. */
  readonly #reserved = new Map<number, { readonly owner: string; readonly until: number }>();

  constructor(clock: Clock, range: Range) {
    this.#clock = clock;
    this.#range = range;
  }

  contains(value: number): boolean {
    return value >= this.#range.first && value < this.#range.first + this.#range.size;
  }

  /** A free number, taken for this owner; undefined when there is none. */
  pick(owner: string, hint: string): number | undefined {
    const { first, size } = this.#range;
    const start = hashText(hint) % size;
    for (let i = 0; i < size; i++) {
      const value = first + ((start + i) % size);
      if (this.take(value, owner)) return value;
    }
    return undefined;
  }

  /** Takes one number; false when another owner has it. */
  take(value: number, owner: string): boolean {
    if (!this.isFree(value, owner)) return false;
    this.#reserved.set(value, { owner, until: this.#clock.monotonic() + RESERVED_FOR_MS });
    return true;
  }

  isFree(value: number, owner: string): boolean {
    const holder = this.#owners.get(value) ?? this.#reservation(value);
    return holder === undefined || holder === owner;
  }

  /** A stored Service has it. */
  stored(value: number, owner: string): void {
    this.#owners.set(value, owner);
    this.#reserved.delete(value);
  }

  /** The Service that had it is gone, or has it no more. */
  released(value: number, owner: string): void {
    if (this.#owners.get(value) === owner) this.#owners.delete(value);
  }

  #reservation(value: number): string | undefined {
    const found = this.#reserved.get(value);
    if (found === undefined) return undefined;
    if (found.until > this.#clock.monotonic()) return found.owner;
    this.#reserved.delete(value);
    return undefined;
  }
}
