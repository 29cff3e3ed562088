/**
 * Waits that many calls of one caller do at the same time under one signal.
 *
 * Reading what an API serves is dozens of calls with one signal. Each would listen to it by itself, and Node takes more than
 * ten listeners for a leak and says so. Here a signal has one listener, as long as anybody waits.
 */
import type { Clock } from "@lifeboat/base";

interface Waiting {
  readonly givers: Set<() => void>;
  readonly onAbort: () => void;
}

export class SharedSleep {
  readonly #waiting = new Map<AbortSignal, Waiting>();

  /** As `sleep` of the base package: true when the time has passed, false when the signal aborts first. */
  sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const giveUp = (): void => {
        cancel();
        resolve(false);
      };
      const cancel = clock.after(delayMs, () => {
        this.#leave(signal, giveUp);
        resolve(true);
      });
      this.#join(signal).add(giveUp);
    });
  }

  #join(signal: AbortSignal): Set<() => void> {
    const known = this.#waiting.get(signal);
    if (known !== undefined) return known.givers;
    const givers = new Set<() => void>();
    const onAbort = (): void => {
      this.#waiting.delete(signal);
      for (const giveUp of givers) giveUp();
    };
    this.#waiting.set(signal, { givers, onAbort });
    signal.addEventListener("abort", onAbort, { once: true });
    return givers;
  }

  #leave(signal: AbortSignal, giveUp: () => void): void {
    const known = this.#waiting.get(signal);
    if (known === undefined) return;
    known.givers.delete(giveUp);
    if (known.givers.size > 0) return;
    this.#waiting.delete(signal);
    signal.removeEventListener("abort", known.onAbort);
  }
}
