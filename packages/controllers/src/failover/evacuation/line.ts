/**
 * Which entries of evacuations may leave, and when: the queue of those that may be released.
 *
 * 1. An entry is in line while its state is Queued, it is not being released, and a term moves it: recorded, not exempt, its taint on the
 *    cluster, approved, and counted as the gate stands (D18, D30).
 * 2. What is held stays out of the line until something about its binding or the clusters changes.
 */
import { type DueTime, type Instant, instantOf, type Moment } from "@lifeboat/base";
import { isDrainTaint } from "@lifeboat/core/binding";
import {
  type ApprovalMode,
  EvictionQueue,
  type Queued,
  type TaintIdentity,
  wasStoppedByGate,
} from "@lifeboat/core/failover/evacuation";
import type { HeldReason } from "@lifeboat/core/failover/leaving";
import type { PlaneContext } from "../../context/context.ts";
import type { Item, Term } from "./items.ts";
import { Orders } from "./orders.ts";
import type { Wakes } from "./state.ts";

/** A place in the queue; a new one whenever the item is put in line. */
export interface Waiting extends Queued {
  readonly item: Item;
}

type LineContext = Pick<PlaneContext, "informers" | "time">;

export class Line {
  readonly queue = new EvictionQueue<Waiting>();
  readonly orders: Orders;
  readonly #failover: boolean;
  readonly #context: LineContext;
  readonly #wakes: Wakes;

  constructor(
    context: LineContext,
    { failover, approval }: { readonly failover: boolean; readonly approval: ApprovalMode },
    wakes: Wakes,
  ) {
    this.#context = context;
    this.#failover = failover;
    this.orders = new Orders(context, approval);
    this.#wakes = wakes;
  }

  /** Puts an item in line, or takes it out of it, as its state asks. */
  settle(item: Item): void {
    if (this.putInPlace(item)) this.#wakes.release();
  }

  /**
   * The same for the caller that works off the line already, and knows when to check again: woken by its own change, it
   * would never rest while the server refuses. Answers whether the item is in line.
   */
  putInPlace(item: Item): boolean {
    const dueAt = this.dueAt(item);
    if (item.state !== "Queued" || item.isBusy || dueAt === undefined) {
      this.remove(item);
      if (item.held !== undefined && this.awaitsApproval(item)) item.held = undefined;
      return false;
    }
    // What is tolerated for a time waits for that, and not for what held it by a taint that is gone.
    if (dueAt > this.#context.time.moment().now) item.held = undefined;
    const { priority = 0 } = item.entry;
    // seed: put-in-line
    this.queue.put({ item, ...placeOf(item), priority, order: item.order, dueAt });
    return true;
  }

  /** Takes an item out of line, whatever its state. */
  remove(item: Item): void {
    this.queue.remove(placeOf(item));
  }

  /** Keeps an item back. It stays out of the line until something about its binding or the clusters changes. */
  hold(item: Item, reason: HeldReason, message: string, now: Instant): boolean {
    const isNew = item.held?.reason !== reason;
    item.held = { reason, message, since: isNew ? now : (item.held?.since ?? now) };
    this.remove(item);
    return isNew;
  }

  /** When the item may be released; undefined while it may not at all. */
  dueAt(item: Item): Instant | undefined {
    const { evacuation } = item.track;
    // seed: stopped
    if (evacuation.spec.paused || (this.#failover && wasStoppedByGate(evacuation)))
      return undefined;
    if (this.orders.stops(item)) return undefined;
    const moment = this.#context.time.moment();
    let earliest: Instant | undefined;
    for (const term of this.#termsThatMove(item, moment)) {
      const at = dueOf(term, moment.due);
      if (earliest === undefined || at < earliest) earliest = at;
    }
    return earliest;
  }

  /** Whether an item would leave, now or after a time, if a person approved it, and does not without. */
  awaitsApproval(item: Item): boolean {
    if (item.state !== "Queued") return false;
    const moment = this.#context.time.moment();
    const terms = this.termsInForce(item).filter(({ taint }) => this.#isCounted(taint));
    return (
      terms.length > 0 && terms.every((term) => this.orders.awaitsApproval(item, term, moment))
    );
  }

  /** The term by which an item may be released now: the one that is due for longest. */
  termDue(item: Item, moment: Moment): Term | undefined {
    if (this.orders.stops(item)) return undefined;
    const due = this.#termsThatMove(item, moment).filter(
      (term) => dueOf(term, moment.due) <= moment.now,
    );
    return due.toSorted((a, b) => (a.toleratedUntil ?? 0) - (b.toleratedUntil ?? 0))[0];
  }

  /** The terms that ask for moving: recorded, not exempt, their taint on the cluster. */
  termsInForce({ track, terms }: Item): readonly Term[] {
    const { inForce } = track;
    return [...terms.values()].filter(({ id, exempt }) => exempt === undefined && inForce.has(id));
  }

  /** Those of them by which a binding may go when their time has come: as the gate stands, and approved. */
  #termsThatMove(item: Item, moment: Moment): readonly Term[] {
    return this.termsInForce(item).filter(
      (term) => this.#isCounted(term.taint) && !this.orders.awaitsApproval(item, term, moment),
    );
  }

  #isCounted(taint: TaintIdentity): boolean {
    return this.#failover || isDrainTaint(taint);
  }
}

/** From when the term lets its binding go. */
function dueOf({ toleratedUntil, addedAt }: Term, due: DueTime): Instant {
  if (toleratedUntil === undefined) return instantOf(0);
  return addedAt === undefined ? toleratedUntil : due(addedAt, toleratedUntil - addedAt);
}

/** Its place in the queue: an evacuation that ends does not touch the line of the cluster's next one. */
function placeOf({ track, id, lane }: Item): Pick<Waiting, "cluster" | "id" | "lane"> {
  return { cluster: track.cluster, id: `${track.evacuation.metadata.name} ${id}`, lane };
}
