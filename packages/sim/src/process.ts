/**
 * One life of a simulated process: what belongs to it does nothing any more once it has died.
 *
 * 1. Timers of a dead process never fire, and its calls never end: its promises stay pending for ever, as if the machine
 *    had lost its power. Nothing of it needs to be stopped.
 * 2. Its wall clock may be off by `skewMs`, and may jump; durations are not touched by that.
 * 3. While it stands still its timers wait: they fire late, in their order, when it goes on. What reaches it from outside
 *    has to wait for `goesOnIn` as well; that is for the network to do.
 */
import { addMs, type Cancel, type Clock, type Instant } from "@lifeboat/base";

/** What is awaited by the dead: a new promise each time, because one for all would keep all of them in memory. */
export function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

export class Process {
  readonly name: string;
  readonly clock: Clock;
  /** The clock of what is not part of it, and goes on when it is dead or stands still. */
  readonly outside: Clock;
  readonly #mortal: MortalClock;
  #alive = true;
  readonly #onDeath = new Set<() => void>();

  constructor(name: string, clock: Clock, skewMs = 0) {
    this.name = name;
    this.#mortal = new MortalClock(clock, skewMs, () => this.#alive);
    this.clock = this.#mortal;
    this.outside = clock;
  }

  /** Milliseconds until it goes on; 0 while it runs. */
  get goesOnIn(): number {
    return this.#mortal.goesOnIn;
  }

  /** Stands still for so long. */
  pause(milliseconds: number): void {
    this.#mortal.pause(milliseconds);
  }

  /** Its wall clock jumps. */
  step(milliseconds: number): void {
    this.#mortal.step(milliseconds);
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
  #skewMs: number;
  readonly #isAlive: () => boolean;
  #pausedUntil = 0;

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

  get goesOnIn(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.monotonic());
  }

  pause(milliseconds: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + milliseconds);
  }

  step(milliseconds: number): void {
    this.#skewMs += milliseconds;
  }

  after(delayMs: number, callback: () => void): Cancel {
    let cancelLate: Cancel | undefined;
    const fire = (): void => {
      if (!this.#isAlive()) return;
      const late = this.goesOnIn;
      if (late > 0) cancelLate = this.#clock.after(late, fire);
      else callback();
    };
    const cancel = this.#clock.after(delayMs, fire);
    return () => {
      cancel();
      cancelLate?.();
    };
  }
}
