/** How commands read the rate of the fleet, and record one that a person sets for a time. */
import { clusters, type EvacuationBudget } from "@lifeboat/api";
import { addMs, formatTime, type Instant, plainMoment } from "@lifeboat/base";
import { changeRecord, readRecord } from "@lifeboat/controllers/context";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import {
  fleetHealth,
  isolationOf,
  overrideOf,
  overrideUntil,
  type Rate,
  rateOf,
  type SetRate,
} from "@lifeboat/core/failover/evacuation";
import type { Client } from "@lifeboat/kit";
import { ratesOf } from "./status-text.ts";

export type RateOverride = NonNullable<EvacuationBudget["spec"]["rateOverride"]>;

/** The rate that holds, and that with another order of a person, or with none. */
export interface FleetRates {
  readonly now: Rate;
  /** What a person ordered, whether or not it still holds. */
  readonly ordered: RateOverride | undefined;
  with(override: SetRate | undefined): Rate;
}

export async function ratesAt(plane: Client, now: Instant): Promise<FleetRates> {
  const { items } = await plane.list(clusters);
  const { isolationAgreedAt, rateOverride: ordered } = (await readRecord(plane))?.spec ?? {};
  const { isIsolated } = isolationOf(items, isolationAgreedAt);
  const rates = ratesOf(await readPublished(plane));
  const health = { ...fleetHealth(items), isIsolated };
  const withOne = (override: SetRate | undefined): Rate => rateOf({ ...health, override }, rates);
  return { now: withOne(overrideOf(ordered, plainMoment(now))), ordered, with: withOne };
}

/** Records the rate. */
export async function recordRate(plane: Client, rateOverride: RateOverride): Promise<void> {
  await changeRecord(plane, (parts) => ({ ...parts, spec: { ...parts.spec, rateOverride } }));
}

/**
 * Half of what holds now. It never lets more go than the fleet itself would: the rate is an upper bound, so every brake holds. Where a
 * person overrules the brakes already, that order keeps its end: half of it is still that person's word, and no longer one.
 */
export function halfOf(
  perSecond: number,
  before: RateOverride | undefined,
  ends: { readonly now: Instant; readonly forMs: number },
  reason: string,
): RateOverride {
  const { now, forMs } = ends;
  const held = overrideUntil(before, plainMoment(now));
  const isBound = held === undefined || before?.atMost === true;
  const least = addMs(now, forMs);
  const until = held === undefined || (isBound && held < least) ? least : held;
  return {
    perSecond: Number((perSecond / 2).toPrecision(3)),
    ...(isBound && { atMost: true }),
    setAt: formatTime(now),
    until: formatTime(until),
    reason,
  };
}
