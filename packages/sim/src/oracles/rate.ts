/**
 * Oracles of group C: the rate of evictions (D6).
 *
 * The rate that counts is that of the true fleet at the decision, or one that a person set, from its order until its time; news may
 * take a while, so the fastest of the last moments (`lagMs`) counts. At more than one per second a reservation is for as many as a second allows, at most 100 (D6). Time is
 * true time: how the plane's clock goes makes no difference.
 */
import type { EvacuationBudget, KubeObject } from "@lifeboat/api";
import { parseObject } from "../disk/ledger.ts";
import { type Decision, Eligibility, isPassive, onDecisions } from "./decisions.ts";
import type { Counts, KnownFleet } from "./fleet.ts";
import type { AlwaysOracle } from "./oracle.ts";
import { ordersOf, ratesSince } from "./ordered.ts";
import { BUDGETS } from "./pauses.ts";
import type { Truth } from "./truth.ts";

const SECOND_MS = 1000;
const PASSIVE_PER_SECOND = 10;
const MOST_TOKENS = 100;

export const alwaysOracles: readonly AlwaysOracle[] = [
  onDecisions(
    "evictions-keep-the-rate",
    "C1: over any stretch of time at most one eviction more than the rate allows, over all kinds, clusters, restarts and lost answers (D6)",
    (truth, eligibility) => {
      const punctuality = new Punctuality(truth);
      let fullAt = Number.NEGATIVE_INFINITY;
      return (decision) => {
        truth.evictions.push(decision.at);
        const { costMs, aheadMs } = tokenOf(decision, truth, eligibility);
        if (punctuality.isLost(decision)) fullAt = decision.at;
        const earlyMs = fullAt - aheadMs - decision.at;
        fullAt = Math.max(fullAt, decision.at) + costMs;
        return punctuality.isTooEarly(earlyMs) ? `${earlyMs} ms before the rate allows` : undefined;
      };
    },
  ),
  onDecisions(
    "evictions-follow-the-fleet",
    "C2: the rate is that of the fleet as it is: nobody is evicted while it is 0",
    (truth, eligibility) => (decision) =>
      rateOf(decision, truth, eligibility) > 0 ? undefined : "the rate is 0",
  ),
  {
    name: "the-budget-counts-the-fleet",
    promise:
      "C2: a reservation is made for the fleet as it is: failed clusters, counted clusters and the rate that follows",
    on: "plane",
    tables: [BUDGETS],
    start: (truth) => {
      const { fleet } = Eligibility.of(truth);
      ordersOf(truth);
      return ({ at, row, previous }) => {
        if (row.type === "DELETED") return [];
        const { status } = parseObject(row.bytes) as KubeObject as EvacuationBudget;
        const before = (previous?.object as KubeObject as EvacuationBudget | undefined)?.status;
        if (status?.reservedUntil === before?.reservedUntil) return [];
        const { failedClusters, countedClusters, ratePerSecond = 0 } = status ?? {};
        const isTrue = fleet
          .countsSince(at - truth.lagMs)
          .some(
            (counts) =>
              counts.failed === failedClusters &&
              counts.counted === countedClusters &&
              ratesSince(truth, at - truth.lagMs, [fleetRate(counts, truth)]).includes(
                ratePerSecond,
              ),
          );
        return isTrue
          ? []
          : [`${failedClusters} of ${countedClusters} failed, ${ratePerSecond}/s, says the budget`];
      };
    },
  },
  onDecisions(
    "stops-are-not-caught-up",
    "C3: after a stop evictions go on at the rate: tokens never accumulate beyond one (D6)",
    (truth, eligibility) => {
      const punctuality = new Punctuality(truth);
      let last = Number.NEGATIVE_INFINITY;
      let wentOnAt = Number.NEGATIVE_INFINITY;
      let debtMs = 0;
      return (decision) => {
        const { at } = decision;
        const { costMs, aheadMs } = tokenOf(decision, truth, eligibility);
        if (punctuality.isLost(decision) || at - last > STOP_TOKENS * costMs)
          [wentOnAt, debtMs] = [at, 0];
        last = at;
        const earlyMs = debtMs - aheadMs - (at - wentOnAt);
        debtMs += costMs;
        return punctuality.isTooEarly(earlyMs) ? `${earlyMs} ms ahead after a stop` : undefined;
      };
    },
  ),
  onDecisions(
    "restarts-grant-no-token",
    "C4: a restart grants no eviction: the last one counts on",
    (truth, eligibility) => {
      const punctuality = new Punctuality(truth);
      let before: { readonly lives: number; readonly freeAt: number } | undefined;
      return (decision) => {
        const { costMs, aheadMs } = tokenOf(decision, truth, eligibility);
        const { lives } = truth.witness;
        const isLost = punctuality.isLost(decision);
        const isNext = !isLost && before !== undefined && before.lives !== lives;
        const earlyMs = isNext ? (before?.freeAt ?? 0) - aheadMs - decision.at : 0;
        before = { lives, freeAt: decision.at + costMs };
        return punctuality.isTooEarly(earlyMs)
          ? `${earlyMs} ms too early after a restart`
          : undefined;
      };
    },
  ),
];

