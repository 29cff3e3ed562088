/**
 * One life of a simulated process: what belongs to it does nothing any more once it has died.
 *
 * 1. Timers of a dead process never fire, and its calls never end: its promises stay pending for ever, as if the machine
 *    had lost its power. Nothing of it needs to be stopped.
 * 2. Its wall clock may be off by `skewMs`; durations are not.
 */
import { addMs, type Cancel, type Clock, type Instant } from "@lifeboat/base";

/** What is awaited by the dead: a new promise each time, because one for all would keep all of them in memory. */
export function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

export class Process {
  readonly name: string;
  readonly clock: Clock;
  #alive = true;
  readonly #onDeath = new Set<() => void>();

  constructor(name: string, clock: Clock, skewMs = 0) {
    this.name = name;
    this.clock = new MortalClock(clock, skewMs, () => this.#alive);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Ends this life, once. */
  die(): void {
    if (!this.#alive) return;
    this.#alive = false;
    for (const handler of this.#onDeath) handler();
    this.#onDeath.clear();
  }

  /** Called when this life ends, for what others must notice, such as broken connections. The answer ends it. */
  onDeath(handler: () => void): () => void {
    this.#onDeath.add(handler);
    return () => this.#onDeath.delete(handler);
  }
}

class MortalClock implements Clock {
  readonly #clock: Clock;
  readonly #skewMs: number;
  readonly #isAlive: () => boolean;

  constructor(clock: Clock, skewMs: number, isAlive: () => boolean) {
    this.#clock = clock;
    this.#skewMs = skewMs;
    this.#isAlive = isAlive;
  }

  now(): Instant {
    return addMs(this.#clock.now(), this.#skewMs);
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(delayMs: number, callback: () => void): Cancel {
    return this.#clock.after(delayMs, () => {
      if (this.#isAlive()) callback();
    });
  }
}
