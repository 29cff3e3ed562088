/**
 * Releases workloads from faulty clusters: one at a time, under one rate for the whole fleet (D6).
 *
 *   queue ──▶ may it go? (cache) ──▶ reserve tokens (compare and swap) ──▶ read cluster and binding again ──▶ one write
 *
 * 1. Nothing is released without a token that stands on `EvacuationBudget/fleet` before. A reservation whose answer was
 *    lost, or that was not used, counts as used.
 * 2. An entry that cannot move takes no token: it is held with the reason and tried again when its binding or the clusters change.
 * 3. Just before the write cluster and binding are read from the server: the taint must still be there, and the binding is
 *    decided on as it is.
 * 4. There is one key, so one release is decided at a time. Of tokens that were reserved together each is used at its own time.
 * 5. The budget shows the rate of the fleet as it is, also while nothing is released: it is written when that changed, at
 *    most once a second.
 *
 *   picker          which entries may leave now, and which are held               picker.ts
 *   reservations    tokens of the budget                                          reservations.ts
 *   writer          the writes, each at the time of its token                     release-writer.ts
 */
import { addMs, type Instant } from "@lifeboat/base";
import { type Lane, reserve } from "@lifeboat/core/failover/evacuation";
import { checkAgainAt, done, type Outcome } from "@lifeboat/kit";
import { Picker } from "./picker.ts";
import { ReleaseWriter } from "./release-writer.ts";
import { Reservations } from "./reservations.ts";
import { FLEET_RECORD } from "../../context/fleet-record.ts";
import type { EvacuationState } from "./state.ts";

const LANES: readonly Lane[] = ["Workload", "Passive"];
/** Held ones are tried again at most so many at a time, and so often. */
const RETRY_COUNT = 500;
const RETRY_MS = 5000;

export class Releaser {
  readonly #state: EvacuationState;
  readonly #picker: Picker;
  readonly #reservations: Reservations;
  readonly #writer: ReleaseWriter;
  #steps = 0;
  /** Something changed that may help those that are held. */
  #mayHelp = false;
  /** `TargetRoom.expired`, as it was seen last. */
  #expired = 0;
  #retriedAt = -Infinity;

  constructor(state: EvacuationState) {
    this.#state = state;
    this.#picker = new Picker(state);
    this.#reservations = new Reservations(state);
    this.#writer = new ReleaseWriter(state, this.#picker, this.#reservations);
  }

  /** Clusters or policies changed: what is held may be able to go now. */
  mayHelp(): void {
    this.#mayHelp = true;
    this.#picker.fleetChanged();
  }

  async look(signal: AbortSignal): Promise<Outcome> {
    this.#state.fleetRate.read();
    this.#readClock();
    const endsAt = this.#state.board.expireApprovals(this.#state.context.time.moment());
    const releaseAt = await this.#releaseDue(signal);
    const tellAt = await this.#reservations.tellRate(signal);
    const next = [tellAt, endsAt, this.#state.fleetRate.overriddenUntil].reduce(
      (at, one) => (one === undefined ? at : earlier(one, at)),
      releaseAt,
    );
    return next === undefined ? done : checkAgainAt(next);
  }

  /** Releases what may go now; answers when the next may. */
  async #releaseDue(signal: AbortSignal): Promise<Instant | undefined> {
    const retryAt = this.#retryHeld();
    if (this.#state.fleetRate.wasPaused) return undefined;
    for (const lane of LANES) {
      const next = await this.#serve(lane, signal);
      if (next !== undefined) return earlier(next, retryAt);
    }
    const now = this.#state.context.clock.now();
    const due = LANES.flatMap((lane) => this.#state.board.line.queue.nextDueAt(lane) ?? []);
    return due.filter((at) => at > now).reduce<Instant | undefined>(earlier2, retryAt);
  }

  /** After a step of the clock every entry is due at another time. */
  #readClock(): void {
    const { board, context } = this.#state;
    context.time.look();
    if (context.time.steps === this.#steps) return;
    this.#steps = context.time.steps;
    board.settleAll();
  }

  /** Puts held ones in line again after something changed; answers when the next of them may be. */
  #retryHeld(): Instant | undefined {
    const { board, context } = this.#state;
    const { targetRoom } = context;
    const moment = context.time.moment();
    const { now } = moment;
    const monotonic = context.clock.monotonic();
    targetRoom.expire(moment);
    if (targetRoom.expired !== this.#expired) this.#mayHelp = true;
    this.#expired = targetRoom.expired;
    if (!this.#mayHelp) return targetRoom.settledBy(now);
    const leftMs = this.#retriedAt + RETRY_MS - monotonic;
    if (leftMs > 0) return addMs(now, Math.ceil(leftMs));
    this.#mayHelp = false;
    this.#retriedAt = monotonic;
    let count = 0;
    for (const { items } of board.tracks)
      for (const item of items.values()) {
        if (item.held === undefined || item.isBusy) continue;
        // Those that were tried longest ago are first: a try moves an item to the end of the held.
        if (count === RETRY_COUNT) {
          this.#mayHelp = true;
          return addMs(now, RETRY_MS);
        }
        count += 1;
        board.line.settle(item);
      }
    return targetRoom.settledBy(now);
  }

  /** Releases from a lane what may go now. Answers when to go on; undefined: nothing of this lane may go. */
  async #serve(lane: Lane, signal: AbortSignal): Promise<Instant | undefined> {
    const { board, context } = this.#state;
    const moment = context.time.moment();
    const { now } = moment;
    const dueAt = board.line.queue.nextDueAt(lane);
    if (dueAt === undefined || dueAt > now) return undefined;
    const rate = this.#state.fleetRate.ofLane(lane);
    const budget = context.informers.evacuationBudgets.get(FLEET_RECORD);
    const wanted = board.line.queue.sizeOf(lane);
    const first = reserve(
      { reservedUntil: this.#reservations.usedUntil(budget, now), rate, wanted },
      now,
    );
    // Without a rate nothing is released, and no target is looked for either.
    if (first.kind === "stop") return undefined;
    if (first.kind === "wait") return first.until;
    const { picks, isMore } = this.#picker.pick(lane, Math.max(1, first.tokens), moment);
    if (picks.length === 0) return isMore ? now : undefined;
    try {
      const reserved = await this.#reservations.reserve(lane, picks.length, signal);
      if (reserved.kind === "paused") return undefined;
      if (reserved.kind === "wait") {
        // The cache may not know yet; asking the server again before that is of no use.
        this.#reservations.waitFor(reserved.leftMs);
        return addMs(context.clock.now(), reserved.leftMs);
      }
      await this.#writer.releaseAll(
        lane,
        picks.splice(0, reserved.tokens),
        reserved.tokenMs,
        signal,
      );
      return context.clock.now();
    } finally {
      this.#picker.putAllBack(lane, picks);
    }
  }
}

function earlier(a: Instant, b: Instant | undefined): Instant {
  return b === undefined || a <= b ? a : b;
}

function earlier2(a: Instant | undefined, b: Instant): Instant {
  return earlier(b, a);
}