/** How long after nothing moved it counts as a stop, in tokens. */
const STOP_TOKENS = 5;

/** Judges how early evictions are, one after the other, and forgives what nobody can help. */
class Punctuality {
  readonly #truth: Truth;
  /** When counting began. */
  #since = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  /** Whether nobody can know how long it is since the one before: counting begins anew. */
  isLost({ at }: Decision): boolean {
    const isLost = this.#truth.clockSlackMs(this.#last) === Infinity;
    if (isLost) this.#since = at;
    this.#last = at;
    return isLost;
  }

  isTooEarly(earlyMs: number): boolean {
    return earlyMs > this.#truth.clockSlackMs(this.#since) + this.#lateMs + 1;
  }

  /**
   * An eviction is written some writes after its token was reserved, one time sooner, one time later. With two sets of controllers
   * one may reserve the next token before the other has written what its own is for.
   */
  get #lateMs(): number {
    const { circumstances, roundTripMs } = this.#truth;
    const { hasTwoLeaders, syncDelayMs } = circumstances;
    return WAYS * (hasTwoLeaders ? roundTripMs : syncDelayMs);
  }
}

/** From a reservation to the eviction: its answer, reading again, and the write, which may have to be repeated. */
const WAYS = 4;

/** Per second, of the first lane, for a fleet of which so much has failed. */
export function fleetRate({ failed, counted }: Counts, { witness }: Truth): number {
  const { controllers } = witness;
  if (counted > 0 && failed === counted) return 0;
  if (counted === 0 || failed / counted <= controllers.unhealthyClusterThreshold)
    return controllers.resourceEvictionRate;
  return counted > controllers.largeClusterNumThreshold
    ? controllers.secondaryResourceEvictionRate
    : 0;
}

/** What a token takes at the slowest rate since then, in milliseconds; Infinity while it is 0. */
export function slowestTokenMs(truth: Truth, fleet: KnownFleet, since: number): number {
  const rates = fleet.countsSince(since).map((counts) => fleetRate(counts, truth));
  return SECOND_MS / Math.min(...rates);
}

/** Per second, for the lane of the binding; of the last moments the fastest. */
function rateOf({ at, binding }: Decision, truth: Truth, { fleet }: Eligibility): number {
  const since = at - truth.lagMs;
  const rates = fleet.countsSince(since).map((counts) => fleetRate(counts, truth));
  const rate = Math.max(...ratesSince(truth, since, rates));
  if (!isPassive(binding) || rate === 0) return rate;
  const { resourceEvictionRate } = truth.witness.controllers;
  return PASSIVE_PER_SECOND * Math.min(1, rate / resourceEvictionRate);
}

/** What one eviction uses up, and how far ahead of the rate it may be, in milliseconds. */
function tokenOf(
  decision: Decision,
  truth: Truth,
  eligibility: Eligibility,
): { readonly costMs: number; readonly aheadMs: number } {
  const rate = rateOf(decision, truth, eligibility);
  const costMs = rate === 0 ? 0 : SECOND_MS / rate;
  const tokens = Math.max(1, Math.min(MOST_TOKENS, Math.floor(rate)));
  return { costMs, aheadMs: (tokens - 1) * costMs };
}
