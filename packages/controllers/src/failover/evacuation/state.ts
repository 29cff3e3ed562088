/**
 * What recorder and releaser of evacuations both read, and how one of them is asked to reconcile again. Neither knows the other.
 */
import type { PurgeMode } from "@lifeboat/core/binding";
import type { RateOptions } from "@lifeboat/core/failover/evacuation";
import type { PlaneContext } from "../../context/context.ts";
import type { Board } from "./board.ts";
import type { FleetRate } from "./fleet-rate.ts";
import type { EvacuationMetrics } from "./metrics.ts";
import type { Statistics } from "./statistics.ts";

export interface EvacuationState {
  readonly context: PlaneContext;
  /** The gate `Failover`. */
  readonly failover: boolean;
  /** The gate `StatefulFailoverInjection`: whether state is kept at all. */
  readonly keepsState: boolean;
  readonly defaultPurgeMode: PurgeMode;
  readonly rates: RateOptions;
  readonly board: Board;
  readonly fleetRate: FleetRate;
  readonly statistics: Statistics;
  readonly metrics: EvacuationMetrics;
  readonly wakes: Wakes;
}

/** Asks for another reconcile. */
export interface Wakes {
  /** Something about the evacuations of this cluster changed. */
  record(cluster: string): void;
  /** An entry may be released that could not before. */
  release(): void;
}
