/**
 * What bindings were promised and no copy reports yet, summed up by cluster. A change costs what the one binding holds:
 * nothing walks all bindings.
 */
import { type RoomReservation, reservationsOf, type Target } from "@lifeboat/core/placement";
import type { Binding } from "./bindings.ts";

export class PromisedRoom {
  readonly #sums = new Map<string, Map<string, number>>();
  readonly #byBinding = new Map<string, readonly RoomReservation[]>();

  /** By cluster. */
  get reserved(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#sums;
  }

  /** By cluster, as if this binding were counted as it is here. */
  reservedWith(key: string, binding: Binding): ReadonlyMap<string, ReadonlyMap<string, number>> {
    const sums = new Map<string, Map<string, number>>(this.#sums);
    const own = new Set<string>();
    const count = ({ cluster, amounts }: RoomReservation, sign: 1 | -1): void => {
      if (!own.has(cluster)) sums.set(cluster, new Map(sums.get(cluster)));
      own.add(cluster);
      addTo(sums, cluster, amounts, sign);
    };
    for (const one of reservationsOf(binding)) count(one, 1);
    for (const one of this.#byBinding.get(key) ?? NOTHING) count(one, -1);
    return sums;
  }

  /** Counts a binding as it is, or with a result that is being written. Answers what clusters no longer owe it. */
  put(key: string, binding: Binding, targets?: readonly Target[]): readonly RoomReservation[] {
    return this.#replace(key, reservationsOf(binding, targets));
  }

  remove(key: string): readonly RoomReservation[] {
    return this.#replace(key, NOTHING);
  }

  /** Counts something that no binding holds, or takes it back. */
  add({ cluster, amounts }: RoomReservation, sign: 1 | -1): void {
    addTo(this.#sums, cluster, amounts, sign);
  }

  #replace(key: string, now: readonly RoomReservation[]): readonly RoomReservation[] {
    const old = this.#byBinding.get(key);
    if (now.length === 0) {
      if (old === undefined) return NOTHING;
      this.#byBinding.delete(key);
    } else this.#byBinding.set(key, now);
    for (const one of now) this.add(one, 1);
    if (old === undefined) return NOTHING;
    for (const one of old) this.add(one, -1);
    return old.map((one) => lessOf(one, now)).filter((one) => podsOf(one) > 0);
  }
}

const NOTHING: readonly never[] = Object.freeze([]);

function addTo(
  all: Map<string, Map<string, number>>,
  cluster: string,
  amounts: RoomReservation["amounts"],
  sign: 1 | -1,
): void {
  const sums = all.get(cluster) ?? new Map<string, number>();
  all.set(cluster, sums);
  for (const [name, amount] of amounts) {
    const sum = (sums.get(name) ?? 0) + sign * amount;
    if (sum === 0) sums.delete(name);
    else sums.set(name, sum);
  }
  if (sums.size === 0) all.delete(cluster);
}

/** Whether nothing changed that room depends on; what is the same value is seen at once. */
export function isSameRoom(old: Binding, binding: Binding): boolean {
  return (
    old.spec === binding.spec && old.status?.aggregatedStatus === binding.status?.aggregatedStatus
  );
}

export function podsOf({ amounts }: RoomReservation): number {
  return amounts.get("pods") ?? 0;
}

/** A reservation without what is still reserved in its cluster; nothing of a resource that is not less. */
export function lessOf(one: RoomReservation, still: readonly RoomReservation[]): RoomReservation {
  const left = still.find(({ cluster }) => cluster === one.cluster);
  if (left === undefined) return one;
  const amounts = new Map<string, number>();
  for (const [name, amount] of one.amounts)
    amounts.set(name, Math.max(0, amount - (left.amounts.get(name) ?? 0)));
  return { cluster: one.cluster, amounts };
}
