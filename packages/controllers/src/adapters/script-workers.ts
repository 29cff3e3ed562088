/**
 * Scripts in threads of their own, which are ended when a script takes too long or too much.
 *
 *   run ──▶ one queue per script ──▶ a free thread ──▶ answer, or the thread is ended and a new one takes its place
 *
 * 1. A thread runs one call at a time; its deadline runs from the moment the thread has the call.
 * 2. A script never has all threads, and scripts take turns: a slow one delays others by at most one call each.
 * 3. Waiting calls are bounded in number and in time: one too many fails at once, one that waited too long in its turn.
 * 4. Threads are started when they are needed and never keep the process alive.
 */
import type { Json } from "@lifeboat/api";
import { Worker } from "node:worker_threads";
import {
  SCRIPT_LIMITS,
  type ScriptCall,
  type ScriptEngine,
  ScriptFailed,
  type ScriptFailure,
  type ScriptLimits,
} from "../context/scripts/script-engine.ts";

export type WorkerRequest =
  | { readonly kind: "run"; readonly call: ScriptCall }
  | { readonly kind: "check"; readonly script: string };

export type WorkerAnswer =
  | { readonly results: readonly Json[] }
  | { readonly problem?: string }
  | { readonly failure: ScriptFailure; readonly message: string };

export interface ScriptWorkersOptions extends Partial<ScriptLimits> {
  /** How many threads; at least 2, so that a slow script leaves one to the others. */
  readonly threads?: number;
  /** How many calls may wait. */
  readonly maxWaiting?: number;
  /** How long a call may wait for a thread. */
  readonly maxWaitMs?: number;
  /** The heap of a thread. */
  readonly heapMegabytes?: number;
  /** The thread's program; absent: the one beside this file. */
  readonly program?: URL;
}

export interface ScriptWorkers extends ScriptEngine {
  /** Ends all threads; calls under way fail. */
  close(): Promise<void>;
}

const DEFAULTS = {
  threads: 2,
  maxWaiting: 4096,
  maxWaitMs: 30_000,
  heapMegabytes: 96,
} as const;
/** A thread that is not there after this long does not come. */
const START_MS = 30_000;

/** An engine for scripts of strangers. Nothing is started before the first call. */
export function createScriptWorkers(options: ScriptWorkersOptions = {}): ScriptWorkers {
  return new WorkerPool({
    ...SCRIPT_LIMITS,
    ...DEFAULTS,
    // The time is measured here, so instructions need no counting there.
    instructions: Number.MAX_SAFE_INTEGER,
    program: new URL("./script-worker.js", import.meta.url),
    ...options,
  });
}

interface Job {
  readonly script: string;
  readonly request: WorkerRequest;
  /** When it began to wait. */
  readonly since: number;
  resolve(answer: WorkerAnswer): void;
  reject(error: ScriptFailed): void;
}

/** A thread; without a worker it has to be started first. */
interface Slot {
  worker: Worker | undefined;
  isReady: boolean;
  job: Job | undefined;
  deadline: NodeJS.Timeout | undefined;
}

