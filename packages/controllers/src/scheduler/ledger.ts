/**
 * What was promised to each cluster and does not show in its status yet, kept up to date binding by binding.
 *
 * 1. The sums follow from the bindings alone, and from results that are being written: a restart counts the same.
 * 2. A change costs what the one binding holds.
 */
import {
  type RoomReservation,
  reservationsOf,
  type ResourceAmounts,
  type Target,
} from "@lifeboat/core";
import type { Binding } from "../bindings.ts";

export class Ledger {
  readonly #sums = new Map<string, Map<string, number>>();
  readonly #byBinding = new Map<string, readonly RoomReservation[]>();

  /** By cluster. */
  get reserved(): ReadonlyMap<string, ResourceAmounts> {
    return this.#sums;
  }

  /** Counts a binding as it is, or with a result that is being written. Answers the clusters that owe less now. */
  put(key: string, binding: Binding, targets?: readonly Target[]): readonly string[] {
    return this.#replace(key, reservationsOf(binding, targets));
  }

  remove(key: string): readonly string[] {
    return this.#replace(key, []);
  }

  #replace(key: string, now: readonly RoomReservation[]): readonly string[] {
    const old = this.#byBinding.get(key);
    if (now.length === 0) {
      if (old === undefined) return NOTHING;
      this.#byBinding.delete(key);
    } else this.#byBinding.set(key, now);
    for (const one of now) this.#add(one, 1);
    for (const one of old ?? []) this.#add(one, -1);
    if (old === undefined) return NOTHING;
    return old
      .filter((one) => podsOf(one) > podsIn(now, one.cluster))
      .map(({ cluster }) => cluster);
  }

  #add({ cluster, amounts }: RoomReservation, sign: 1 | -1): void {
    const sums = this.#sums.get(cluster) ?? new Map<string, number>();
    this.#sums.set(cluster, sums);
    for (const [name, amount] of amounts) {
      const sum = (sums.get(name) ?? 0) + sign * amount;
      if (sum === 0) sums.delete(name);
      else sums.set(name, sum);
    }
    if (sums.size === 0) this.#sums.delete(cluster);
  }
}

const NOTHING: readonly never[] = Object.freeze([]);

function podsOf({ amounts }: RoomReservation): number {
  return amounts.get("pods") ?? 0;
}

function podsIn(reservations: readonly RoomReservation[], cluster: string): number {
  const found = reservations.find((one) => one.cluster === cluster);
  return found === undefined ? 0 : podsOf(found);
}
