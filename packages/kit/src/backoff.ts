/**
 * Growing pauses between attempts at one thing: `base · 2ⁿ`, at most the cap, and of that a random part between a half
 * and the whole, so that many clients that lost the same server do not come back at the same moment.
 */
import type { Random } from "@lifeboat/base";

export interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
}

export class Backoff {
  readonly #random: Random;
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(random: Random, options: BackoffOptions) {
    this.#random = random;
    this.#options = options;
  }

  /** How long to pause now. Each call makes the next pause longer. */
  next(): number {
    const full = Math.min(this.#options.baseMs * 2 ** this.#attempts, this.#options.capMs);
    this.#attempts += 1;
    return full * (0.5 + this.#random.next() / 2);
  }

  /** It worked: the next pause is a short one. */
  reset(): void {
    this.#attempts = 0;
  }
}
