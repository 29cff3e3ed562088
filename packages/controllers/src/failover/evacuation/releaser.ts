/**
 * Releases workloads from faulty clusters: one at a time, under one rate for the whole fleet (D6).
 *
 *   queue ──▶ may it go? (cache) ──▶ reserve tokens (compare and swap) ──▶ read cluster and binding again ──▶ one write
 *
 * 1. Nothing is released without a token that stands on `EvacuationBudget/fleet` before. A reservation whose answer was
 *    lost, or that nobody came to use, counts as used.
 * 2. Who cannot move takes no token: it is held with the reason and tried again when its binding or the clusters change.
 * 3. Just before the write cluster and binding are read from the server: the taint must still be there, and the binding is
 *    decided on as it is.
 * 4. There is one key, so one release is decided at a time. Of tokens that were reserved together each is used at its own
 *    time; rate and pause are read again before each, and a token that may not be used then is lost. Only writes that take
 *    longer than that time go side by side.
 * 5. The budget shows the rate of the fleet as it is, also while nothing is released: it is written when that changed, at
 *    most once a second.
 * 6. The time of a token is measured by the monotonic clock from when this process first saw it: no step of the wall clock
 *    sets another one free, nor stops all of them.
 */
import {
  clusters,
  type EvacuationBudget,
  evacuationBudgets,
  FLEET_BUDGET,
  isRefused,
  type KubeObject,
  type New,
  type ObjectKey,
  orNothing,
  Refused,
  type Resource,
} from "@lifeboat/api";
import {
  addMs,
  formatMicroTime,
  type Instant,
  type Moment,
  parseTime,
  sleep,
} from "@lifeboat/base";
import {
  decideRelease,
  describeTaint,
  evict,
  evictingTaints,
  fleetHealth,
  type Lane,
  passiveRateOf,
  type Rate,
  rateOf,
  type RateOptions,
  type ReleaseDecision,
  reserve,
  taintId,
  type TokenReservation,
} from "@lifeboat/core/failover/evacuation";
import type { HeldReason } from "@lifeboat/core/failover/leaving";
import { checkAgainAt, done, type Outcome, RecentMap } from "@lifeboat/kit";
import { type Binding, bindingOf, bindingResource, tellWorkload } from "../../context/bindings.ts";
import type { Item, Term } from "./board.ts";
import type { EvacuationMetrics } from "./metrics.ts";
import { type ReleaseSources, releaseViewOf } from "./release-view.ts";
import type { Statistics } from "./statistics.ts";

export interface ReleaserParts extends ReleaseSources {
  readonly statistics: Statistics;
  readonly metrics: EvacuationMetrics;
  readonly rates: RateOptions;
  /** Called when the rate or the pause of the whole fleet changed. */
  rateChanged(): void;
  /** Called when the state of an entry changed without its binding. */
  itemChanged(cluster: string): void;
}

const BUDGET: ObjectKey = { namespace: "", name: FLEET_BUDGET };
const FIRST_BUDGET: New<EvacuationBudget> = {
  apiVersion: `${evacuationBudgets.group}/${evacuationBudgets.version}`,
  kind: evacuationBudgets.kind,
  metadata: { name: FLEET_BUDGET },
  spec: { paused: false },
};
const LANES: readonly Lane[] = ["Workload", "Passive"];
/** Others write the budget, too. */
const ATTEMPTS = 10;
/** The rate is told at most so often: two planes that see the fleet differently do not chase each other. */
const TELL_MS = 1000;
/** How often one release is decided anew because its binding changed under it. */
const WRITE_ATTEMPTS = 3;
/** Writes of one reservation that are under way at the same time, when the server is slower than the rate. */
const SIDE_BY_SIDE = 32;
/** The cache may be behind by a few reservations. */
const REMEMBERED = 16;
/** How many are looked at before others get their turn. */
const MAX_CHECKS = 500;
/** Held ones are tried again at most so many at a time, and so often. */
const RETRY_COUNT = 500;
const RETRY_MS = 5000;

