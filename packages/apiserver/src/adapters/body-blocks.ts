/**
 * The bytes of one body while it arrives, copied into blocks of our own.
 *
 * Chunks are not kept: each is a view on a buffer of the connection, and a client that sends single bytes would make every
 * one of them cost a hundred.
 */
const FIRST_BLOCK = 1024;
const LARGEST_BLOCK = 64 * 1024;

export class BodyBlocks {
  readonly #blocks: Buffer[] = [];
  #nextSize: number;
  /** How much of the last block is used. */
  #used = 0;

  /** `announced` is the length that the client announced; it may be wrong. */
  constructor(announced: number | undefined) {
    const hint = announced !== undefined && announced >= 1 ? announced : FIRST_BLOCK;
    this.#nextSize = Math.min(Math.ceil(hint), LARGEST_BLOCK);
  }

  /** How much memory `add` is going to take for a chunk of this length. */
  costOf(length: number): number {
    const beyond = length - this.#free();
    return beyond > 0 ? Math.max(beyond, this.#nextSize) : 0;
  }

  add(chunk: Uint8Array): void {
    const fits = Math.min(this.#free(), chunk.length);
    if (fits > 0) {
      this.#blocks.at(-1)?.set(chunk.subarray(0, fits), this.#used);
      this.#used += fits;
    }
    const beyond = chunk.length - fits;
    if (beyond <= 0) return;
    const block = Buffer.allocUnsafe(Math.max(beyond, this.#nextSize));
    block.set(chunk.subarray(fits));
    this.#blocks.push(block);
    this.#used = beyond;
    this.#nextSize = Math.min(this.#nextSize * 2, LARGEST_BLOCK);
  }

  /** All bytes in one piece; the blocks are given up. */
  take(): Uint8Array {
    const last = this.#blocks.pop();
    if (last === undefined) return Buffer.alloc(0);
    const end = last.subarray(0, this.#used);
    const whole = this.#blocks.length === 0 ? end : Buffer.concat([...this.#blocks, end]);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#used = 0;
  }

  #free(): number {
    const last = this.#blocks.at(-1);
    return last === undefined ? 0 : last.length - this.#used;
  }
}
