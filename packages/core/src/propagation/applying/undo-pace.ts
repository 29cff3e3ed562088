/**
 * How fast what others did to a copy is undone.
 *
 * Drift is undone at once. Drift that comes back again and again has a writer that undoes ours: a controller in the member,
 * or a second leader of ours that has not heard of the newest Work. Neither may cost either side more than a write now and
 * then.
 *
 *   the first three at once, then after 1 s, 2 s, 4 s … up to 30 s; a minute in which nothing was undone starts over
 *
 * Times are by the monotonic clock, in milliseconds.
 */
export interface Undone {
  /** How often in a row. */
  readonly times: number;
  readonly lastAt: number;
}

const FREE = 3;
const BASE_MS = 1000;
const CAP_MS = 30_000;
const CALM_MS = 60_000;

/** What is remembered after something was undone. */
export function undoneOnceMore(before: Undone | undefined, now: number): Undone {
  const isCalm = before === undefined || now - before.lastAt >= CALM_MS;
  return { times: isCalm ? 1 : before.times + 1, lastAt: now };
}

/** When the next change by others may be undone; undefined: at once. */
export function undoFrom(before: Undone | undefined): number | undefined {
  if (before === undefined || before.times < FREE) return undefined;
  return before.lastAt + Math.min(BASE_MS * 2 ** (before.times - FREE), CAP_MS);
}
