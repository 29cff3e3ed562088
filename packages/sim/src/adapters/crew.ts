/**
 * Workers side by side, each of which takes the next job when it has done one.
 *
 * 1. Jobs are handed out in their order, one after the other, whichever worker takes them.
 * 2. A worker that dies is replaced, and its job is said to be lost; it is not given to another.
 * 3. A worker that has grown large is replaced between two jobs.
 */
import type { Job, RunReport } from "./work.ts";
import type { JobEnd, WorkerProcess } from "./worker-process.ts";

/** What is to be done, and who hears of it. */
export interface Shift {
  /** Undefined: there is none left. */
  next(): Job | undefined;
  run(report: RunReport): void;
  note(text: string): void;
  /** The worker died over it. */
  lost(job: Job, why: string): void;
  /** Comes before the next job of this worker; not after one that was lost. */
  done?(job: Job, reports: readonly RunReport[]): Promise<void>;
}

/** What a worker may grow to; a run of the large size needs half of it. */
const MOST_BYTES = 1024 ** 3;

export class Crew {
  readonly #hire: () => WorkerProcess;
  readonly #at = new Set<WorkerProcess>();
  #stopped = false;
  /** How many workers were replaced because they had grown large. */
  replaced = 0;

  constructor(hire: () => WorkerProcess) {
    this.#hire = hire;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Does all jobs with so many workers. */
  async work(shift: Shift, workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, () => this.#lane(shift)));
  }

  /** One job in a process that did nothing before. */
  async alone(job: Job, shift: Pick<Shift, "run" | "note">): Promise<JobEnd> {
    const worker = this.#begin();
    const end = await worker.run(job, shift);
    this.#end(worker);
    return end;
  }

  /** Ends all workers; nobody hears of jobs that are lost by it. */
  stop(): void {
    this.#stopped = true;
    for (const worker of this.#at) worker.stop();
  }

  async #lane(shift: Shift): Promise<void> {
    let worker = this.#begin();
    for (let job = shift.next(); job !== undefined && !this.#stopped; job = shift.next()) {
      const reports: RunReport[] = [];
      const run = (report: RunReport): void => {
        reports.push(report);
        shift.run(report);
      };
      const end = await worker.run(job, { run, note: (text) => shift.note(text) });
      if (this.#stopped) break;
      if (end.end === "lost") shift.lost(job, end.why);
      else await shift.done?.(job, reports);
      if (end.end === "done" && end.rssBytes < MOST_BYTES) continue;
      if (end.end === "done") this.replaced += 1;
      this.#end(worker);
      worker = this.#begin();
    }
    this.#end(worker);
  }

  #begin(): WorkerProcess {
    const worker = this.#hire();
    this.#at.add(worker);
    return worker;
  }

  #end(worker: WorkerProcess): void {
    this.#at.delete(worker);
    worker.stop();
  }
}
