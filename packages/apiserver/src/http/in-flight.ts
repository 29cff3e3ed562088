/**
 * How many requests may be worked on at once. What is too much is refused at once with 429 and a time to come back; watches are not
 * counted.
 *
 * 1. Reads, writes and requests for Leases are counted apart, so that a flood of one does not stop the others. Leases are signs of
 *    life: whatever else is going on, they get through.
 * 2. Once half of the room is taken, a user has no more of it than its part, by the number of users that are being served. What
 *    all of them have is then less than the whole, so there is room for a user that has nothing yet: no user, and no number of
 *    users up to the limit, shuts others out.
 */
import { failure, Refused } from "@lifeboat/api";
import type { HttpMetrics } from "./metrics.ts";

export interface InFlightLimits {
  readonly reads: number;
  /** Also of requests for Leases, which are counted apart. */
  readonly writes: number;
}

export type RequestKind = "readOnly" | "mutating" | "lease";

/** As what a request that is no watch counts. */
export function requestKind(
  verb: string,
  { group, plural }: { readonly group: string; readonly plural: string },
): RequestKind {
  if (group === "coordination.k8s.io" && plural === "leases") return "lease";
  return verb === "get" || verb === "list" ? "readOnly" : "mutating";
}

/** What is being worked on, of one kind, when a user asks for one more. */
export interface Room {
  readonly limit: number;
  readonly total: number;
  /** Of the user that asks. */
  readonly own: number;
  /** How many users have something in it. */
  readonly users: number;
}

/** Whether one more request is let in. */
export function admits({ limit, total, own, users }: Room): boolean {
  if (total >= limit) return false;
  if (total < limit / 2 || own === 0) return true;
  return own < Math.floor(limit / (users + 1));
}

export class InFlight {
  readonly #pools: Readonly<Record<RequestKind, Pool>>;
  readonly #metrics: HttpMetrics;

  constructor({ reads, writes }: InFlightLimits, metrics: HttpMetrics) {
    this.#pools = {
      readOnly: new Pool(reads),
      mutating: new Pool(writes),
      lease: new Pool(writes),
    };
    this.#metrics = metrics;
  }

  /** Runs `work` of a user if there is room, refuses otherwise. */
  async run<T>(kind: RequestKind, user: string, work: () => Promise<T>): Promise<T> {
    const pool = this.#pools[kind];
    if (!admits(pool.roomFor(user))) {
      this.#metrics.rejected.add(1, { request_kind: kind });
      throw tooManyRequests();
    }
    pool.change(user, 1);
    this.#metrics.inFlight.set(pool.total, { request_kind: kind });
    try {
      return await work();
    } finally {
      pool.change(user, -1);
      this.#metrics.inFlight.set(pool.total, { request_kind: kind });
    }
  }
}

class Pool {
  total = 0;
  readonly #limit: number;
  readonly #byUser = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  roomFor(user: string): Room {
    const own = this.#byUser.get(user) ?? 0;
    return { limit: this.#limit, total: this.total, own, users: this.#byUser.size };
  }

  change(user: string, by: number): void {
    this.total += by;
    const now = (this.#byUser.get(user) ?? 0) + by;
    if (now === 0) this.#byUser.delete(user);
    else this.#byUser.set(user, now);
  }
}

function tooManyRequests(): Refused {
  return new Refused(
    failure(429, "TooManyRequests", "Too many requests, please try again later.", {
      retryAfterSeconds: 1,
    }),
  );
}
