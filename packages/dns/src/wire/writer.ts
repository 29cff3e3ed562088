/**
 * Writes a message: numbers in network order, names compressed.
 *
 * A name that ends like one written before is written up to there, then as a pointer. The bytes may stand at any offset of the
 * message: `base` is where the writer's first byte will stand. So sections can be prepared once and put behind a question that
 * has the same name.
 */
import { MAX_NAME_BYTES } from "./constants.ts";

/** Pointers have 14 bits. */
const MAX_POINTER = 0x3fff;

export class Writer {
  readonly #base: number;
  #bytes: Uint8Array;
  #length = 0;
  /** Where each ending of a name stands in the message. */
  readonly #endings = new Map<string, number>();

  constructor(base = 0, room = 512) {
    this.#base = base;
    this.#bytes = new Uint8Array(room);
  }

  get length(): number {
    return this.#length;
  }

  /** What was written; a view, valid until more is written. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  u8(value: number): this {
    this.#grow(1);
    this.#bytes[this.#length++] = value;
    return this;
  }

  u16(value: number): this {
    return this.u8((value >>> 8) & 0xff).u8(value & 0xff);
  }

  u32(value: number): this {
    return this.u16(Math.floor(value / 0x10000) & 0xffff).u16(value & 0xffff);
  }

  /** 48 bits, as TSIG counts seconds. */
  u48(value: number): this {
    return this.u16(Math.floor(value / 0x1_0000_0000) & 0xffff).u32(value % 0x1_0000_0000);
  }

  raw(bytes: Uint8Array): this {
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** Overwrites two bytes that were written before. */
  patch16(at: number, value: number): void {
    this.#bytes[at] = (value >>> 8) & 0xff;
    this.#bytes[at + 1] = value & 0xff;
  }

  /** Declares that a name in lower case stands at an offset of the message, so that later names may point to it. */
  knows(name: Uint8Array, offset: number): this {
    const text = keyOf(name);
    for (let at = 0; at < name.length && name[at] !== 0; at += (name[at] ?? 0) + 1) {
      if (offset + at > MAX_POINTER) break;
      const ending = text.slice(at);
      if (!this.#endings.has(ending)) this.#endings.set(ending, offset + at);
    }
    return this;
  }

  /** A name in lower case, compressed. */
  name(name: Uint8Array): this {
    const text = keyOf(name);
    let at = 0;
    for (; at < name.length && name[at] !== 0; at += (name[at] ?? 0) + 1) {
      const found = this.#endings.get(text.slice(at));
      if (found === undefined) continue;
      this.#learn(name, text, at);
      return this.raw(name.subarray(0, at)).u16(0xc000 | found);
    }
    this.#learn(name, text, at);
    return this.raw(name);
  }

  #learn(name: Uint8Array, text: string, until: number): void {
    const offset = this.#base + this.#length;
    for (let at = 0; at < until; at += (name[at] ?? 0) + 1)
      if (offset + at <= MAX_POINTER) this.#endings.set(text.slice(at), offset + at);
  }

  #grow(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

function keyOf(name: Uint8Array): string {
  return name.length > MAX_NAME_BYTES ? "" : String.fromCharCode(...name);
}
