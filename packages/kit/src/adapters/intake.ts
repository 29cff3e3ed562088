/**
 * How fast the responses of one server are read: a bucket of bytes that fills at a steady rate, and a few places for
 * large responses. Pure but for the time that is passed in.
 *
 * 1. Reading never fails for being fast: it pauses until the bucket is even again.
 * 2. The first bytes of a response never wait, so that probes and small calls of a server that floods us on another
 *    connection are answered as ever.
 * 3. An event of a watch counts as `EVENT_BYTES` at least: small events cost more than their bytes.
 * 4. A server that keeps the bucket empty for `SUSTAINED_MS` is reported once per such time.
 */
import type { ResponseLimits } from "./response-limits.ts";

export const EVENT_BYTES = 1024;
const SUSTAINED_MS = 5000;
/** How many large responses are read at the same time. */
const LARGE_AT_ONCE = 4;

export interface Taken {
  /** How long to wait before reading on. */
  readonly pauseMs: number;
  /** Whether the server has been too fast for long. */
  readonly sustained: boolean;
}

export class Intake {
  readonly bytesPerSecond: number;
  readonly #rate: number;
  readonly #burst: number;
  #balance: number;
  #at: number | undefined;
  #emptySince: number | undefined;
  #large = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ bytesPerSecond, burstBytes }: ResponseLimits) {
    this.bytesPerSecond = bytesPerSecond;
    this.#rate = bytesPerSecond / 1000;
    this.#burst = burstBytes;
    this.#balance = burstBytes;
  }

  /** Takes bytes that have come; `now` is of a clock that never goes back. */
  take(bytes: number, now: number): Taken {
    if (this.#rate === Infinity) return NO_PAUSE;
    const refill = (now - (this.#at ?? now)) * this.#rate;
    const filled = Math.min(this.#burst, this.#balance + refill);
    this.#at = now;
    this.#balance = filled - bytes;
    if (filled > this.#burst / 4) this.#emptySince = undefined;
    if (this.#balance >= 0) return NO_PAUSE;
    this.#emptySince ??= now;
    const sustained = now - this.#emptySince >= SUSTAINED_MS;
    if (sustained) this.#emptySince = now;
    return { pauseMs: -this.#balance / this.#rate, sustained };
  }

  /** Resolves when a large response may be read on; the answer gives the place back. */
  async enterLarge(): Promise<() => void> {
    if (this.#large >= LARGE_AT_ONCE)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#large += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.shift();
      // The place goes over to the next, so the number stays.
      if (next === undefined) this.#large -= 1;
      else next();
    };
  }
}

const NO_PAUSE: Taken = Object.freeze({ pauseMs: 0, sustained: false });
