/**
 * Writes to one connection, gathered: what is written while the last write is less than a moment old goes out together
 * with what follows. A busy watch then costs a write, a TLS record and a wake-up of its reader per moment instead of one
 * per change; a quiet one loses no time, because its first change goes out at once.
 *
 * 1. Bytes keep their order, and all of them go out: after a moment, at `flush`, or when there are many.
 * 2. Once the connection takes no more, `write` answers false until `drained`; what waits is bounded by `MANY_BYTES` and
 *    one more chunk.
 */
const MOMENT_MS = 10;
const MANY_BYTES = 256 * 1024;

export class GatheredWrites {
  readonly #out: (chunk: Uint8Array) => boolean;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #isBlocked = false;

  /** `out` writes to the connection and answers whether it has room for more. */
  constructor(out: (chunk: Uint8Array) => boolean) {
    this.#out = out;
  }

  /** Whether there is room for more. */
  write(chunk: Uint8Array): boolean {
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    if (this.#isBlocked) return false;
    const left = this.#lastAt + MOMENT_MS - performance.now();
    if (left <= 0 || this.#bytes >= MANY_BYTES) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), left);
    return !this.#isBlocked;
  }

  /** The connection takes more again. Answers whether it still does after what waited. */
  drained(): boolean {
    this.#isBlocked = false;
    this.flush();
    return !this.#isBlocked;
  }

  /** Hands over everything that waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [first] = this.#waiting;
    if (first === undefined) return;
    const chunk = this.#waiting.length === 1 ? first : Buffer.concat(this.#waiting, this.#bytes);
    this.#waiting = [];
    this.#bytes = 0;
    this.#lastAt = performance.now();
    this.#isBlocked = !this.#out(chunk);
  }

  /** Drops what waits. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#waiting = [];
    this.#bytes = 0;
  }
}
