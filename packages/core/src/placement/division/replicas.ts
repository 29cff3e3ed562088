/**
 * How many replicas each of the selected clusters gets when replicas are divided.
 *
 *   static      by fixed weights, whatever the room
 *   dynamic     by room
 *   aggregated  by room, into as few clusters as possible
 *
 * 1. The shares sum up to the total, or the answer is `short`.
 * 2. Where a division exists already only the difference moves, unless all replicas are divided again (`anew`).
 * 3. A cluster that must not grow never gets more than it has.
 */
import { compareText } from "../../fields.ts";
import { divideByWeights, divideFurther } from "./webster.ts";

/** A selected cluster. */
export interface Shareholder {
  readonly name: string;
  /** What it has now. */
  readonly current: number;
  /** How many more it has room for. */
  readonly room: number;
  /** Its fixed weight. */
  readonly weight: number;
  readonly mayGrow: boolean;
  /** Pods of all workloads that it runs or was promised. */
  readonly load: number;
}

export type Division =
  | { readonly kind: "divided"; readonly shares: ReadonlyMap<string, number> }
  /** There is room for `available` replicas only. */
  | { readonly kind: "short"; readonly available: number };

export interface DivisionRequest {
  readonly total: number;
  readonly holders: readonly Shareholder[];
  readonly style: "static" | "dynamic" | "aggregated";
  /** Divide everything again, not only the difference. */
  readonly anew: boolean;
  /** Decides which clusters get the spare replicas: the uid of the workload. */
  readonly tieBreaker: string;
}

export function divideReplicas(request: DivisionRequest): Division {
  const { total, holders, style, anew } = request;
  const assigned = sumOf(holders, ({ current }) => current);
  if (style === "static") return anew || assigned === 0 ? divideWhole(request) : goOn(request);
  if (anew) return byRoom(request, total, ({ room, current }) => room + current, NOTHING);
  if (assigned > total) return byRoom(request, total, ({ current }) => current, NOTHING);
  if (assigned < total) return byRoom(request, total - assigned, ({ room }) => room, holders);
  return { kind: "divided", shares: new Map(holders.map(({ name, current }) => [name, current])) };
}

const NOTHING: readonly Shareholder[] = Object.freeze([]);

/** By fixed weights from nothing. A cluster that must not grow keeps what it has, and the others divide the rest. */
function divideWhole({ total, holders, tieBreaker }: DivisionRequest): Division {
  const fixed = new Map<string, number>();
  for (;;) {
    const free = holders.filter(({ name }) => !fixed.has(name));
    const left = total - sumOf([...fixed.values()], (share) => share);
    const shares = divideByWeights(left, free, tieBreaker);
    if (left > 0 && sumOf([...shares.values()], (share) => share) < left)
      return { kind: "short", available: total - left };
    const over = free.filter(
      ({ name, mayGrow, current }) => !mayGrow && (shares.get(name) ?? 0) > current,
    );
    if (over.length === 0) return { kind: "divided", shares: new Map([...fixed, ...shares]) };
    for (const { name, current } of over) fixed.set(name, current);
  }
}

/** By fixed weights, from what is there. */
function goOn({ total, holders, tieBreaker }: DivisionRequest): Division {
  const assigned = sumOf(holders, ({ current }) => current);
  const grows = total > assigned;
  if (grows && !holders.some(({ mayGrow, weight }) => mayGrow && weight > 0))
    return { kind: "short", available: assigned };
  const holdings = holders.map(({ name, weight, current, mayGrow }) => ({
    name,
    weight: grows && !mayGrow ? 0 : weight,
    seats: current,
  }));
  return { kind: "divided", shares: divideFurther(total, holdings, tieBreaker) };
}

/** Divides `seats` by room; the shares are added to what `base` has. */
function byRoom(
  { holders, style, tieBreaker }: DivisionRequest,
  seats: number,
  roomOf: (holder: Shareholder) => number,
  base: readonly Shareholder[],
): Division {
  const weights = holders.map((holder) => ({
    name: holder.name,
    weight: Math.max(0, roomOf(holder)),
    isUsed: holder.current > 0,
    load: holder.load,
  }));
  const available = sumOf(weights, ({ weight }) => weight);
  if (available < seats) return { kind: "short", available };
  const taking = style === "aggregated" ? fewest(weights, seats) : weights;
  const shares = divideByWeights(seats, taking, tieBreaker);
  for (const { name, current } of base) shares.set(name, (shares.get(name) ?? 0) + current);
  return { kind: "divided", shares };
}

interface RoomWeight {
  readonly name: string;
  readonly weight: number;
  readonly isUsed: boolean;
  readonly load: number;
}

/** The shortest row of clusters with enough room: those in use first, then those with the most room, then the least loaded. */
function fewest(weights: readonly RoomWeight[], seats: number): readonly RoomWeight[] {
  const ordered = weights.toSorted(
    (a, b) =>
      Number(b.isUsed) - Number(a.isUsed) ||
      b.weight - a.weight ||
      a.load - b.load ||
      compareText(a.name, b.name),
  );
  const taken: RoomWeight[] = [];
  let room = 0;
  for (const one of ordered) {
    if (room >= seats) break;
    taken.push(one);
    room += one.weight;
  }
  return taken;
}

function sumOf<T>(items: readonly T[], amountOf: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += amountOf(item);
  return sum;
}
