/**
 * A clock that moves only by command: the clock of tests and of the simulation.
 *
 * 1. Timers fire in order of (due time, order of scheduling), so a run is a function of its inputs.
 * 2. Between two timers all promise continuations run to their end: `drain` is the way to wait for that. It is
 *    a port because only an adapter may touch the event loop (see adapters/drain.ts).
 * 3. Time never moves while continuations are still running.
 */
import { assert } from "./assert.ts";
import type { Cancel, Clock } from "./clock.ts";
import { Heap } from "./heap.ts";
import type { Instant } from "./time.ts";

interface Timer {
  readonly due: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

export class VirtualClock implements Clock {
  readonly #drain: () => Promise<void>;
  #epoch: number;
  readonly #timers = new Heap<Timer>((a, b) => a.due - b.due || a.order - b.order);
  #elapsed = 0;
  #scheduled = 0;

  constructor(start: Instant, drain: () => Promise<void>) {
    this.#epoch = start;
    this.#drain = drain;
  }

  now(): Instant {
    return (this.#epoch + this.#elapsed) as Instant;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(delayMs: number, callback: () => void): Cancel {
    assert(delayMs >= 0, "a delay is not negative", { delayMs });
    const timer: Timer = { due: this.#elapsed + delayMs, order: this.#scheduled++, callback };
    this.#timers.push(timer);
    return () => {
      timer.callback = undefined;
    };
  }

  /** Wall time jumps, also back; timers and what was measured are not touched by that. */
  step(milliseconds: number): void {
    this.#epoch += milliseconds;
  }

  /** Lets `milliseconds` pass: fires every timer that falls due on the way, draining after each. */
  async advance(milliseconds: number): Promise<void> {
    assert(milliseconds >= 0, "time does not go back", { milliseconds });
    const end = this.#elapsed + milliseconds;
    await this.#drain();
    while (await this.#fireNext(end));
    this.#elapsed = end;
  }

  /** Lets everything that is due now run to its end, without moving time. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /** Moves time from timer to timer until `done()` holds; answers false when `limitMs` passed or nothing is left to fire. */
  async advanceUntil(done: () => boolean, limitMs: number): Promise<boolean> {
    const end = this.#elapsed + limitMs;
    await this.#drain();
    while (!done()) {
      if (!(await this.#fireNext(end))) return done();
    }
    return true;
  }

  /** When the next timer falls due, on the monotonic scale; undefined when none is waiting. */
  nextDue(): number | undefined {
    this.#dropCancelled();
    return this.#timers.peek()?.due;
  }

  async #fireNext(end: number): Promise<boolean> {
    this.#dropCancelled();
    const timer = this.#timers.peek();
    if (timer === undefined || timer.due > end) return false;
    this.#timers.pop();
    this.#elapsed = Math.max(this.#elapsed, timer.due);
    const callback = timer.callback;
    timer.callback = undefined;
    callback?.();
    await this.#drain();
    return true;
  }

  #dropCancelled(): void {
    while (this.#timers.peek()?.callback === undefined && this.#timers.size > 0) this.#timers.pop();
  }
}