interface Pick {
  readonly item: Item;
  readonly term: Term;
  readonly binding: Binding;
  readonly decision: Extract<ReleaseDecision, { outcome: "release" }>;
  /** What was known of the fleet when it was decided, see `#knowledge`. */
  readonly knowledge: number;
}

/**
 * What became of one attempt: it is through, one way or the other; the binding changed meanwhile; or the cluster bears the
 * taint no more, which the recorder sees, too, and abandons what is queued.
 */
type Attempt = "through" | "changed" | "recovered";

/** What became of reserving. */
type Reserved =
  | Extract<TokenReservation, { kind: "reserve" }>
  | { readonly kind: "wait"; readonly leftMs: number }
  | { readonly kind: "paused" };

export class Releaser {
  readonly #parts: ReleaserParts;
  #rate: Rate;
  #paused = false;
  #steps = 0;
  /**
   * No reservation before this, on the monotonic clock: the last release is as long ago as the rate asks, however slow its
   * write was.
   */
  #notBefore = -Infinity;
  /** Until when the budget is used, on the monotonic clock, by its text: as it was when the text was first seen. */
  readonly #used = new RecentMap<number>(REMEMBERED);
  /** Something changed that may help those who are held. */
  #mayHelp = false;
  /** Counts the changes of clusters and policies: a decision that rests on an older state is made again. */
  #knowledge = 0;
  #retriedAt = -Infinity;
  #toldAt = -Infinity;

  constructor(parts: ReleaserParts) {
    this.#parts = parts;
    this.#rate = rateOf({ failed: 0, counted: 0 }, parts.rates);
  }

  /** The rate at this moment, by the state of the fleet. */
  get rate(): Rate {
    const { context, rates } = this.#parts;
    return rateOf(fleetHealth(context.informers.clusters.list()), rates);
  }

  /** Whether a person paused all evacuations. */
  get isPaused(): boolean {
    return this.#parts.context.informers.evacuationBudgets.get(BUDGET)?.spec.paused ?? false;
  }

  /** Clusters or policies changed: who is held may be able to go now. */
  mayHelp(): void {
    this.#mayHelp = true;
    this.#knowledge += 1;
  }

  async look(signal: AbortSignal): Promise<Outcome> {
    this.#readFleet();
    this.#readClock();
    const releaseAt = await this.#releaseDue(signal);
    const tellAt = await this.#tellRate(signal);
    const next = tellAt === undefined ? releaseAt : earlier(tellAt, releaseAt);
    return next === undefined ? done : checkAgainAt(next);
  }

