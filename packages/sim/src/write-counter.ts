/**
 * Counts the writes of the control plane, and lets something happen at one of them.
 *
 * Events (the kind) are not counted: they are reports, and nothing is decided by them.
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

  /** Called before every write of the control plane. */
  onWrite(listener: (write: Write) => void): void {
    this.#listeners.push(listener);
  }

  get count(): number {
    return this.#count;
  }

  plan(at: AtWrite): void {
    this.#plans.push(at);
  }

  before(write: Write): void {
    if (isReport(write)) return;
    this.#count += 1;
    for (const listener of this.#listeners) listener(write);
    this.#fire("before");
  }

  after(write: Write, answer: unknown): void {
    if (isReport(write)) return;
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
