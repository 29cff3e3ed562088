/**
 * A worker as its parent sees it: a process that gets one job at a time.
 *
 * 1. A job ends once: done, or lost with the worker, and then it is said why.
 * 2. A worker that says nothing for too long is killed; its job is lost.
 */
import { type ChildProcess, fork } from "node:child_process";
import type { Job, Message, RunReport } from "./work.ts";

export interface WorkerListener {
  run(report: RunReport): void;
  note(text: string): void;
}

export type JobEnd =
  | { readonly end: "done"; readonly rssBytes: number }
  | { readonly end: "lost"; readonly why: string };

export interface WorkerOptions {
  /** The program that serves jobs, and its arguments. */
  readonly entry: string;
  readonly args: readonly string[];
  /** How long a worker may say nothing while it has a job. */
  readonly silenceMs: number;
  /** Options of node; absent: those of this process. */
  readonly execArgv?: readonly string[];
}

/** What a process may take to start on a busy machine; it says that it has. */
const START_MS = 60_000;

export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #silenceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #listener: WorkerListener | undefined;
  #settle: ((end: JobEnd) => void) | undefined;
  #gone: string | undefined;
  #hasStarted = false;

  constructor({ entry, args, silenceMs, execArgv = process.execArgv }: WorkerOptions) {
    this.#silenceMs = silenceMs;
    this.#child = fork(entry, args, { execArgv: [...execArgv] });
    this.#child.on("message", (message) => this.#hear(message as Message));
    this.#child.on("error", (error) => this.#lose(error.message));
    this.#child.on("exit", (code, signal) =>
      this.#lose(signal === null ? `its process ended with code ${code}` : `${signal} ended it`),
    );
  }

  /** Gives it a job, while it has none. */
  run(job: Job, listener: WorkerListener): Promise<JobEnd> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#listener = listener;
      if (this.#gone !== undefined) return this.#lose(this.#gone);
      this.#waitOn();
      this.#child.send(job, (error) => {
        if (error !== null) this.#lose(error.message);
      });
    });
  }

  /** Ends the process; a job that it has is lost. */
  stop(): void {
    this.#child.kill("SIGKILL");
  }

  #hear(message: Message): void {
    this.#hasStarted = true;
    this.#waitOn();
    if (message.says === "run") this.#listener?.run(message.report);
    else if (message.says === "note") this.#listener?.note(message.text);
    else if (message.says === "done") this.#finish({ end: "done", rssBytes: message.rssBytes });
  }

  #waitOn(): void {
    clearTimeout(this.#timer);
    if (this.#settle === undefined) return;
    const limitMs = this.#hasStarted ? this.#silenceMs : Math.max(this.#silenceMs, START_MS);
    this.#timer = setTimeout(() => {
      this.#lose(`nothing was heard of it for ${limitMs / 1000} s`);
      this.stop();
    }, limitMs);
  }

  #lose(why: string): void {
    this.#gone ??= why;
    this.#finish({ end: "lost", why: this.#gone });
  }

  #finish(end: JobEnd): void {
    clearTimeout(this.#timer);
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(end);
  }
}
