/**
 * Counts the writes of the control plane, and lets something happen at one of them.
 *
 * 1. Events (the kind) are not counted: they are reports, and nothing is decided by them.
 * 2. A write that begins when all others are answered, at the very moment of the last answer, finds nothing on any disk that
 *    the death of the plane after that answer would not have left: to die before it is to die after the one before.
 */
import type { AnyObject } from "@lifeboat/api";
import type { Write, WriteWatcher } from "./network/sim-client.ts";

export interface AtWrite {
  /** From 1. */
  readonly number: number;
  readonly moment: "before" | "after";
  readonly act: () => void;
}

export class WriteCounter implements WriteWatcher {
  #count = 0;
  #plans: AtWrite[] = [];
  /** Every write that somebody was told had worked, with the version told. */
  readonly acknowledged: (Write & { readonly revision: number })[] = [];
  readonly #listeners: ((write: Write) => void)[] = [];
  readonly #onDone: ((write: Write) => void)[] = [];
  readonly #now: () => number;
  #answered = 0;
  #lastAnswerAt = -1;
  /** The numbers of the writes of which dying before them is dying after the one before. */
  readonly sequels = new Set<number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Called before every write of the control plane and of agents. */
  onWrite(listener: (write: Write) => void): void {
    this.#listeners.push(listener);
  }

  /** Called after every write of an agent's identity that took effect. */
  onDone(listener: (write: Write) => void): void {
    this.#onDone.push(listener);
  }

  get count(): number {
    return this.#count;
  }

  /** What a process beside the control plane asks for: judged, and not counted. */
  get beside(): WriteWatcher {
    return {
      before: (write) => {
        if (!isReport(write)) for (const listener of this.#listeners) listener(write);
      },
      after: (write, answer) => {
        if (answer !== undefined) for (const listener of this.#onDone) listener(write);
        this.acknowledge(write, answer);
      },
    };
  }

  plan(at: AtWrite): void {
    this.#plans.push(at);
  }

  before(write: Write): void {
    if (isReport(write)) return;
    const follows = this.#answered === this.#count && this.#lastAnswerAt === this.#now();
    this.#count += 1;
    if (follows) this.sequels.add(this.#count);
    for (const listener of this.#listeners) listener(write);
    this.#fire("before");
  }

  after(write: Write, answer: unknown): void {
    if (isReport(write)) return;
    this.#answered += 1;
    this.#lastAnswerAt = this.#now();
    this.acknowledge(write, answer);
    this.#fire("after");
  }

  /** Remembers what a caller was told. */
  acknowledge(write: Write, answer: unknown): void {
    const version = (answer as AnyObject | undefined)?.metadata?.resourceVersion;
    if (version !== undefined && !isReport(write))
      this.acknowledged.push({ ...write, revision: Number(version) });
  }

  #fire(moment: AtWrite["moment"]): void {
    const due = this.#plans.filter((at) => at.moment === moment && at.number <= this.#count);
    if (due.length === 0) return;
    this.#plans = this.#plans.filter((at) => !due.includes(at));
    for (const { act } of due) act();
  }
}

function isReport({ what }: Write): boolean {
  return what.startsWith("events ");
}
