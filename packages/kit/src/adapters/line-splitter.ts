/**
 * Cuts a stream of bytes into lines. Lines are decoded only when complete, so a character that was split between two
 * chunks stays whole; each byte is read once, however small the chunks.
 */
import { tooLarge } from "./response-limits.ts";

const NEWLINE = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Calls `take` for each line that is complete now, without its newline. Throws when a line is too long. */
  push(chunk: Buffer, take: (line: string) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(this.#join(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** What came after the last newline. */
  rest(): string {
    return this.#join(Buffer.alloc(0));
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#maxBytes) throw tooLarge(this.#maxBytes);
    this.#parts.push(part);
  }

  #join(last: Buffer): string {
    if (this.#parts.length === 0) return last.toString("utf8");
    const line = Buffer.concat([...this.#parts, last]).toString("utf8");
    this.#parts = [];
    this.#size = 0;
    return line;
  }
}
