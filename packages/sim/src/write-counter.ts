/**
 * Counts the writes of the control plane, and lets something happen at one of them.
 *
 * Events (the kind) are not counted: they are reports, and nothing is decided by them.
 */
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
  readonly writes: Write[] = [];

  get count(): number {
    return this.#count;
  }

  plan(at: AtWrite): void {
    this.#plans.push(at);
  }

  before(write: Write): void {
    if (isReport(write)) return;
    this.#count += 1;
    this.writes.push(write);
    this.#fire("before");
  }

  after(write: Write): void {
    if (!isReport(write)) this.#fire("after");
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
