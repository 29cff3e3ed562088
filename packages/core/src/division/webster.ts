/**
 * Dividing a number by weights: Webster's method (Sainte-Laguë). Seats go one by one to the name with the highest
 * weight / (2 × seats + 1).
 *
 * 1. The shares sum up to the total exactly, unless no weight is positive: then all shares are 0.
 * 2. Equal claims are decided by name: ascending, or descending when the hash of `tieBreaker` is odd, so that the spare
 *    replicas of different workloads do not all land on the same cluster.
 * 3. The cost grows with the number of names, not with the total: all but the last few seats of each name follow from
 *    its exact share.
 */
import { Heap } from "@lifeboat/base";
import { compareText } from "../fields.ts";
import { hashBytes } from "./hash.ts";

export interface Weight {
  readonly name: string;
  readonly weight: number;
}

interface Claim {
  readonly name: string;
  readonly weight: number;
  readonly seats: number;
}

/** The share of every name. Names are unique; weights and the total are whole numbers, negative ones count as 0. */
export function divideByWeights(
  total: number,
  weights: readonly Weight[],
  tieBreaker = "",
): Map<string, number> {
  const shares = new Map<string, number>(weights.map(({ name }) => [name, 0]));
  const claims = firstClaims(total, weights);
  const descending = tieBreaker !== "" && hashBytes(tieBreaker) % 2 === 1;
  const heap = new Heap<Claim>((a, b) => compareClaims(a, b, descending));
  let left = Math.max(0, total);
  for (const claim of claims) {
    heap.push(claim);
    shares.set(claim.name, claim.seats);
    left -= claim.seats;
  }
  for (; left > 0; left--) {
    const claim = heap.pop();
    if (claim === undefined) break;
    const seats = claim.seats + 1;
    shares.set(claim.name, seats);
    heap.push({ ...claim, seats });
  }
  return shares;
}

/**
 * What everybody is sure to get. With n names, n roundings by at most 1/2 each and the last round's ties move the
 * common divisor so little that a name ends less than 1.5 n × its part of all weights + 1.5 below its exact share.
 */
function firstClaims(total: number, weights: readonly Weight[]): Claim[] {
  const positive = weights.filter(({ weight }) => weight > 0);
  const sum = positive.reduce((all, { weight }) => all + weight, 0);
  return positive.map(({ name, weight }) => {
    const part = weight / sum;
    const sure = Math.floor(total * part - 1.5 * positive.length * part - 3);
    return { name, weight, seats: Math.max(0, sure) };
  });
}

function compareClaims(a: Claim, b: Claim, descending: boolean): number {
  const claimOfA = a.weight / (2 * a.seats + 1);
  const claimOfB = b.weight / (2 * b.seats + 1);
  if (claimOfA !== claimOfB) return claimOfB - claimOfA;
  return descending ? compareText(b.name, a.name) : compareText(a.name, b.name);
}
