/**
 * What keeps workloads where they are although the taint of a dead cluster moves them: the pauses that people ordered, and the rate
 * that the fleet has with one more dead cluster in it. `explain` and a foreseen failure both ask here, so they cannot disagree.
 */
import type { Cluster, EvacuationBudget, ResourceBinding } from "@lifeboat/api";
import { type Instant, plainMoment } from "@lifeboat/base";
import { isolationOf } from "../failover/evacuation/isolation.ts";
import { isClusterPaused, isNamespacePaused } from "../failover/evacuation/pauses.ts";
import type { Lane } from "../failover/evacuation/queue.ts";
import {
  type FleetHealth,
  fleetHealth,
  overrideOf,
  overrideUntil,
  passiveRateOf,
  type Rate,
  rateOf,
  type RateOptions,
} from "../failover/evacuation/rate.ts";

type BudgetSpec = EvacuationBudget["spec"] | undefined;

/** The pause that keeps a workload in the cluster; undefined: none does. */
export function pauseOf(
  budget: BudgetSpec,
  cluster: string,
  { metadata: { namespace = "" } }: Pick<ResourceBinding, "metadata">,
): string | undefined {
  if (budget?.paused === true) return "evacuations are paused";
  if (isClusterPaused(budget, cluster)) return `${cluster} is paused`;
  if (isNamespacePaused(budget, namespace)) return `the namespace ${namespace} is paused`;
  return undefined;
}

/** The rate of a fleet in which one more cluster is dead. */
export class RateWhenDead {
  readonly #health: FleetHealth;
  readonly #budget: BudgetSpec;
  readonly #rates: RateOptions;

  /** `dead`: the cluster as the taint policies would make it. */
  constructor(dead: Cluster, clusters: readonly Cluster[], budget: BudgetSpec, rates: RateOptions) {
    const { name } = dead.metadata;
    const fleet = clusters.map((one) => (one.metadata.name === name ? dead : one));
    const { isIsolated } = isolationOf(fleet, budget?.isolationAgreedAt);
    this.#health = { ...fleetHealth(fleet), isIsolated };
    this.#budget = budget;
    this.#rates = rates;
  }

  at(at: Instant): Rate {
    const override = overrideOf(this.#budget?.rateOverride, plainMoment(at));
    return rateOf({ ...this.#health, override }, this.#rates);
  }

  /** Releases per second of a lane. */
  perSecond(lane: Lane, at: Instant): number {
    const rate = this.at(at);
    return lane === "Workload" ? rate.perSecond : passiveRateOf(rate, this.#rates);
  }

  /**
   * The first moment from `at` on when something may move; undefined: never. Only the rate that a person set ends by time: a rate of 0
   * that the fleet itself gives lasts as long as the failure.
   */
  firstMoveFrom(at: Instant): Instant | undefined {
    if (this.at(at).perSecond > 0) return at;
    const until = overrideUntil(this.#budget?.rateOverride, plainMoment(at));
    return until !== undefined && this.at(until).perSecond > 0 ? until : undefined;
  }
}
