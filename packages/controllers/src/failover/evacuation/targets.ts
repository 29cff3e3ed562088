/**
 * The input of the check for a target: the clusters as the scheduler sees them, and what is promised on them.
 *
 * 1. A workload that was evicted and is not placed yet has a claim on the room it would be placed in now. So many evictions
 *    do not all count on the same room, also when the scheduler is behind, waits for a purge, or everything restarts.
 * 2. A release that is about to be written counts from the moment it is decided.
 * 3. What copies report goes on counting until their cluster's own count shows it, as for the scheduler.
 */
import { type Cluster, equalJson, formatKey } from "@lifeboat/api";
import { addMs, type Instant, type Moment } from "@lifeboat/base";
import { isDirect, isGenerationScheduled, isMoving, tasksOf } from "@lifeboat/core/binding";
import {
  type FleetView,
  place,
  type PlacementView,
  placementViewOf,
  type Target,
} from "@lifeboat/core/placement";
import type { Binding } from "../../context/bindings.ts";
import { RoomLedger } from "../../context/room-ledger.ts";

export class Targets {
  readonly #fleetView: FleetView;
  readonly #ledger: RoomLedger;
  /** Evicted and not placed, and nothing is promised to them: what they take is guessed by placing them. */
  readonly #unplaced = new Map<string, Binding>();
  /** Counted with where they would go, not with where they are. */
  readonly #promised = new Set<string>();

  /** `fleetView`: gives the clusters. `countMs`: how often clusters count their room. */
  constructor(fleetView: FleetView, countMs: number) {
    this.#fleetView = fleetView;
    this.#ledger = new RoomLedger(countMs);
  }

  putCluster(old: Cluster | undefined, now: Cluster | undefined, at: Moment): void {
    const { name = "" } = (now ?? old)?.metadata ?? {};
    if (!equalJson(old?.status?.resourceSummary, now?.status?.resourceSummary))
      this.#ledger.counted(name, at);
  }

  putBinding(old: Binding | undefined, now: Binding | undefined, at: Moment): void {
    const { namespace = "", name } = ((now ?? old) as Binding).metadata;
    const id = formatKey({ namespace, name });
    if (now !== undefined && isUnplaced(now)) {
      if (!this.#promised.has(id)) this.#unplaced.set(id, now);
      return;
    }
    this.#unplaced.delete(id);
    const wasPromised = this.#promised.delete(id);
    if (now === undefined) this.#ledger.remove(id);
    // What was only promised elsewhere is reported by no copy.
    else if (wasPromised) this.#ledger.put(id, now);
    else this.#ledger.takeIn(id, old, now, at);
  }

  /** The present input of a placement of this binding. */
  viewOf(binding: Binding, moment: Moment): PlacementView {
    this.#guess(moment);
    return this.#view(binding);
  }

  /** Counts a release before it is written. */
  promise(id: string, binding: Binding, targets: readonly Target[]): void {
    this.#promised.add(id);
    this.#ledger.put(id, binding, targets);
  }

  /** Takes a promise back: nothing was written. */
  forget(id: string, binding: Binding): void {
    if (this.#promised.delete(id)) this.#ledger.put(id, binding);
  }

  /** Lets go of what has settled for long enough; answers whether there was any, so that a workload may fit now. */
  expire(moment: Moment): boolean {
    return this.#ledger.expire(moment).length > 0;
  }

  /** By when what settles now will have settled; undefined: nothing does. */
  settledBy(now: Instant): Instant | undefined {
    return this.#ledger.hasSettling ? addMs(now, this.#ledger.settleMs) : undefined;
  }

  #view(binding: Binding): PlacementView {
    const { fleet } = this.#fleetView;
    const seen = { fleet, reserved: this.#ledger.reserved };
    return placementViewOf(binding, seen, "target");
  }

  #guess(moment: Moment): void {
    for (const [id, binding] of this.#unplaced) {
      this.#unplaced.delete(id);
      this.#promised.add(id);
      this.#ledger.remove(id);
      this.#ledger.put(id, binding, place(this.#view(binding), moment).clusters);
    }
  }
}

/** Whether an eviction was decided whose part is not placed yet. */
function isUnplaced(binding: Binding): boolean {
  if (!isMoving(binding) || binding.metadata.deletionTimestamp !== undefined) return false;
  return !isGenerationScheduled(binding) || tasksOf(binding).some(isDirect);
}
