/**
 * Random scenarios on all cores: seeds in their order, each in whichever worker is free.
 *
 * One seed in a hundred is run again in two processes of its own, and must give the same hash. A worker that dies over a seed
 * is a broken promise of that seed.
 */
import type { SearchOrder } from "./args.ts";
import type { Crew, Shift } from "./crew.ts";
import type { Desk } from "./desk.ts";
import { describeJob, type Job, type RunReport } from "./work.ts";

/** One seed in so many is run again in fresh processes. */
const REPEAT_EVERY = 100;
const REPEATS = 2;

/** Runs seeds until the time is over or there are enough. */
export async function search(order: SearchOrder, desk: Desk, crew: Crew): Promise<void> {
  await crew.work(new SearchShift(order, desk, crew), order.workers);
}

class SearchShift implements Shift {
  readonly #order: SearchOrder;
  readonly #desk: Desk;
  readonly #crew: Crew;
  #begun = 0;

  constructor(order: SearchOrder, desk: Desk, crew: Crew) {
    this.#order = order;
    this.#desk = desk;
    this.#crew = crew;
  }

  next(): Job | undefined {
    const { from, seeds, size } = this.#order;
    if (this.#begun >= seeds || this.#share() >= 1) return undefined;
    const seed = from + this.#begun;
    this.#begun += 1;
    return { job: "seed", seed, size, explain: true };
  }

  run(report: RunReport): void {
    this.#desk.take(report, this.#share());
  }

  note(text: string): void {
    this.#desk.screen.say(text);
  }

  lost(job: Job, why: string): void {
    this.#desk.complain(`${describeJob(job)} was never judged: ${why}`);
  }

  async done(job: Job, reports: readonly RunReport[]): Promise<void> {
    if (job.job !== "seed" || job.seed % REPEAT_EVERY !== 0) return;
    const hashes = new Set(reports.map(({ hash }) => hash));
    const run = ({ hash }: RunReport): void => void hashes.add(hash);
    for (let i = 0; i < REPEATS; i++) {
      const again = { ...job, explain: false };
      const end = await this.#crew.alone(again, { run, note: (text) => this.note(text) });
      if (this.#crew.stopped) return;
      if (end.end === "lost") this.lost(job, end.why);
    }
    if (hashes.size === 1) this.#desk.tally.repeated += 1;
    else this.#desk.complain(`${describeJob(job)} gave different hashes: ${[...hashes].join(" ")}`);
  }

  /** How much of the order is done. */
  #share(): number {
    const { minutes, seeds } = this.#order;
    return Math.max(this.#desk.wallMs / (minutes * 60_000), this.#desk.tally.runs / seeds);
  }
}
