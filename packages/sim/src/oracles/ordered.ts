/** What people ordered for the fleet, as the disk tells: pauses of clusters and namespaces, and rates for a time (D6, D7). */
import type { EvacuationBudget, KubeObject } from "@lifeboat/api";
import { parseTime } from "@lifeboat/base";
import { parseObject } from "../disk/ledger.ts";
import { BUDGETS } from "./pauses.ts";
import type { Truth } from "./truth.ts";

type Orders = EvacuationBudget["spec"];

/** What was ordered, and since when. */
interface Ordered {
  readonly at: number;
  readonly spec: Orders;
}

/** A rate that a person set, and when it holds: true time, by its order and not by any clock. */
export interface SetRate {
  readonly id: string;
  readonly perSecond: number;
  /** Only an upper bound. */
  readonly atMost: boolean;
  readonly from: number;
  readonly until: number;
}

const histories = new WeakMap<Truth, Ordered[]>();

/** All that people ordered for the fleet, oldest first; to be called before the first order. */
export function ordersOf(truth: Truth): readonly Ordered[] {
  const known = histories.get(truth);
  if (known !== undefined) return known;
  const all: Ordered[] = truth.ledger.objects("plane", BUDGETS).map(({ object }) => ({
    at: Number.NEGATIVE_INFINITY,
    spec: (object as KubeObject as EvacuationBudget).spec,
  }));
  histories.set(truth, all);
  truth.ledger.onChange(({ server, table, row, at }) => {
    if (server !== "plane" || table !== BUDGETS || row.type === "DELETED") return;
    all.push({ at, spec: (parseObject(row.bytes) as KubeObject as EvacuationBudget).spec });
  });
  return all;
}

/** Whether it was so ordered at every moment that the plane may still have known then. */
export function isOrdered(truth: Truth, at: number, holds: (spec: Orders) => boolean): boolean {
  const orders = ordersOf(truth);
  const from = orders.findLastIndex((one) => one.at <= at - truth.lagMs);
  return from >= 0 && orders.slice(from).every(({ spec }) => holds(spec));
}

/** The rate that was set last; undefined: none ever, or it was taken back. */
export function lastSetRate(truth: Truth): SetRate | undefined {
  return setRates(truth).at(-1);
}

/**
 * The rates that may have held at some moment since then, in evictions per second: those of the fleet itself, and what follows from
 * them and from the rates that people set. An upper bound is never more than the fleet's own.
 */
export function ratesSince(truth: Truth, since: number, own: readonly number[]): readonly number[] {
  const set = setRates(truth).flatMap((rate) =>
    rate !== undefined && rate.until > since ? [rate] : [],
  );
  return [
    ...own,
    ...set.flatMap(({ perSecond, atMost }) =>
      atMost ? own.map((one) => Math.min(one, perSecond)) : [perSecond],
    ),
  ];
}

/** By order, oldest first; undefined: no rate. */
function setRates(truth: Truth): readonly (SetRate | undefined)[] {
  const orders = ordersOf(truth);
  return orders.map(({ spec: { rateOverride } }, i) => {
    if (rateOverride === undefined) return undefined;
    const { setAt: id, until, perSecond, atMost = false } = rateOverride;
    const isSame = ({ spec }: Ordered): boolean => spec.rateOverride?.setAt === id;
    const from = orders.find(isSame)?.at ?? 0;
    const endsAt = (parseTime(until) ?? 0) - truth.ledger.timeAt(0);
    const next = orders.slice(i).find((one) => !isSame(one));
    return { id, perSecond, atMost, from, until: Math.min(endsAt, next?.at ?? Infinity) };
  });
}
