/** The machine's clock and timers. */
import type { Clock } from "../clock.ts";
import type { Instant } from "../time.ts";

/** The longest delay a Node timer can hold; longer ones are chained. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createRealClock(): Clock {
  return { now: () => Date.now() as Instant, monotonic: () => performance.now(), after };
}

function after(delayMs: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    const step = Math.min(leftMs, LONGEST_TIMER_MS);
    timer = setTimeout(() => (leftMs > step ? arm(leftMs - step) : callback()), step);
  };
  arm(delayMs);
  return () => {
    clearTimeout(timer);
  };
}
