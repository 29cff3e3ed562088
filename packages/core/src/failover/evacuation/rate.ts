/**
 * How fast workloads may be moved over the whole fleet: a function of how much of the fleet has failed (D6).
 *
 *   most Pull clusters fell silent      0    within a minute: the control plane may be cut off (isolation.ts)
 *   a person set a rate                 that rate, until its time is over, also where those below give 0
 *   a person set an upper bound         that rate until its time is over, and less where those below give less
 *   every counted cluster failed        0    "everything is down" means "I am cut off"
 *   failed share above the threshold    the secondary rate in a large fleet, 0 in a small one
 *   otherwise                           the configured rate
 *
 * A rate that a person set does not go on while the control plane may be cut off: for that there is another order,
 * `lifeboat evacuations agree`, which names the clusters.
 *
 * A cluster has failed when it bears an evicting taint. One that a person drains counts neither as failed nor at all.
 */
import type { Cluster, EvacuationBudget } from "@lifeboat/api";
import { EVICTING_EFFECTS } from "@lifeboat/api";
import { type Instant, type Moment, parseTime } from "@lifeboat/base";
import { isDrained } from "../../binding/index.ts";
import { defineReasons } from "../../plan.ts";

export interface RateOptions {
  /** `--resource-eviction-rate`, per second. */
  readonly rate: number;
  /** `--secondary-resource-eviction-rate`, per second. */
  readonly secondaryRate: number;
  /** `--unhealthy-cluster-threshold`: a share of the fleet, 0 to 1. */
  readonly unhealthyThreshold: number;
  /** `--large-cluster-num-threshold`: fleets with more clusters are large. */
  readonly largeFleetThreshold: number;
}

export const DEFAULT_RATES: RateOptions = Object.freeze({
  rate: 0.5,
  secondaryRate: 0.1,
  unhealthyThreshold: 0.55,
  largeFleetThreshold: 10,
});

export const rateReasons = defineReasons({
  FleetHealthy: "Enough of the fleet is healthy: workloads move at the configured rate.",
  FleetUnhealthy: "Too much of a large fleet has failed: workloads move at the secondary rate.",
  FleetTooUnhealthy: "Too much of a small fleet has failed: nothing moves.",
  EverythingFailed:
    "Every cluster looks failed, which more likely means that this control plane is cut off: nothing moves.",
  PlaneMayBeIsolated:
    "More than half of the Pull clusters fell silent within a minute, so this control plane may be cut off: nothing moves.",
  RateZero: "The configured rate is 0: nothing moves.",
  SetByPerson: "A person set this rate for a time.",
});

export type RateReason = keyof typeof rateReasons;

/** The state of the fleet as far as the rate is concerned. */
export interface FleetHealth {
  readonly failed: number;
  readonly counted: number;
  /** Whether so many Pull clusters fell silent together that the control plane may be cut off (isolation.ts). */
  readonly isIsolated?: boolean;
  /** The rate that a person set and that holds now. */
  readonly override?: SetRate | undefined;
}

/** A rate that a person set. */
export interface SetRate {
  /** Releases per second. */
  readonly perSecond: number;
  /** Only an upper bound: the brakes hold. */
  readonly atMost?: boolean;
}

export interface Rate {
  /** Releases per second. */
  readonly perSecond: number;
  readonly reason: RateReason;
  readonly failed: number;
  readonly counted: number;
  /** 0 to 1. */
  readonly failedShare: number;
}

/** Whether a cluster bears a taint that moves workloads away. */
export function isFailed(cluster: Pick<Cluster, "spec">): boolean {
  return (cluster.spec.taints ?? []).some(({ effect }) => EVICTING_EFFECTS.includes(effect));
}

export function fleetHealth(clusters: readonly Pick<Cluster, "spec">[]): FleetHealth {
  const counted = clusters.filter((cluster) => !isDrained(cluster));
  return { failed: counted.filter(isFailed).length, counted: counted.length };
}

/** The rate for a fleet in this state. */
export function rateOf(health: FleetHealth, options: RateOptions): Rate {
  const { override } = health;
  const own = ownRate(health, options);
  if (override === undefined || own.reason === "PlaneMayBeIsolated") return own;
  const isBound = override.atMost === true;
  if (isBound && own.perSecond <= override.perSecond) return own;
  return { ...own, perSecond: Math.max(0, override.perSecond), reason: "SetByPerson" };
}

/** The rate that the fleet itself gives. */
function ownRate({ failed, counted, isIsolated = false }: FleetHealth, options: RateOptions): Rate {
  const failedShare = counted === 0 ? 0 : failed / counted;
  const answer = (perSecond: number, reason: RateReason): Rate => ({
    perSecond: perSecond > 0 ? perSecond : 0,
    reason: perSecond > 0 || reason !== "FleetHealthy" ? reason : "RateZero",
    failed,
    counted,
    failedShare,
  });
  // seed: may-be-isolated
  if (isIsolated) return answer(0, "PlaneMayBeIsolated");
  // A drain of the only cluster still goes at the configured rate: nothing has failed.
  if (counted === 0) return answer(options.rate, "FleetHealthy");
  // seed: everything-failed
  if (failed === counted) return answer(0, "EverythingFailed");
  if (failedShare <= options.unhealthyThreshold) return answer(options.rate, "FleetHealthy");
  if (counted > options.largeFleetThreshold) return answer(options.secondaryRate, "FleetUnhealthy");
  return answer(0, "FleetTooUnhealthy");
}

type RateOverride = NonNullable<EvacuationBudget["spec"]["rateOverride"]>;

/** Until when the rate holds that a person set; undefined: none holds now. A time that cannot be read is over. */
export function overrideUntil(
  override: RateOverride | undefined,
  { now, due }: Moment,
): Instant | undefined {
  const setAt = parseTime(override?.setAt ?? "");
  const until = parseTime(override?.until ?? "");
  if (setAt === undefined || until === undefined) return undefined;
  const endsAt = due(setAt, until - setAt);
  return endsAt > now ? endsAt : undefined;
}

/** The rate that a person set, while it holds. */
export function overrideOf(
  override: RateOverride | undefined,
  moment: Moment,
): SetRate | undefined {
  return overrideUntil(override, moment) === undefined ? undefined : override;
}

/** `0.5 per second`, `at most 0.5 per second`. */
export function setRateText({ perSecond, atMost }: SetRate): string {
  return `${atMost === true ? "at most " : ""}${perSecond} per second`;
}

const PASSIVE_PER_SECOND = 10;

/**
 * The rate of what has neither replicas nor health: 10 per second, slowed by the same brake in the same proportion (D6).
 */
export function passiveRateOf(
  { perSecond }: Pick<Rate, "perSecond">,
  options: RateOptions,
): number {
  if (!(perSecond > 0)) return 0;
  // Only a person's rate is above 0 where the configured one is 0: there is no proportion to keep.
  if (!(options.rate > 0)) return PASSIVE_PER_SECOND;
  return PASSIVE_PER_SECOND * Math.min(1, perSecond / options.rate);
}