class WorkerPool implements ScriptWorkers {
  readonly #options: ScriptLimits & Required<ScriptWorkersOptions>;
  readonly #slots: readonly Slot[];
  /** Waiting jobs by script; scripts in the order in which it is their turn. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #underWay = new Map<string, number>();
  #waitingCount = 0;
  #isClosed = false;

  constructor(options: ScriptLimits & Required<ScriptWorkersOptions>) {
    this.#options = options;
    this.#slots = Array.from({ length: Math.max(2, options.threads) }, () => ({
      worker: undefined,
      isReady: false,
      job: undefined,
      deadline: undefined,
    }));
  }

  async run(call: ScriptCall): Promise<readonly Json[]> {
    const answer = await this.#ask(call.script, { kind: "run", call });
    if ("results" in answer) return answer.results;
    throw new ScriptFailed("runtime", "the thread of the script answered something else");
  }

  async check(script: string): Promise<string | undefined> {
    // Checks take turns as one: many of them must not keep calls waiting.
    try {
      const answer = await this.#ask("", { kind: "check", script });
      return "problem" in answer ? answer.problem : undefined;
    } catch (error) {
      if (error instanceof ScriptFailed && error.kind !== "busy") return error.message;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#waitingCount = 0;
    for (const job of waiting) job.reject(closed());
    await Promise.all(
      this.#slots.map(async (slot) => {
        const { worker } = slot;
        this.#fail(slot, closed());
        await worker?.terminate();
      }),
    );
  }

  async #ask(script: string, request: WorkerRequest): Promise<WorkerAnswer> {
    if (this.#isClosed) throw closed();
    if (this.#waitingCount >= this.#options.maxWaiting)
      throw new ScriptFailed("busy", `${this.#waitingCount} scripts are waiting already`);
    const answer = await new Promise<WorkerAnswer>((resolve, reject) => {
      const queue = this.#waiting.get(script) ?? [];
      queue.push({ script, request, since: performance.now(), resolve, reject });
      this.#waiting.set(script, queue);
      this.#waitingCount += 1;
      this.#dispatch();
    });
    if ("failure" in answer) throw new ScriptFailed(answer.failure, answer.message);
    return answer;
  }

  /** Gives waiting jobs to free threads. */
  #dispatch(): void {
    for (const slot of this.#slots) {
      if (slot.job !== undefined) continue;
      const job = this.#next();
      if (job === undefined) return;
      this.#begin(slot, job);
    }
  }

  /** The first job of the first script in turn that may have another thread. */
  #next(): Job | undefined {
    const most = this.#slots.length - 1;
    for (const [script, queue] of this.#waiting) {
      const running = this.#underWay.get(script) ?? 0;
      if (running >= most) continue;
      const job = this.#take(queue);
      // Removed and put back at the end: the turn goes round.
      this.#waiting.delete(script);
      if (queue.length > 0) this.#waiting.set(script, queue);
      if (job === undefined) continue;
      this.#underWay.set(script, running + 1);
      return job;
    }
    return undefined;
  }

  /** The first of a script's jobs that has not waited too long. */
  #take(queue: Job[]): Job | undefined {
    const { maxWaitMs } = this.#options;
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      this.#waitingCount -= 1;
      if (performance.now() - job.since <= maxWaitMs) return job;
      job.reject(new ScriptFailed("busy", `the script waited for more than ${maxWaitMs} ms`));
    }
    return undefined;
  }

  #begin(slot: Slot, job: Job): void {
    slot.job = job;
    if (slot.worker === undefined) this.#start(slot);
    if (slot.isReady) this.#post(slot, job);
  }

  #start(slot: Slot): void {
    const { program, heapMegabytes, timeoutMs, instructions, textBytes, scriptBytes } =
      this.#options;
    const worker = new Worker(program, {
      workerData: { timeoutMs, instructions, textBytes, scriptBytes },
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 16 },
      // Nothing of the control plane's environment and output is theirs.
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    slot.worker = worker;
    slot.isReady = false;
    this.#setDeadline(slot, START_MS, "the thread for scripts did not start");
    worker.on("message", (text: string) => {
      if (slot.worker === worker) this.#answered(slot, text);
    });
    worker.on("error", (error) => {
      if (slot.worker === worker) this.#fail(slot, failureOf(error));
    });
    worker.on("exit", () => {
      if (slot.worker === worker)
        this.#fail(slot, new ScriptFailed("runtime", "the script ended its thread"));
    });
    // Last, because adding a listener makes the thread count again.
    worker.unref();
  }

  #post(slot: Slot, job: Job): void {
    const { timeoutMs } = this.#options;
    this.#setDeadline(slot, timeoutMs, `the script took longer than ${timeoutMs} ms`);
    slot.worker?.postMessage(JSON.stringify(job.request));
  }

  #answered(slot: Slot, text: string): void {
    if (!slot.isReady) {
      slot.isReady = true;
      if (slot.job !== undefined) this.#post(slot, slot.job);
      return;
    }
    this.#end(slot)?.resolve(JSON.parse(text) as WorkerAnswer);
    this.#dispatch();
  }

  /** Gives a thread up, with the job it has. */
  #fail(slot: Slot, error: ScriptFailed): void {
    const { worker } = slot;
    slot.worker = undefined;
    slot.isReady = false;
    void worker?.terminate();
    this.#end(slot)?.reject(error);
    if (!this.#isClosed) this.#dispatch();
  }

  /** Takes the job from a thread. */
  #end(slot: Slot): Job | undefined {
    const { job } = slot;
    clearTimeout(slot.deadline);
    slot.job = undefined;
    if (job === undefined) return undefined;
    const running = (this.#underWay.get(job.script) ?? 1) - 1;
    if (running > 0) this.#underWay.set(job.script, running);
    else this.#underWay.delete(job.script);
    return job;
  }

  #setDeadline(slot: Slot, afterMs: number, message: string): void {
    clearTimeout(slot.deadline);
    slot.deadline = setTimeout(
      () => this.#fail(slot, new ScriptFailed("timeout", message)),
      afterMs,
    );
  }
}

function closed(): ScriptFailed {
  return new ScriptFailed("busy", "no scripts are run any more");
}

function failureOf(error: Error & { readonly code?: string }): ScriptFailed {
  return error.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? new ScriptFailed("memory", "the script took more memory than it may")
    : new ScriptFailed("runtime", `the thread of the script failed: ${error.message}`);
}
