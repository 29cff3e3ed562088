/**
 * What the check for a target looks at: the clusters as the scheduler sees them, and what is promised on them.
 *
 * 1. A workload that was evicted and is not placed yet has a claim on the room it would be placed in now. So many evictions
 *    do not all count on the same room, also when the scheduler is behind, waits for a purge, or everything restarts.
 * 2. A release that is about to be written counts from the moment it is decided.
 */
import { type Cluster, formatKey } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import {
  type Candidate,
  candidateOf,
  type Fleet,
  fleetOf,
  place,
  type PlacementView,
  reservationsOf,
  type RoomReservation,
  type Target,
} from "@lifeboat/core";
import type { Binding } from "../bindings.ts";

export class Targets {
  readonly #candidates = new Map<string, Candidate>();
  readonly #sums = new Map<string, Map<string, number>>();
  readonly #byBinding = new Map<string, readonly RoomReservation[]>();
  /** Evicted and not placed, and nobody has promised them anything: what they take is guessed by placing them. */
  readonly #unplaced = new Map<string, Binding>();
  readonly #promised = new Set<string>();
  #fleet: Fleet | undefined;

  putCluster(name: string, cluster: Cluster | undefined): void {
    if (cluster === undefined) this.#candidates.delete(name);
    else this.#candidates.set(name, candidateOf(cluster));
    this.#fleet = undefined;
  }

  putBinding(old: Binding | undefined, now: Binding | undefined): void {
    const { namespace = "", name } = ((now ?? old) as Binding).metadata;
    const id = formatKey({ namespace, name });
    if (now !== undefined && isUnplaced(now)) {
      if (!this.#promised.has(id)) this.#unplaced.set(id, now);
      return;
    }
    this.#unplaced.delete(id);
    this.#promised.delete(id);
    this.#replace(id, now === undefined ? [] : reservationsOf(now));
  }

  /** What a placement of this binding looks at now. */
  viewOf(binding: Binding, now: Instant): PlacementView {
    this.#guess(now);
    return { binding, fleet: this.#fleetNow(), reserved: this.#sums };
  }

  /** Counts a release before it is written. */
  promise(id: string, binding: Binding, targets: readonly Target[]): void {
    this.#promised.add(id);
    this.#replace(id, reservationsOf(binding, targets));
  }

  #fleetNow(): Fleet {
    this.#fleet ??= fleetOf(this.#candidates.values());
    return this.#fleet;
  }

  #guess(now: Instant): void {
    for (const [id, binding] of this.#unplaced) {
      this.#unplaced.delete(id);
      this.#promised.add(id);
      this.#replace(id, []);
      const view = { binding, fleet: this.#fleetNow(), reserved: this.#sums };
      this.#replace(id, reservationsOf(binding, place(view, now).clusters));
    }
  }

  #replace(id: string, now: readonly RoomReservation[]): void {
    for (const one of this.#byBinding.get(id) ?? []) this.#add(one, -1);
    for (const one of now) this.#add(one, 1);
    if (now.length === 0) this.#byBinding.delete(id);
    else this.#byBinding.set(id, now);
  }

  #add({ cluster, amounts }: RoomReservation, sign: 1 | -1): void {
    const sums = this.#sums.get(cluster) ?? new Map<string, number>();
    for (const [name, amount] of amounts) {
      const sum = (sums.get(name) ?? 0) + sign * amount;
      if (sum === 0) sums.delete(name);
      else sums.set(name, sum);
    }
    if (sums.size === 0) this.#sums.delete(cluster);
    else this.#sums.set(cluster, sums);
  }
}

/** Whether an eviction was decided whose part is not placed yet. */
function isUnplaced({ metadata, spec, status }: Binding): boolean {
  const tasks = spec.gracefulEvictionTasks ?? [];
  if (tasks.length === 0 || metadata.deletionTimestamp !== undefined) return false;
  if (status?.schedulerObservedGeneration !== metadata.generation) return true;
  return tasks.some(({ purgeMode }) => purgeMode === "Directly" || purgeMode === "Immediately");
}
