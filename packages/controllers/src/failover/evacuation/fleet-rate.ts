/**
 * How fast the fleet may be evacuated now, and whether a person paused that: read from the caches. A rate that a person set holds
 * until its time, measured by the clock of the plane; the releaser reconciles again then.
 */
import type { EvacuationBudget } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import {
  fleetHealth,
  isolationOf,
  type Lane,
  overrideOf,
  overrideUntil,
  passiveRateOf,
  type Rate,
  rateOf,
  type RateOptions,
} from "@lifeboat/core/failover/evacuation";
import type { PlaneContext } from "../../context/context.ts";
import type { Board } from "./board.ts";
import type { EvacuationMetrics } from "./metrics.ts";
import { FLEET_RECORD } from "../../context/fleet-record.ts";
import type { Wakes } from "./state.ts";

interface Parts {
  readonly context: Pick<PlaneContext, "informers" | "log" | "time">;
  readonly rates: RateOptions;
  readonly board: Board;
  readonly metrics: EvacuationMetrics;
  readonly wakes: Wakes;
}

export class FleetRate {
  readonly #parts: Parts;
  /** As they were when the releaser last read them. */
  #rate: Rate;
  #paused = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rate = rateOf({ failed: 0, counted: 0 }, parts.rates);
  }

  /** The rate at this moment, by the state of the fleet. */
  get now(): Rate {
    return this.#rateBy(this.#parts.context.informers.evacuationBudgets.get(FLEET_RECORD));
  }

  #rateBy(budget: EvacuationBudget | undefined): Rate {
    const { context, rates } = this.#parts;
    const all = context.informers.clusters.list();
    const { isolationAgreedAt, rateOverride } = budget?.spec ?? {};
    const { isIsolated } = isolationOf(all, isolationAgreedAt);
    const override = overrideOf(rateOverride, context.time.moment());
    return rateOf({ ...fleetHealth(all), isIsolated, override }, rates);
  }

  /** Until when a rate holds that a person set; undefined: none does. */
  get overriddenUntil(): Instant | undefined {
    const { context } = this.#parts;
    const { rateOverride } = context.informers.evacuationBudgets.get(FLEET_RECORD)?.spec ?? {};
    return overrideUntil(rateOverride, context.time.moment());
  }

  /** Whether a person paused all evacuations. */
  get isPausedNow(): boolean {
    return this.#parts.context.informers.evacuationBudgets.get(FLEET_RECORD)?.spec.paused ?? false;
  }

  /** The rate that was last read. */
  get last(): Rate {
    return this.#rate;
  }

  get wasPaused(): boolean {
    return this.#paused;
  }

  /** The rate of a lane, by what was last read. */
  ofLane(lane: Lane): number {
    return lane === "Workload"
      ? this.#rate.perSecond
      : passiveRateOf(this.#rate, this.#parts.rates);
  }

  /**
   * Reads the state of the fleet and of the budget; every recorder reconciles again when they changed. `budget`: as the server
   * has it, where that was asked for.
   */
  read(
    budget: EvacuationBudget | undefined = this.#parts.context.informers.evacuationBudgets.get(
      FLEET_RECORD,
    ),
  ): void {
    const { board, context, metrics, wakes } = this.#parts;
    const rate = this.#rateBy(budget);
    const paused = budget?.spec.paused ?? false;
    const isChanged =
      rate.perSecond !== this.#rate.perSecond ||
      rate.reason !== this.#rate.reason ||
      paused !== this.#paused;
    if (rate.reason !== this.#rate.reason)
      context.log.info("the rate of evictions changed", { ...rate });
    this.#rate = rate;
    this.#paused = paused;
    // seed: failed-clusters
    metrics.faultNum.set(rate.failed, {});
    metrics.faultRate.set(rate.failedShare, {});
    if (isChanged) for (const { cluster } of board.tracks) wakes.record(cluster);
  }
}
