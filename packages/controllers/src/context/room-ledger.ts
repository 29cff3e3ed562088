/**
 * What was promised to each cluster and does not show in its status yet, kept up to date binding by binding: the room on
 * which neither the scheduler nor an eviction may count a second time.
 *
 *   promised ──▶ its copy reports it ──▶ settling: the cluster's own count of room follows ──▶ gone
 *
 * 1. The sums follow from the bindings alone, and from results that are being written: a restart counts the same. Only
 *    what is settling is remembered, for as long as a cluster takes to count again.
 * 2. A change costs what the one binding holds.
 */
import { type Instant, type Moment, parseTime } from "@lifeboat/base";
import {
  type RoomReservation,
  reservationsOf,
  type ResourceAmounts,
  type Target,
} from "@lifeboat/core/placement";
import type { Binding } from "./bindings.ts";
import { isSameRoom, lessOf, podsOf, PromisedRoom } from "./promised-room.ts";

interface Settling {
  readonly what: RoomReservation;
  readonly since: Instant;
}

/** A count of room needs this long to be made and written. */
const COUNT_DELAY_MS = 2000;
/** A count of room that is written this soon after a copy's report may have been made before it. */
const COUNTED_MS = 1000;

export class RoomLedger {
  readonly #room = new PromisedRoom();
  readonly #settling = new Map<string, Settling[]>();
  readonly #settleMs: number;

  /** `frequencyMs`: how often clusters count their room. */
  constructor(frequencyMs: number) {
    this.#settleMs = frequencyMs + COUNT_DELAY_MS;
  }

  /** After this time every cluster has counted its room again. */
  get settleMs(): number {
    return this.#settleMs;
  }

  /** By cluster. */
  get reserved(): ReadonlyMap<string, ResourceAmounts> {
    return this.#room.reserved;
  }

  /** By cluster, as if this binding were counted as it is here. Costs what the clusters and the one binding are. */
  reservedWith(key: string, binding: Binding): ReadonlyMap<string, ResourceAmounts> {
    return this.#room.reservedWith(key, binding);
  }

  get hasSettling(): boolean {
    return this.#settling.size > 0;
  }

  /**
   * Takes in a change of a binding; `old` is undefined when it was not known. Answers what is free from now on: what copies
   * report instead settles first.
   */
  takeIn(
    key: string,
    old: Binding | undefined,
    binding: Binding,
    moment: Moment,
  ): readonly RoomReservation[] {
    if (old !== undefined && isSameRoom(old, binding)) return NOTHING;
    const less = this.put(key, binding);
    if (old !== undefined && old.metadata.generation !== binding.metadata.generation) return less;
    // What the same generation no longer reserves, its copies report: the cluster's own count follows.
    if (old === undefined) this.#settleRecent(binding, moment);
    else this.#settle(less, moment.now);
    return NOTHING;
  }

  /** Counts a binding as it is, or with a result that is being written. Answers what clusters no longer owe it. */
  put(key: string, binding: Binding, targets?: readonly Target[]): readonly RoomReservation[] {
    return this.#room.put(key, binding, targets);
  }

  remove(key: string): readonly RoomReservation[] {
    return this.#room.remove(key);
  }

  /** Goes on counting what copies report until their cluster has counted it, too. */
  #settle(visible: readonly RoomReservation[], since: Instant): void {
    for (const what of visible) {
      const list = this.#settling.get(what.cluster);
      if (list === undefined) this.#settling.set(what.cluster, [{ what, since }]);
      else list.push({ what, since });
      this.#room.add(what, 1);
    }
  }

  /** Takes in, after a restart, a binding whose copies may have reported just now: what it was given settles. */
  #settleRecent(binding: Binding, { now, due }: Moment): void {
    const since = parseTime(binding.status?.lastScheduledTime ?? "");
    if (since === undefined || due(since, this.#settleMs) <= now) return;
    const hidden = reservationsOf(binding);
    const whole = reservationsOf({ spec: binding.spec });
    const visible = whole.map((one) => lessOf(one, hidden)).filter((one) => podsOf(one) > 0);
    this.#settle(visible, since);
  }

  /** The cluster has counted its room: what settled before is part of that. Answers whether there was any. */
  counted(cluster: string, { now, due }: Moment): boolean {
    return this.#drop(cluster, (since) => due(since, COUNTED_MS) <= now);
  }

  /** Lets go of what has settled for long enough: the count did not change by it. Answers the clusters concerned. */
  expire({ now, due }: Moment): readonly string[] {
    return [...this.#settling.keys()].filter((cluster) =>
      this.#drop(cluster, (since) => due(since, this.#settleMs) <= now),
    );
  }

  #drop(cluster: string, isOver: (since: Instant) => boolean): boolean {
    const list = this.#settling.get(cluster) ?? NOTHING;
    const left = list.filter(({ since }) => !isOver(since));
    if (left.length === list.length) return false;
    for (const { what, since } of list) if (isOver(since)) this.#room.add(what, -1);
    if (left.length === 0) this.#settling.delete(cluster);
    else this.#settling.set(cluster, left);
    return true;
  }
}

const NOTHING: readonly never[] = Object.freeze([]);
