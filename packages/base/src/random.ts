/**
 * Seeded randomness. The same seed gives the same numbers, in every process.
 *
 * `fork(name)` gives a component a stream of its own, so that one more draw in one place does not shift the
 * numbers of all others. The generator is xoshiro128**, seeded through splitmix32; it is not for secrets.
 */
export interface Random {
  /** A float in [0, 1). */
  next(): number;
  /** An integer in [0, bound). */
  below(bound: number): number;
  fork(name: string): Random;
}

export function createRandom(seed: number): Random {
  return new Xoshiro(seed >>> 0);
}

class Xoshiro implements Random {
  readonly #seed: number;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    this.#seed = seed;
    const draw = splitmix32(seed);
    this.#a = draw();
    this.#b = draw();
    this.#c = draw();
    this.#d = draw() | 1;
  }

  next(): number {
    return this.#uint32() / 0x1_0000_0000;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  fork(name: string): Random {
    return new Xoshiro(hashText(name, this.#seed));
  }

  #uint32(): number {
    const result = Math.imul(rotateLeft(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotateLeft(this.#d, 11);
    return result;
  }
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function splitmix32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

/** 32-bit FNV-1a over UTF-16 units: for seeds and run hashes, never for security. */
export function hashText(text: string, basis = 0x811c9dc5): number {
  let hash = basis >>> 0;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}
