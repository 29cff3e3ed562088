/**
 * Tokens of the fleet's budget: reserved by compare and swap before anything is released (D6). The budget also shows the rate.
 *
 * The time of a token is measured by the monotonic clock from when this process first saw it: no step of the wall clock sets
 * another one free, nor stops all of them.
 */
import type { EvacuationBudget } from "@lifeboat/api";
import { addMs, formatMicroTime, type Instant, parseTime } from "@lifeboat/base";
import {
  type Lane,
  type Rate,
  reserve,
  type TokenReservation,
} from "@lifeboat/core/failover/evacuation";
import { RecentMap } from "@lifeboat/kit";
import {
  FLEET_RECORD,
  isOutrun,
  type RecordSwap,
  swapRecordStatus,
} from "../../context/fleet-record.ts";
import type { EvacuationState } from "./state.ts";

/** The rate is reported at most so often: two planes that see the fleet differently do not chase each other. */
const TELL_MS = 1000;
/** The cache may be behind by a few reservations. */
const REMEMBERED = 16;

/** What became of reserving. */
type Reserved =
  | Extract<TokenReservation, { kind: "reserve" }>
  | { readonly kind: "wait"; readonly leftMs: number }
  | { readonly kind: "paused" };

export class Reservations {
  readonly #state: EvacuationState;
  /**
   * No reservation before this, on the monotonic clock: the last release is as long ago as the rate asks, however slow its
   * write was.
   */
  #notBefore = -Infinity;
  /** Until when the budget is used, on the monotonic clock, by its text: as it was when the text was first seen. */
  readonly #used = new RecentMap<number>(REMEMBERED);
  #toldAt = -Infinity;

  constructor(state: EvacuationState) {
    this.#state = state;
  }

  /** Nothing is reserved for so long. */
  waitFor(ms: number): void {
    this.#notBefore = this.#state.context.clock.monotonic() + ms;
  }

  /** Until when nothing may be reserved, as the clock shows it now; undefined: nothing was ever released. */
  usedUntil(budget: EvacuationBudget | undefined, now: Instant): Instant | undefined {
    const monotonic = this.#state.context.clock.monotonic();
    const text = budget?.status?.reservedUntil ?? "";
    const reserved = parseTime(text);
    const seen = reserved === undefined ? -Infinity : monotonic + reserved - now;
    const used = this.#used.get(text) ?? seen;
    this.#used.set(text, used);
    const until = Math.max(used, this.#notBefore);
    return until === -Infinity ? undefined : addMs(now, Math.ceil(until - monotonic));
  }

  /** Writes on the budget that so many are released, before they are. */
  reserve(lane: Lane, wanted: number, signal: AbortSignal): Promise<Reserved> {
    const { fleetRate, context } = this.#state;
    const decide = (budget: EvacuationBudget): RecordSwap<Reserved> => {
      fleetRate.read(budget);
      const rate = fleetRate.ofLane(lane);
      if (fleetRate.wasPaused || !(rate > 0)) return PAUSED;
      const now = context.clock.now();
      const reservedUntil = this.usedUntil(budget, now);
      const answer = reserve({ reservedUntil, rate, wanted }, now);
      if (answer.kind === "stop") return PAUSED;
      if (answer.kind === "wait") return { answer: { kind: "wait", leftMs: answer.until - now } };
      const status = {
        ...budget.status,
        ...rateStatus(fleetRate.last),
        reservedUntil: formatMicroTime(answer.reservedUntil),
        reservedTokens: answer.tokens,
      };
      this.usedUntil({ ...budget, status }, now);
      return { status, answer };
    };
    return swapRecordStatus(context.plane, decide, { signal });
  }

  /** Writes the rate on the budget when it shows another one; answers when to try that again. */
  async tellRate(signal: AbortSignal): Promise<Instant | undefined> {
    const { board, context, fleetRate } = this.#state;
    const known = context.informers.evacuationBudgets.get(FLEET_RECORD);
    // A fleet in which nothing was ever evacuated needs no budget.
    if (known === undefined ? board.isEmpty : showsRate(known, fleetRate.last)) return undefined;
    const now = context.clock.now();
    const leftMs = this.#toldAt + TELL_MS - context.clock.monotonic();
    if (leftMs > 0) return addMs(now, Math.ceil(leftMs));
    this.#toldAt = context.clock.monotonic();
    const decide = (budget: EvacuationBudget): RecordSwap<void> =>
      showsRate(budget, fleetRate.last)
        ? { answer: undefined }
        : { status: { ...budget.status, ...rateStatus(fleetRate.last) }, answer: undefined };
    try {
      await swapRecordStatus(context.plane, decide, { signal });
      return undefined;
    } catch (error) {
      if (!isOutrun(error)) throw error;
      return addMs(now, TELL_MS);
    }
  }
}

const PAUSED: RecordSwap<Reserved> = { answer: { kind: "paused" } };

type BudgetStatus = NonNullable<EvacuationBudget["status"]>;

function rateStatus(rate: Rate): BudgetStatus {
  const { perSecond, reason, failed, counted, failedShare } = rate;
  return {
    ratePerSecond: perSecond,
    reason,
    failedClusters: failed,
    countedClusters: counted,
    failedShare,
  };
}

/** The share follows from the counts. */
function showsRate({ status = {} }: EvacuationBudget, rate: Rate): boolean {
  return (
    status.ratePerSecond === rate.perSecond &&
    status.reason === rate.reason &&
    status.failedClusters === rate.failed &&
    status.countedClusters === rate.counted
  );
}
