/**
 * How many requests may be worked on at once. Reads and writes are counted apart, so that a flood of one does not stop
 * the other; watches are not counted. What is too much is refused at once with 429 and a time to come back.
 */
import { failure, Refused } from "@lifeboat/api";
import type { HttpMetrics } from "./metrics.ts";

export interface InFlightLimits {
  readonly reads: number;
  readonly writes: number;
}

type RequestKind = "readOnly" | "mutating";

export class InFlight {
  readonly #limits: Readonly<Record<RequestKind, number>>;
  readonly #metrics: HttpMetrics;
  readonly #counts: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };

  constructor(limits: InFlightLimits, metrics: HttpMetrics) {
    this.#limits = { readOnly: limits.reads, mutating: limits.writes };
    this.#metrics = metrics;
  }

  /** Runs `work` if there is room, refuses otherwise. */
  async run<T>(kind: RequestKind, work: () => Promise<T>): Promise<T> {
    if (this.#counts[kind] >= this.#limits[kind]) {
      this.#metrics.rejected.add(1, { request_kind: kind });
      throw tooManyRequests();
    }
    this.#change(kind, 1);
    try {
      return await work();
    } finally {
      this.#change(kind, -1);
    }
  }

  #change(kind: RequestKind, by: number): void {
    this.#counts[kind] += by;
    this.#metrics.inFlight.set(this.#counts[kind], { request_kind: kind });
  }
}

function tooManyRequests(): Refused {
  return new Refused(
    failure(429, "TooManyRequests", "Too many requests, please try again later.", {
      retryAfterSeconds: 1,
    }),
  );
}
