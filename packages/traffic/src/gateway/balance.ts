/**
 * Which backend of a pool gets the next request: in turn, by weight, so that a backend of weight 2 gets every second or third
 * request and never two thirds at once.
 */
export interface Weighted {
  readonly weight: number;
  /** What it is owed; changed by `nextOf` alone. */
  credit: number;
}

/** Chooses among the candidates; undefined when there are none. */
export function nextOf<T extends Weighted>(candidates: readonly T[]): T | undefined {
  let total = 0;
  let best: T | undefined;
  for (const one of candidates) {
    total += one.weight;
    one.credit += one.weight;
    if (best === undefined || one.credit > best.credit) best = one;
  }
  if (best !== undefined) best.credit -= total;
  return best;
}