  /** Releases who may go now; answers when the next may. */
  async #releaseDue(signal: AbortSignal): Promise<Instant | undefined> {
    const retryAt = this.#retryHeld();
    if (this.#paused) return undefined;
    for (const lane of LANES) {
      const next = await this.#serve(lane, signal);
      if (next !== undefined) return earlier(next, retryAt);
    }
    const now = this.#parts.context.clock.now();
    const due = LANES.flatMap((lane) => this.#parts.board.queue.nextDueAt(lane) ?? []);
    return due.filter((at) => at > now).reduce<Instant | undefined>(earlier2, retryAt);
  }

  /** Writes the rate on the budget when it shows another one; answers when to try that again. */
  async #tellRate(signal: AbortSignal): Promise<Instant | undefined> {
    const { board, context } = this.#parts;
    const known = context.informers.evacuationBudgets.get(BUDGET);
    // Who never had anything to move needs no budget.
    if (known === undefined ? board.isEmpty : showsRate(known, this.#rate)) return undefined;
    const now = context.clock.now();
    const leftMs = this.#toldAt + TELL_MS - context.clock.monotonic();
    if (leftMs > 0) return addMs(now, Math.ceil(leftMs));
    this.#toldAt = context.clock.monotonic();
    try {
      const budget = await this.#readBudget(signal);
      if (showsRate(budget, this.#rate)) return undefined;
      const status = { ...budget.status, ...rateStatus(this.#rate) };
      const options = { subresource: "status", signal };
      await context.plane.update(evacuationBudgets, { ...budget, status }, options);
      return undefined;
    } catch (error) {
      if (!isOutrun(error)) throw error;
      return addMs(now, TELL_MS);
    }
  }

  /** Reads the state of the fleet and of the budget from the caches. */
  #readFleet(): void {
    const { context, metrics } = this.#parts;
    const { rate, isPaused: paused } = this;
    const isChanged =
      rate.perSecond !== this.#rate.perSecond ||
      rate.reason !== this.#rate.reason ||
      paused !== this.#paused;
    if (rate.reason !== this.#rate.reason)
      context.log.info("the rate of evictions changed", { ...rate });
    this.#rate = rate;
    this.#paused = paused;
    metrics.faultNum.set(rate.failed, {});
    metrics.faultRate.set(rate.failedShare, {});
    if (isChanged) this.#parts.rateChanged();
  }

  /** After a step of the clock everybody is due at another time. */
  #readClock(): void {
    const { board, context } = this.#parts;
    context.time.look();
    if (context.time.steps === this.#steps) return;
    this.#steps = context.time.steps;
    board.settleAll();
  }

  /** Puts held ones in line again after something changed; answers when the next of them may be. */
  #retryHeld(): Instant | undefined {
    const { board, context, targets } = this.#parts;
    const moment = context.time.moment();
    const { now } = moment;
    const monotonic = context.clock.monotonic();
    if (targets.expire(moment)) this.#mayHelp = true;
    if (!this.#mayHelp) return targets.settledBy(now);
    const leftMs = this.#retriedAt + RETRY_MS - monotonic;
    if (leftMs > 0) return addMs(now, Math.ceil(leftMs));
    this.#mayHelp = false;
    this.#retriedAt = monotonic;
    let count = 0;
    for (const { items } of board.tracks)
      for (const item of items.values()) {
        if (item.held === undefined || item.isBusy) continue;
        // Those who were tried longest ago are first: a try moves an item to the end of the held.
        if (count === RETRY_COUNT) {
          this.#mayHelp = true;
          return addMs(now, RETRY_MS);
        }
        count += 1;
        board.settle(item);
      }
    return targets.settledBy(now);
  }

  /** Releases from a lane what may go now. Answers when to go on; undefined: nobody of this lane may go. */
  async #serve(lane: Lane, signal: AbortSignal): Promise<Instant | undefined> {
    const { board, context } = this.#parts;
    const moment = context.time.moment();
    const { now } = moment;
    const dueAt = board.queue.nextDueAt(lane);
    if (dueAt === undefined || dueAt > now) return undefined;
    const rate = this.#rateOf(lane);
    const budget = context.informers.evacuationBudgets.get(BUDGET);
    const wanted = board.queue.sizeOf(lane);
    const first = reserve({ reservedUntil: this.#usedUntil(budget, now), rate, wanted }, now);
    // Without a rate nobody is released; who has no target is not looked for either.
    if (first.kind === "stop") return undefined;
    if (first.kind === "wait") return first.until;
    const { picks, isMore } = this.#pick(lane, Math.max(1, first.tokens), moment);
    if (picks.length === 0) return isMore ? now : undefined;
    try {
      const reserved = await this.#reserve(lane, picks.length, signal);
      if (reserved.kind === "paused") return undefined;
      if (reserved.kind === "wait") {
        // The cache may not know yet; asking the server again before that is of no use.
        this.#notBefore = context.clock.monotonic() + reserved.leftMs;
        return addMs(context.clock.now(), reserved.leftMs);
      }
      await this.#releaseAll(lane, picks.splice(0, reserved.tokens), reserved.tokenMs, signal);
      return context.clock.now();
    } finally {
      this.#putAllBack(lane, picks);
    }
  }

  #rateOf(lane: Lane): number {
    return lane === "Workload"
      ? this.#rate.perSecond
      : passiveRateOf(this.#rate, this.#parts.rates);
  }

  /** Until when nothing may be reserved, as the clock shows it now; undefined: nothing was ever released. */
  #usedUntil(budget: EvacuationBudget | undefined, now: Instant): Instant | undefined {
    const monotonic = this.#parts.context.clock.monotonic();
    const text = budget?.status?.reservedUntil ?? "";
    const reserved = parseTime(text);
    const seen = reserved === undefined ? -Infinity : monotonic + reserved - now;
    const used = this.#used.get(text) ?? seen;
    this.#used.set(text, used);
    const until = Math.max(used, this.#notBefore);
    return until === -Infinity ? undefined : addMs(now, Math.ceil(until - monotonic));
  }

  /** Takes up to `count` out of the queue that have somewhere to go; holds those that have not. */
  #pick(lane: Lane, count: number, moment: Moment): { picks: Pick[]; isMore: boolean } {
    const { board, targets } = this.#parts;
    const picks: Pick[] = [];
    for (let checks = 0; picks.length < count && checks < MAX_CHECKS; checks++) {
      const queued = board.queue.take(lane, moment.now);
      if (queued === undefined) return { picks, isMore: false };
      const pick = this.#pickOf(queued.item, moment);
      if (pick === undefined) {
        board.queue.giveTurnBack(queued);
        continue;
      }
      pick.item.isBusy = true;
      pick.item.held = undefined;
      targets.promise(pick.item.id, pick.binding, pick.decision.targets);
      picks.push(pick);
    }
    return { picks, isMore: true };
  }

  /** Who may go, and how; undefined: it may not, and waits otherwise now. */
  #pickOf(item: Item, moment: Moment): Pick | undefined {
    const { board, context } = this.#parts;
    const binding = bindingOf(context.informers, item.key);
    const term = board.termDue(item, moment);
    if (binding === undefined) return undefined;
    if (term === undefined) {
      // The clock was set since it was put in line.
      board.settle(item);
      return undefined;
    }
    const decision = this.#decide(item, term, binding, moment);
    if (decision.outcome === "held") {
      this.#hold(item, decision.reason, decision.message);
      return undefined;
    }
    return { item, term, binding, decision, knowledge: this.#knowledge };
  }

  #decide(item: Item, term: Term, binding: Binding, moment: Moment): ReleaseDecision {
    return decideRelease(releaseViewOf(this.#parts, item, term, binding, moment), moment);
  }

  /** Whether nothing has changed since the decision that it rests on. */
  #isCurrent({ binding, knowledge }: Pick, now: Binding): boolean {
    const isSame = now.metadata.resourceVersion === binding.metadata.resourceVersion;
    return isSame && knowledge === this.#knowledge;
  }

  /** What was promised to the workload must not stand in its own way. */
  #decideAgain({ item, term }: Pick, binding: Binding, moment: Moment): ReleaseDecision {
    const { targets } = this.#parts;
    targets.forget(item.id, binding);
    const decision = this.#decide(item, term, binding, moment);
    if (decision.outcome === "release") targets.promise(item.id, binding, decision.targets);
    return decision;
  }

  /** Writes on the budget that so many are released, before they are. */
  async #reserve(lane: Lane, wanted: number, signal: AbortSignal): Promise<Reserved> {
    const { clock, plane } = this.#parts.context;
    for (let attempt = 1; ; attempt++) {
      try {
        const budget = await this.#readBudget(signal);
        this.#readFleet();
        const rate = this.#rateOf(lane);
        if (budget.spec.paused || this.#paused || !(rate > 0)) return { kind: "paused" };
        const now = clock.now();
        const reservedUntil = this.#usedUntil(budget, now);
        const answer = reserve({ reservedUntil, rate, wanted }, now);
        if (answer.kind === "stop") return { kind: "paused" };
        if (answer.kind === "wait") return { kind: "wait", leftMs: answer.until - now };
        const status = {
          ...budget.status,
          ...rateStatus(this.#rate),
          reservedUntil: formatMicroTime(answer.reservedUntil),
          reservedTokens: answer.tokens,
        };
        this.#usedUntil({ ...budget, status }, now);
        const options = { subresource: "status", signal };
        await plane.update(evacuationBudgets, { ...budget, status }, options);
        return answer;
      } catch (error) {
        if (!isOutrun(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #readBudget(signal: AbortSignal): Promise<EvacuationBudget> {
    const { plane } = this.#parts.context;
    try {
      return await plane.get(evacuationBudgets, BUDGET, { signal });
    } catch (error) {
      if (!isRefused(error, "NotFound")) throw error;
      return plane.create(evacuationBudgets, FIRST_BUDGET, { signal });
    }
  }

  /** Uses the tokens of one reservation, each at its own time. */
  async #releaseAll(
    lane: Lane,
    picks: readonly Pick[],
    tokenMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#parts.context;
    const began = clock.monotonic();
    const underWay = new Set<Promise<void>>();
    const failures: unknown[] = [];
    let used = 0;
    try {
      for (const [i, pick] of picks.entries()) {
        const waitMs = began + i * tokenMs - clock.monotonic();
        if (waitMs > 0) await sleep(clock, Math.ceil(waitMs), signal);
        while (underWay.size >= SIDE_BY_SIDE) await Promise.race(underWay);
        if (signal.aborted || failures.length > 0 || (i > 0 && this.#isStopped(lane))) break;
        used = i + 1;
        const release = this.#release(pick, signal)
          .catch((error: unknown) => failures.push(error))
          .then(() => {
            this.#notBefore = clock.monotonic() + Math.ceil(tokenMs);
            underWay.delete(release);
          });
        underWay.add(release);
      }
    } finally {
      await Promise.all(underWay);
      this.#putAllBack(lane, picks.slice(used));
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Whether nothing of a lane may go any more: the rate is read again before every release (D6). */
  #isStopped(lane: Lane): boolean {
    this.#readFleet();
    return this.#paused || !(this.#rateOf(lane) > 0);
  }

  /** Evicts one, unless the server shows that it must not be any more. */
  async #release(pick: Pick, signal: AbortSignal): Promise<void> {
    let outcome: Attempt = "changed";
    try {
      for (let attempt = 1; attempt <= WRITE_ATTEMPTS && outcome === "changed"; attempt++)
        outcome = await this.#tryRelease(pick, signal);
    } finally {
      if (outcome === "recovered") pick.item.isBusy = false;
      else this.#putBack(pick);
    }
  }

  async #tryRelease(pick: Pick, signal: AbortSignal): Promise<Attempt> {
    const { board, context, statistics, metrics } = this.#parts;
    const { item, term } = pick;
    const { cluster: name } = item.track;
    const [cluster, binding] = await Promise.all([
      this.#find(clusters, { namespace: "", name }, signal),
      this.#find(bindingResource(item.key), item.key, signal),
    ]);
    if (cluster === undefined || !evictingTaints(cluster).some((one) => taintId(one) === term.id)) {
      context.log.info("an eviction was not carried out", {
        ...fieldsOf(pick),
        reason: "Recovered",
      });
      return "recovered";
    }
    board.observe(item, binding);
    if (binding === undefined || item.state !== "Queued") return "through";
    const moment = context.time.moment();
    const { now } = moment;
    const decision = this.#isCurrent(pick, binding)
      ? pick.decision
      : this.#decideAgain(pick, binding, moment);
    if (decision.outcome === "held") {
      this.#hold(item, decision.reason, decision.message);
      return "through";
    }
    let written: Binding;
    try {
      const options = { signal };
      const evicted = evict(binding, decision.order, now);
      written = await context.plane.update(bindingResource(item.key), evicted, options);
    } catch (error) {
      if (isRefused(error, "Conflict")) return "changed";
      this.#tell(
        binding,
        "Warning",
        "EvictWorkloadFromClusterFailed",
        `Evict from cluster ${name} failed.`,
      );
      if (!(error instanceof Refused) || isPassing(error)) throw error;
      this.#hold(item, "EvictionRefused", error.message);
      return "through";
    }
    board.observe(item, written);
    statistics.released(name, context.clock.monotonic());
    const since = Math.max(term.toleratedUntil ?? 0, term.recordedAt);
    metrics.latency.observe(Math.max(0, now - since) / 1000, { cluster_name: name });
    context.log.info("evicted a workload from a cluster", {
      ...fieldsOf(pick),
      reason: decision.order.reason,
      rate: this.#rate.perSecond,
      rateReason: this.#rate.reason,
    });
    this.#tell(written, "Normal", "EvictionDecided", decision.order.message);
    for (const warning of decision.warnings)
      this.#tell(written, "Warning", "StateNotPreserved", warning);
    return "through";
  }

  #find<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    return orNothing(this.#parts.context.plane.get(resource, key, { signal }));
  }

  /** Those who were picked and not released are in line again, and it is still the turn of the first one's cluster. */
  #putAllBack(lane: Lane, picks: readonly Pick[]): void {
    for (const pick of picks.toReversed()) {
      this.#putBack(pick);
      this.#parts.board.queue.giveTurnBack({ lane, cluster: pick.item.track.cluster });
    }
  }

  /** An item that was picked is in line again unless its state says otherwise. */
  #putBack({ item }: Pick): void {
    const { board, context, targets } = this.#parts;
    item.isBusy = false;
    if (item.state !== "Queued") return;
    const binding = bindingOf(context.informers, item.key);
    if (binding !== undefined) targets.forget(item.id, binding);
    if (item.held === undefined) board.putInPlace(item);
  }

  #hold(item: Item, reason: HeldReason, message: string): void {
    const { board, context } = this.#parts;
    const { cluster, evacuation, items } = item.track;
    const isNew = board.hold(item, reason, message, context.clock.now());
    // To the end, so that the next round begins with those who were not tried in this one.
    items.delete(item.id);
    items.set(item.id, item);
    if (!isNew) return;
    const binding = bindingOf(context.informers, item.key);
    if (binding !== undefined)
      this.#tell(
        binding,
        "Warning",
        "EvictionHeld",
        `Not evicted from cluster ${cluster}: ${message}`,
      );
    context.log.info("an eviction is held", {
      evacuation: evacuation.metadata.name,
      cluster,
      binding: item.id,
      reason,
      message,
    });
    this.#parts.itemChanged(cluster);
  }

  #tell(binding: Binding, type: "Normal" | "Warning", reason: string, message: string): void {
    tellWorkload(this.#parts.context.events, binding, { type, reason, message });
  }
}

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

/** Whether somebody else wrote the budget first. */
function isOutrun(error: unknown): boolean {
  return isRefused(error, "Conflict") || isRefused(error, "AlreadyExists");
}

function fieldsOf({ item, term }: Pick): Readonly<Record<string, unknown>> {
  const { cluster, evacuation } = item.track;
  return {
    evacuation: evacuation.metadata.name,
    cluster,
    binding: item.id,
    taint: describeTaint(term.taint),
    purgeMode: term.purgeMode,
  };
}

/** Whether trying again by itself may help. */
function isPassing({ status }: Refused): boolean {
  return status.code >= 500 || status.code === 429;
}

function earlier(a: Instant, b: Instant | undefined): Instant {
  return b === undefined || a <= b ? a : b;
}

function earlier2(a: Instant | undefined, b: Instant): Instant {
  return earlier(b, a);
}
