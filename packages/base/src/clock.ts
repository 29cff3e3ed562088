/**
 * The Clock port: the only source of time and of delays for everything outside `adapters/`.
 *
 * `after` is the primitive; `sleep` is built on it. A callback never runs inside the call that scheduled it.
 */
import { assert } from "./assert.ts";
import type { Instant } from "./time.ts";

export type Cancel = () => void;

export interface Clock {
  /** Wall time, for records. It may jump. */
  now(): Instant;
  /** Milliseconds since some fixed point, for measuring. It never goes back. */
  monotonic(): number;
  /** Runs `callback` once, not before `delayMs` have passed; the answer cancels it. */
  after(delayMs: number, callback: () => void): Cancel;
}

/** Waits; resolves early with `false` when the signal aborts, `true` when the time has passed. Never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<boolean> {
  assert(delayMs >= 0, "a delay is not negative", { delayMs });
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onAbort = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve(true);
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
