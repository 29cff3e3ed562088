/** How fast the fleet may be evacuated now, and whether a person paused that: read from the caches. */
import {
  fleetHealth,
  isolationOf,
  type Lane,
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
  readonly context: Pick<PlaneContext, "informers" | "log">;
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
    const { context, rates } = this.#parts;
    const { clusters, evacuationBudgets } = context.informers;
    const all = clusters.list();
    const { isIsolated } = isolationOf(
      all,
      evacuationBudgets.get(FLEET_RECORD)?.spec.isolationAgreedAt,
    );
    return rateOf({ ...fleetHealth(all), isIsolated }, rates);
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

  /** Reads the state of the fleet and of the budget; every recorder reconciles again when they changed. */
  read(): void {
    const { board, context, metrics, wakes } = this.#parts;
    const { now: rate, isPausedNow: paused } = this;
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
