/**
 * Dividing a number by weights: Webster's method (Sainte-Laguë). Seats go one by one to the name with the highest
 * weight / (2 × seats + 1).
 *
 * 1. The shares sum up to the total exactly, unless no weight is positive: then all shares are 0.
 * 2. Of equal claims the one with fewer seats goes first, then they are decided by name: ascending, or descending when
 *    the hash of `tieBreaker` is odd, so that the spare replicas of different workloads do not all land on one cluster.
 * 3. Every seat has a fixed place in one order, so dividing one more adds one seat and moves none, and going on from a
 *    division (`divideFurther`) ends where dividing at once would have ended.
 * 4. The cost grows with the number of names, not with the total: all but the last few seats follow from a search for
 *    the lowest claim that is served.
 */
import { Heap } from "@lifeboat/base";
import { compareText } from "../../fields.ts";
import { hashBytes } from "./hash.ts";

export interface Weight {
  readonly name: string;
  readonly weight: number;
}

/** A name that has seats already. */
export interface Holding extends Weight {
  readonly seats: number;
}

/** The share of every name. Names are unique; weights and the total are whole numbers, negative ones count as 0. */
export function divideByWeights(
  total: number,
  weights: readonly Weight[],
  tieBreaker = "",
): Map<string, number> {
  const holdings = weights.map(({ name, weight }) => ({ name, weight, seats: 0 }));
  return divideFurther(total, holdings, tieBreaker);
}

/**
 * The shares after only the difference moved: missing seats go to the highest claims, seats too many are taken from the
 * lowest ones. A name without a weight gets nothing more and gives first.
 */
export function divideFurther(
  total: number,
  holdings: readonly Holding[],
  tieBreaker = "",
): Map<string, number> {
  const wanted = Math.max(0, total);
  const held = holdings.reduce((all, { seats }) => all + seats, 0);
  const descending = tieBreaker !== "" && hashBytes(tieBreaker) % 2 === 1;
  return wanted >= held
    ? withMore(wanted, holdings, held, descending)
    : withFewer(wanted, holdings, held, descending);
}

function withMore(
  wanted: number,
  holdings: readonly Holding[],
  held: number,
  descending: boolean,
): Map<string, number> {
  const shares = new Map<string, number>();
  const heap = new Heap<Holding>((a, b) => compareSeats(a, b, descending));
  let left = wanted - held;
  const searched = left > FEW * holdings.length ? search(wanted, holdings, sureOf) : undefined;
  const threshold = searched?.high ?? Infinity;
  for (const holding of holdings) {
    const seats = sureOf(holding, threshold);
    shares.set(holding.name, seats);
    left -= seats - holding.seats;
  }
  const claimants = holdings.filter(({ weight }) => weight > 0);
  for (const one of bestOf(left, claimants, shares, descending)) heap.push(one);
  for (; left > 0; left--) {
    const next = heap.pop();
    if (next === undefined) break;
    const seats = next.seats + 1;
    shares.set(next.name, seats);
    heap.push({ name: next.name, weight: next.weight, seats });
  }
  return shares;
}

/** The names that can get any of so many seats: no more than there are seats, those with the highest claims. */
function bestOf(
  seats: number,
  claimants: readonly Holding[],
  shares: ReadonlyMap<string, number>,
  descending: boolean,
): readonly Holding[] {
  const claims = claimants.map(({ name, weight }) => ({
    name,
    weight,
    seats: shares.get(name) ?? 0,
  }));
  if (seats >= claims.length) return claims;
  const best = new Heap<Holding>((a, b) => compareSeats(b, a, descending));
  for (const claim of claims) {
    const worst = best.peek();
    if (best.size < seats) best.push(claim);
    else if (worst !== undefined && compareSeats(claim, worst, descending) < 0) {
      best.pop();
      best.push(claim);
    }
  }
  const kept: Holding[] = [];
  for (let one = best.pop(); one !== undefined; one = best.pop()) kept.push(one);
  return kept;
}

function withFewer(
  wanted: number,
  holdings: readonly Holding[],
  held: number,
  descending: boolean,
): Map<string, number> {
  const shares = new Map<string, number>();
  // The last seat of each; the worst claim on top.
  const heap = new Heap<Holding>((a, b) => compareSeats(b, a, descending));
  let over = held - wanted;
  const givers = holdings.map((one) => ({ ...one, weight: Math.max(one.weight, TINY) }));
  const searched = over > FEW * holdings.length ? search(wanted, givers, keptOf) : undefined;
  for (const giver of givers) {
    const seats = keptOf(giver, searched?.low ?? 0);
    shares.set(giver.name, seats);
    over -= giver.seats - seats;
    if (seats > 0) heap.push({ ...giver, seats: seats - 1 });
  }
  for (; over > 0; over--) {
    const worst = heap.pop();
    if (worst === undefined) break;
    shares.set(worst.name, worst.seats);
    if (worst.seats > 0) heap.push({ ...worst, seats: worst.seats - 1 });
  }
  return shares;
}

/** Below this many seats per name a search costs more than it saves. */
const FEW = 4;
/** The weight of those without one when seats are taken away: they give before all others, but can be compared. */
const TINY = 1e-18;

/** How many seats of a name have a claim above the threshold: weight / (2 × seat + 1) > threshold. */
function above(weight: number, threshold: number): number {
  return weight > 0 ? Math.max(0, Math.ceil((weight / threshold - 1) / 2)) : 0;
}

function sureOf({ weight, seats }: Holding, threshold: number): number {
  return threshold === Infinity ? seats : Math.max(seats, above(weight, threshold));
}

function keptOf({ weight, seats }: Holding, threshold: number): number {
  return threshold === 0 ? seats : Math.min(seats, above(weight, threshold));
}

/** Two thresholds close together: above `high` lie at most the wanted seats, above `low` more. Undefined: no weights. */
function search(
  wanted: number,
  holdings: readonly Holding[],
  seatsOf: (holding: Holding, threshold: number) => number,
): { readonly low: number; readonly high: number } | undefined {
  let high = 0;
  let low = Infinity;
  for (const { weight, seats } of holdings) {
    if (weight <= 0) continue;
    high = Math.max(high, weight * 2);
    low = Math.min(low, weight / (4 * Math.max(seats, wanted) + 8));
  }
  if (high === 0) return undefined;
  const count = (threshold: number): number =>
    holdings.reduce((all, holding) => all + seatsOf(holding, threshold), 0);
  for (let step = 0; step < 100 && high / low > CLOSE; step++) {
    const middle = Math.sqrt(low) * Math.sqrt(high);
    if (count(middle) <= wanted) high = middle;
    else low = middle;
  }
  return { low: low / CLOSE, high: high * CLOSE };
}

/** Close enough, and more than any rounding. */
const CLOSE = 1 + 1e-9;

/** The order of seats: `seats` counts those that the name has before this one. */
function compareSeats(a: Holding, b: Holding, descending: boolean): number {
  const claimOfA = a.weight / (2 * a.seats + 1);
  const claimOfB = b.weight / (2 * b.seats + 1);
  if (claimOfA !== claimOfB) return claimOfB - claimOfA;
  if (a.seats !== b.seats) return a.seats - b.seats;
  return descending ? compareText(b.name, a.name) : compareText(a.name, b.name);
}
