/**
 * Ends what is silent for too long.
 *
 * 1. A movement costs no timer.
 * 2. A pause of this process is no silence of others: the time is counted in parts, and each part needs a turn of the event loop.
 */
import type { Cancel, Clock } from "@lifeboat/base";

const PARTS = 4;

export class Silence {
  readonly #clock: Clock;
  readonly #partMs: number;
  readonly #onLimit: () => void;
  #silentParts = 0;
  #cancel: Cancel;

  constructor(clock: Clock, limitMs: number, onLimit: () => void) {
    this.#clock = clock;
    this.#partMs = limitMs / PARTS;
    this.#onLimit = onLimit;
    this.#cancel = this.#later();
  }

  /** Something came or went. */
  moved(): void {
    this.#silentParts = 0;
  }

  end(): void {
    this.#cancel();
  }

  #later(): Cancel {
    return this.#clock.after(this.#partMs, () => {
      this.#silentParts += 1;
      // The part in which something moved last is not a whole one.
      if (this.#silentParts > PARTS) this.#onLimit();
      else this.#cancel = this.#later();
    });
  }
}
