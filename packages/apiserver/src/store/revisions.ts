/**
 * The revisions that the store gives out, and the durable ceiling above them.
 *
 * 1. Revisions only grow, also across restarts: an opened store goes on from the ceiling that it found.
 * 2. The ceiling that covers a revision is durable before a client can read the revision. A revision that no client has
 *    read, because a crash lost its group together with the ceiling, may be given out again by the next process.
 */

/** How far ahead of the revisions the ceiling is raised; it is raised again when half of them are given out. */
const CEILING_STEP = 10_000;

export class Revisions {
  #last: number;
  #ceiling: number;

  constructor(ceiling: number) {
    this.#last = ceiling;
    this.#ceiling = ceiling;
  }

  /** The revision that the next write gets. */
  get next(): number {
    return this.#last + 1;
  }

  /** Gives out `next`. */
  take(): void {
    this.#last += 1;
  }

  /** The ceiling that the next group has to make durable; undefined while the present one is high enough. */
  get ceilingToRaise(): number | undefined {
    return this.#last > this.#ceiling - CEILING_STEP / 2 ? this.#last + CEILING_STEP : undefined;
  }

  /** This ceiling is durable. */
  raised(ceiling: number): void {
    this.#ceiling = ceiling;
  }
}
