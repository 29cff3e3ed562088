/** How commands read the rate of the fleet, and record one that a person sets for a time. */
import { clusters } from "@lifeboat/api";
import { addMs, formatTime, type Instant, plainMoment } from "@lifeboat/base";
import { changeRecord, readRecord } from "@lifeboat/controllers/context";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import {
  fleetHealth,
  isolationOf,
  overrideOf,
  type Rate,
  rateOf,
} from "@lifeboat/core/failover/evacuation";
import type { Client } from "@lifeboat/kit";
import { ratesOf } from "./status-text.ts";

/** `withOverride`: false for the rate that the fleet itself would have. */
export async function rateNow(plane: Client, now: Instant, withOverride = true): Promise<Rate> {
  const { items } = await plane.list(clusters);
  const { isolationAgreedAt, rateOverride } = (await readRecord(plane))?.spec ?? {};
  const { isIsolated } = isolationOf(items, isolationAgreedAt);
  const override = withOverride ? overrideOf(rateOverride, plainMoment(now)) : undefined;
  const rates = ratesOf(await readPublished(plane));
  return rateOf({ ...fleetHealth(items), isIsolated, override }, rates);
}

/** Records the rate; answers until when it holds. */
export async function setRateFor(
  plane: Client,
  perSecond: number,
  forMs: number,
  reason: string,
  now: Instant,
): Promise<string> {
  const until = formatTime(addMs(now, forMs));
  const rateOverride = { perSecond, setAt: formatTime(now), until, reason };
  await changeRecord(plane, (parts) => ({ ...parts, spec: { ...parts.spec, rateOverride } }));
  return until;
}
