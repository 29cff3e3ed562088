/**
 * Waiting for the head of an answer, over HTTP/1.1 or in a tunnel: it comes, it fails, the caller leaves, or the time is over.
 * Whatever happens first counts, and the rest is forgotten.
 */
import type { Readable, Writable } from "node:stream";

/** No answer in time. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/** How long the head of an answer may take after the last piece of the request. */
export const ANSWER_TIMEOUT_MS = 65_000;

export class AwaitedAnswer {
  readonly #signal: AbortSignal;
  readonly #fail: (error: Error) => void;
  #isSettled = false;
  #timer: ReturnType<typeof setTimeout>;

  /** `failed` is called at most once, and not after `settle`. */
  constructor(signal: AbortSignal, failed: (error: Error) => void) {
    this.#signal = signal;
    this.#fail = (error) => {
      if (this.settle()) failed(error);
    };
    this.#timer = this.#begin();
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** The answer is there, or will not come; true once. */
  settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
    return true;
  }

  fail(error: Error): void {
    this.#fail(error);
  }

  /** A piece of the request has left: the time begins again. */
  readonly progress = (): void => {
    clearTimeout(this.#timer);
    if (!this.#isSettled) this.#timer = this.#begin();
  };

  readonly #onAbort = (): void => this.#fail(new Error("the caller is gone"));

  #begin(): ReturnType<typeof setTimeout> {
    const message = `no answer within ${ANSWER_TIMEOUT_MS / 1000} s`;
    return setTimeout(() => this.#fail(new NoAnswer(message)), ANSWER_TIMEOUT_MS);
  }
}

/** Sends a body at the speed at which it is taken. A body that breaks off breaks the request off. */
export function pump(source: Readable, request: Writable, onProgress: () => void): void {
  let hasEnded = false;
  source.on("data", onProgress);
  source.once("end", () => {
    hasEnded = true;
  });
  const breakOff = (): void => {
    if (!hasEnded) request.destroy(new Error("the body of the request broke off"));
  };
  source.on("error", breakOff);
  source.once("close", breakOff);
  // The member may answer before it has read everything: the rest is for no reader.
  request.once("close", () => {
    source.unpipe(request);
    source.off("data", onProgress);
    source.resume();
  });
  source.pipe(request);
}
