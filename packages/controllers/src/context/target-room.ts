/**
 * The one view of the room that is left for workloads which have to leave a cluster or return to one: evacuations, failing
 * applications and failback count on it. What is promised to one of them is not free for another.
 *
 * 1. A workload that was evicted and is not placed yet has a claim on the room it would be placed in now. So many evictions
 *    do not all count on the same room, also when the scheduler is behind, waits for a purge, or everything restarts.
 * 2. A move that is about to be written counts from the moment it is decided.
 * 3. What copies report goes on counting until their cluster's own count shows it, as for the scheduler.
 * 4. What a workload was promised does not stand in its own way.
 * 5. It follows the informers from its construction, before any controller subscribes. A change costs what the one binding
 *    holds: nothing walks all bindings.
 */
import { type Cluster, equalJson, formatKey, keyOf } from "@lifeboat/api";
import { addMs, type Instant, type Moment, type SteadyTime } from "@lifeboat/base";
import { isDirect, isGenerationScheduled, isMoving, tasksOf } from "@lifeboat/core/binding";
import {
  type FleetView,
  place,
  type PlacementView,
  placementViewOf,
  type Target,
} from "@lifeboat/core/placement";
import type { Binding } from "./bindings.ts";
import type { PlaneFleetView } from "./fleet-view.ts";
import type { PlaneInformers } from "./informers.ts";
import { RoomLedger } from "./room-ledger.ts";

const COUNT_MS = 10_000;

export interface TargetRoomParts {
  readonly informers: Pick<
    PlaneInformers,
    "clusters" | "resourceBindings" | "clusterResourceBindings"
  >;
  readonly fleetView: PlaneFleetView;
  readonly time: SteadyTime;
  /** How often clusters count their room; 10 seconds when absent. */
  readonly countMs?: number | undefined;
}

export class TargetRoom {
  readonly #fleetView: PlaneFleetView;
  readonly #ledger: RoomLedger;
  /** Evicted and not placed, and nothing is promised to them: what they take is guessed by placing them. */
  readonly #unplaced = new Map<string, Binding>();
  /** Counted with where they would go, not with where they are. */
  readonly #promised = new Set<string>();
  #expired = 0;

  constructor({ informers, fleetView, time, countMs = COUNT_MS }: TargetRoomParts) {
    this.#fleetView = fleetView;
    this.#ledger = new RoomLedger(countMs);
    informers.clusters.onChange((old, now) => this.#putCluster(old, now, time.moment()));
    for (const informer of [informers.resourceBindings, informers.clusterResourceBindings])
      informer.onChange((old, now) => this.#putBinding(old, now, time.moment()));
  }

  /** Counts how often something settled that was held for a cluster's count: a workload may fit then that did not. */
  get expired(): number {
    return this.#expired;
  }

  /** The present input of a placement of this binding. */
  viewOf(binding: Binding, moment: Moment): PlacementView {
    return placementViewOf(binding, this.fleetFor(binding, moment), "target");
  }

  /** The clusters, and what is promised on them to others than this binding. */
  fleetFor(binding: Binding, moment: Moment): FleetView & Required<Pick<FleetView, "reserved">> {
    this.expire(moment);
    this.#guess(moment);
    const id = formatKey(keyOf(binding));
    const { fleet } = this.#fleetView;
    const reserved = this.#promised.has(id)
      ? this.#ledger.reservedWith(id, binding)
      : this.#ledger.reserved;
    return { fleet, reserved };
  }

  /** Counts a move before it is written. */
  promise(binding: Binding, targets: readonly Target[]): void {
    const id = formatKey(keyOf(binding));
    this.#promised.add(id);
    this.#unplaced.delete(id);
    this.#ledger.put(id, binding, targets);
  }

  /** Takes a promise back: nothing was written. `binding`: as it is now. */
  forget(binding: Binding): void {
    const id = formatKey(keyOf(binding));
    if (!this.#promised.delete(id)) return;
    this.#ledger.put(id, binding);
    // It has left another cluster before, and needs its room still.
    if (isUnplaced(binding)) this.#unplaced.set(id, binding);
  }

  /** Lets go of what has settled for long enough. */
  expire(moment: Moment): void {
    this.#expired += this.#ledger.expire(moment).length;
  }

  /** By when what settles now will have settled; undefined: nothing does. */
  settledBy(now: Instant): Instant | undefined {
    return this.#ledger.hasSettling ? addMs(now, this.#ledger.settleMs) : undefined;
  }

  #putCluster(old: Cluster | undefined, now: Cluster | undefined, at: Moment): void {
    const { name = "" } = (now ?? old)?.metadata ?? {};
    if (!equalJson(old?.status?.resourceSummary, now?.status?.resourceSummary))
      this.#ledger.counted(name, at);
  }

  #putBinding(old: Binding | undefined, now: Binding | undefined, at: Moment): void {
    const id = formatKey(keyOf((now ?? old) as Binding));
    const isPromised = this.#promised.has(id);
    // A purge may be over before the scheduler has placed the workload: until then the promise holds.
    if (isPromised && now !== undefined && isUndecided(now)) return;
    if (now !== undefined && isUnplaced(now)) {
      if (!isPromised) this.#unplaced.set(id, now);
      return;
    }
    this.#unplaced.delete(id);
    this.#promised.delete(id);
    if (now === undefined) this.#ledger.remove(id);
    // What was only promised elsewhere is reported by no copy.
    else if (isPromised) this.#ledger.put(id, now);
    else this.#ledger.takeIn(id, old, now, at);
  }

  #guess(moment: Moment): void {
    for (const [id, binding] of this.#unplaced) {
      this.#unplaced.delete(id);
      this.#ledger.remove(id);
      const { fleet } = this.#fleetView;
      const seen = { fleet, reserved: this.#ledger.reserved };
      this.promise(binding, place(placementViewOf(binding, seen, "target"), moment).clusters);
    }
  }
}

/** Whether an eviction was decided whose part is not placed yet. */
function isUnplaced(binding: Binding): boolean {
  if (!isMoving(binding) || binding.metadata.deletionTimestamp !== undefined) return false;
  return !isGenerationScheduled(binding) || tasksOf(binding).some(isDirect);
}

/** Whether the scheduler has not decided about the present generation yet. */
function isUndecided(binding: Binding): boolean {
  return binding.metadata.deletionTimestamp === undefined && !isGenerationScheduled(binding);
}
