/** Chooses what is released next: takes entries out of the queue that may leave now, and holds those that may not. */
import type { Moment } from "@lifeboat/base";
import { decideRelease, type Lane, type ReleaseDecision } from "@lifeboat/core/failover/evacuation";
import type { HeldReason } from "@lifeboat/core/failover/leaving";
import { type Binding, bindingOf } from "../../context/bindings.ts";
import type { Item, Term } from "./items.ts";
import { releaseViewOf } from "./release-view.ts";
import type { EvacuationState } from "./state.ts";
import { reportHeld } from "./reports.ts";

/** How many entries are judged before the other controllers get their turn. */
const MAX_CHECKS = 500;

export interface Picked {
  readonly item: Item;
  readonly term: Term;
  readonly binding: Binding;
  readonly decision: Extract<ReleaseDecision, { outcome: "release" }>;
  /** What was known of the fleet when it was decided, see `#knowledge`. */
  readonly knowledge: number;
}

export class Picker {
  readonly #state: EvacuationState;
  /** Counts the changes of clusters and policies: a decision that rests on an older state is made again. */
  #knowledge = 0;

  constructor(state: EvacuationState) {
    this.#state = state;
  }

  /** Clusters or policies changed. */
  fleetChanged(): void {
    this.#knowledge += 1;
  }

  /** Takes up to `count` entries out of the queue that may leave; holds those that may not. */
  pick(lane: Lane, count: number, moment: Moment): { picks: Picked[]; isMore: boolean } {
    const { board, context } = this.#state;
    const picks: Picked[] = [];
    for (let checks = 0; picks.length < count && checks < MAX_CHECKS; checks++) {
      const queued = board.line.queue.take(lane, moment.now);
      if (queued === undefined) return { picks, isMore: false };
      const pick = this.#pickOf(queued.item, moment);
      if (pick === undefined) {
        // seed: turn-not-used
        board.line.queue.giveTurnBack(queued);
        continue;
      }
      pick.item.isBusy = true;
      pick.item.held = undefined;
      context.targetRoom.promise(pick.binding, pick.decision.targets);
      picks.push(pick);
    }
    return { picks, isMore: true };
  }

  /** Whether an entry may go, and how; undefined: it may not, and waits otherwise now. */
  #pickOf(item: Item, moment: Moment): Picked | undefined {
    const { board, context } = this.#state;
    const binding = bindingOf(context.informers, item.key);
    const term = board.line.termDue(item, moment);
    if (binding === undefined) return undefined;
    if (term === undefined) {
      // The clock was set since it was put in line.
      board.line.settle(item);
      return undefined;
    }
    const decision = this.#decide(item, term, binding, moment);
    if (decision.outcome === "held") {
      this.hold(item, decision.reason, decision.message);
      return undefined;
    }
    return { item, term, binding, decision, knowledge: this.#knowledge };
  }

  #decide(item: Item, term: Term, binding: Binding, moment: Moment): ReleaseDecision {
    return decideRelease(releaseViewOf(this.#state, item, term, binding, moment), moment);
  }

  /** The decision about a pick as it is now: made again when its binding or the fleet has changed since. */
  confirm(pick: Picked, binding: Binding, moment: Moment): ReleaseDecision {
    return this.#isCurrent(pick, binding)
      ? pick.decision
      : this.#decideAgain(pick, binding, moment);
  }

  /** Whether nothing has changed since the decision that it rests on. */
  #isCurrent({ binding, knowledge }: Picked, now: Binding): boolean {
    const isSame = now.metadata.resourceVersion === binding.metadata.resourceVersion;
    return isSame && knowledge === this.#knowledge;
  }

  #decideAgain({ item, term }: Picked, binding: Binding, moment: Moment): ReleaseDecision {
    const { targetRoom } = this.#state.context;
    const decision = this.#decide(item, term, binding, moment);
    if (decision.outcome === "release") targetRoom.promise(binding, decision.targets);
    else targetRoom.forget(binding);
    return decision;
  }

  /** Entries that were picked and not released are in line again, and it is still the turn of the first one's cluster. */
  putAllBack(lane: Lane, picks: readonly Picked[]): void {
    for (const pick of picks.toReversed()) {
      this.putBack(pick);
      this.#state.board.line.queue.giveTurnBack({ lane, cluster: pick.item.track.cluster });
    }
  }

  /** An item that was picked is in line again if its state allows it. */
  putBack(pick: Picked): void {
    const { item } = pick;
    this.takeBack(pick);
    if (item.state === "Queued" && item.held === undefined) this.#state.board.line.putInPlace(item);
  }

  /** An item that was picked is not released: its room is free again, unless it has left meanwhile. */
  takeBack({ item }: Picked): void {
    const { informers, targetRoom } = this.#state.context;
    item.isBusy = false;
    if (item.state === "Evicted" || item.state === "Done") return;
    const binding = bindingOf(informers, item.key);
    if (binding !== undefined) targetRoom.forget(binding);
  }

  /** Keeps an item where it is, and reports why. */
  hold(item: Item, reason: HeldReason, message: string): void {
    const { board, context, wakes } = this.#state;
    const { cluster, items } = item.track;
    const isNew = board.line.hold(item, reason, message, context.clock.now());
    // To the end, so that the next round begins with entries that were not tried in this one.
    items.delete(item.id);
    items.set(item.id, item);
    if (!isNew) return;
    reportHeld(context, item, { reason, message });
    wakes.record(cluster);
  }
}
