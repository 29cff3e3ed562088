/**
 * The queue of keys a controller works off: fair, without doubles, with delays and with a growing pause per failing key.
 *
 * A key is in up to three places: `dirty` (it must be reconciled), `ready` (its turn in line) and `processing` (a worker
 * reconciles it now). Delays wait in a heap with a single timer for the earliest.
 *
 * 1. A key is handed to one taker at a time.
 * 2. A key added while it is processed is handed out again after `done`, once, however often it was added.
 * 3. Keys are handed out in the order in which they became ready.
 * 4. A key has at most one delay; the earliest one asked for wins.
 * 5. After `shutDown` nothing new enters; every `take` ends.
 */
import { assert, type Cancel, type Clock, Heap } from "@lifeboat/base";

/**
 * The pause after a key's n-th failure in a row is `base · 2ⁿ⁻¹`, at most the cap; no jitter, for keys differ anyway. The cap is
 * that of an informer: whatever was wrong, and for however long, half a minute after it is over everything goes on.
 */
const BACKOFF_BASE_MS = 5;
const BACKOFF_CAP_MS = 30_000;

interface Delay {
  readonly due: number;
  readonly order: number;
  readonly key: string;
}

function byDue(a: Delay, b: Delay): number {
  return a.due - b.due || a.order - b.order;
}

export class WorkQueue {
  readonly #clock: Clock;
  readonly #dirty = new Set<string>();
  readonly #processing = new Set<string>();
  readonly #failures = new Map<string, number>();
  /** Ready keys from `#head` on. Taken slots are cut off now and then, which keeps taking O(1). */
  #ready: string[] = [];
  #head = 0;
  #takers: ((key: string | undefined) => void)[] = [];
  /** The delay that counts for a key; older entries of the heap are skipped. */
  readonly #delayed = new Map<string, Delay>();
  #delays = new Heap<Delay>(byDue);
  #delayOrder = 0;
  #timer: { readonly due: number; readonly cancel: Cancel } | undefined;
  #closed = false;
  #onIdle: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many keys wait for a taker. */
  get depth(): number {
    return this.#ready.length - this.#head;
  }

  /** How many keys wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Adds the key. */
  add(key: string): void {
    if (this.#closed || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#offer(key);
  }

  /** Adds the key when `delayMs` have passed. */
  addAfter(key: string, delayMs: number): void {
    if (this.#closed) return;
    if (!(delayMs > 0)) {
      this.add(key);
      return;
    }
    const due = this.#clock.monotonic() + delayMs;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.due <= due) return;
    const delay = { due, order: this.#delayOrder++, key };
    this.#delayed.set(key, delay);
    this.#delays.push(delay);
    if (this.#delays.size > 2 * this.#delayed.size + 64) this.#compactDelays();
    this.#arm();
  }

  /** Adds the key after its pause, which doubles with each call until `forget`. Answers the pause. */
  addAfterFailure(key: string, atLeastMs = 0): number {
    const failures = this.#failures.get(key) ?? 0;
    if (!this.#closed) this.#failures.set(key, failures + 1);
    // 2 ** failures stays finite for over a thousand failures in a row, and min() takes care of infinity too.
    const pause = Math.max(atLeastMs, Math.min(BACKOFF_BASE_MS * 2 ** failures, BACKOFF_CAP_MS));
    this.addAfter(key, pause);
    return pause;
  }

  /** Ends the row of failures of a key. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Drops the delay of a key, because it is being reconciled and will be delayed again if need be. */
  cancelDelay(key: string): void {
    this.#delayed.delete(key);
    if (this.#delayed.size === 0) this.#dropDelays();
  }

  /** The next key, when there is one; undefined once the queue is shut down and empty. Call `done` afterwards. */
  take(): Promise<string | undefined> {
    if (this.depth > 0) return Promise.resolve(this.#hand(this.#shift()));
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
    });
  }

  /** The taker is finished with the key. */
  done(key: string): void {
    assert(this.#processing.delete(key), "only a taken key is done", { key });
    if (this.#dirty.has(key)) this.#offer(key);
    this.#announceIdle();
  }

  /**
   * Lets nothing new in and drops all delays. With `drain` the keys that wait are still handed out; without, they are
   * dropped. Resolves when nothing is processed or waiting any more.
   */
  shutDown(options: { readonly drain: boolean }): Promise<void> {
    this.#closed = true;
    this.#delayed.clear();
    this.#dropDelays();
    this.#failures.clear();
    if (!options.drain) {
      this.#ready = [];
      this.#head = 0;
      this.#dirty.clear();
    }
    const takers = this.#takers;
    this.#takers = [];
    for (const taker of takers) taker(undefined);
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
      this.#announceIdle();
    });
  }

  #offer(key: string): void {
    const taker = this.#takers.shift();
    if (taker !== undefined) taker(this.#hand(key));
    else this.#ready.push(key);
  }

  #hand(key: string): string {
    this.#dirty.delete(key);
    this.#processing.add(key);
    return key;
  }

  #shift(): string {
    const key = this.#ready[this.#head] as string;
    this.#head += 1;
    if (this.#head * 2 > this.#ready.length && this.#head > 32) {
      this.#ready = this.#ready.slice(this.#head);
      this.#head = 0;
    }
    return key;
  }

  /** Sets the one timer to the earliest delay. */
  #arm(): void {
    const next = this.#earliest();
    if (next === undefined || (this.#timer !== undefined && this.#timer.due <= next.due)) return;
    this.#timer?.cancel();
    const wait = Math.max(0, next.due - this.#clock.monotonic());
    this.#timer = { due: next.due, cancel: this.#clock.after(wait, () => this.#wake()) };
  }

  #wake(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let next = this.#earliest(); next !== undefined; next = this.#earliest()) {
      // A timer may fire a fraction of a millisecond early; `#arm` then waits for the rest.
      if (next.due > now) break;
      this.#delays.pop();
      this.#delayed.delete(next.key);
      this.add(next.key);
    }
    this.#arm();
  }

  #earliest(): Delay | undefined {
    for (let next = this.#delays.peek(); next !== undefined; next = this.#delays.peek()) {
      if (this.#delayed.get(next.key) === next) return next;
      this.#delays.pop();
    }
    return undefined;
  }

  /** Delays that were cancelled or overtaken stay in the heap until then; there must not be many of them. */
  #compactDelays(): void {
    this.#delays = new Heap<Delay>(byDue);
    for (const delay of this.#delayed.values()) this.#delays.push(delay);
  }

  /** With no delay left, what the heap still holds is of no use. */
  #dropDelays(): void {
    this.#earliest();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #announceIdle(): void {
    if (!this.#closed || this.#processing.size > 0 || this.depth > 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }
}
