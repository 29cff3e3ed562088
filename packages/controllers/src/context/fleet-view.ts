/**
 * The fleet as a placement sees it, kept up to date once from the informers for all controllers: each cluster is read as a
 * candidate once, and promised room is counted binding by binding.
 *
 * 1. It follows the informers from its construction, before any controller subscribes: a controller that learns of a change
 *    finds it in the view.
 * 2. The room is what the bindings in the cache were promised. Results and releases that are not written yet are known only
 *    to the controller that writes them: scheduler and evacuation keep a `RoomLedger` of their own for these.
 */
import { type Cluster, formatKey, keyOf } from "@lifeboat/api";
import {
  type Candidate,
  candidateOf,
  type CandidateFleet,
  fleetOf,
  type FleetView,
} from "@lifeboat/core/placement";
import type { Binding } from "./bindings.ts";
import type { PlaneInformers } from "./informers.ts";
import { isSameRoom, PromisedRoom } from "./promised-room.ts";

export interface PlaneFleetView extends FleetView {
  /** A Cluster object as placement sees it: it is read once. */
  candidateOf(cluster: Cluster): Candidate;
}

/** Builds the view over informers. It needs no service of its own. */
export function createFleetView(
  informers: Pick<PlaneInformers, "clusters" | "resourceBindings" | "clusterResourceBindings">,
): PlaneFleetView {
  return new KeptFleetView(informers);
}

class KeptFleetView implements PlaneFleetView {
  /** By Cluster object: those of old objects are asked for, too, and go with them. */
  readonly #read = new WeakMap<Cluster, Candidate>();
  readonly #candidates = new Map<string, Candidate>();
  readonly #room = new PromisedRoom();
  #fleet: CandidateFleet | undefined;

  constructor(informers: Parameters<typeof createFleetView>[0]) {
    informers.clusters.onChange((old, now) => this.#putCluster(old, now));
    for (const informer of [informers.resourceBindings, informers.clusterResourceBindings])
      informer.onChange((old, now) => this.#putBinding(old, now));
  }

  get fleet(): CandidateFleet {
    this.#fleet ??= fleetOf(this.#candidates.values());
    return this.#fleet;
  }

  get reserved(): FleetView["reserved"] {
    return this.#room.reserved;
  }

  candidateOf(cluster: Cluster): Candidate {
    const known = this.#read.get(cluster);
    if (known !== undefined) return known;
    const candidate = candidateOf(cluster);
    this.#read.set(cluster, candidate);
    return candidate;
  }

  #putCluster(old: Cluster | undefined, now: Cluster | undefined): void {
    if (now !== undefined) this.#candidates.set(now.metadata.name, this.candidateOf(now));
    else if (old !== undefined) this.#candidates.delete(old.metadata.name);
    this.#fleet = undefined;
  }

  #putBinding(old: Binding | undefined, now: Binding | undefined): void {
    if (now === undefined) {
      if (old !== undefined) this.#room.remove(formatKey(keyOf(old)));
    } else if (old === undefined || !isSameRoom(old, now))
      this.#room.put(formatKey(keyOf(now)), now);
  }
}
