/**
 * The clusters as a placement sees them, kept up to date once from the informer for all controllers: each is read as a candidate
 * once.
 *
 * It follows the informer from its construction, before any controller subscribes: a controller that learns of a change finds it
 * in the view. What is promised on the clusters is in `TargetRoom`, and in the scheduler's own `RoomLedger`.
 */
import type { Cluster } from "@lifeboat/api";
import {
  type Candidate,
  candidateOf,
  type CandidateFleet,
  fleetOf,
  type FleetView,
} from "@lifeboat/core/placement";
import type { PlaneInformers } from "./informers.ts";

export interface PlaneFleetView extends Pick<FleetView, "fleet"> {
  /** A Cluster object as placement sees it: it is read once. */
  candidateOf(cluster: Cluster): Candidate;
}

/** Builds the view over the informer. It needs no service of its own. */
export function createFleetView(informers: Pick<PlaneInformers, "clusters">): PlaneFleetView {
  return new KeptFleetView(informers);
}

class KeptFleetView implements PlaneFleetView {
  /** By Cluster object: those of old objects are asked for, too, and go with them. */
  readonly #read = new WeakMap<Cluster, Candidate>();
  readonly #candidates = new Map<string, Candidate>();
  #fleet: CandidateFleet | undefined;

  constructor(informers: Parameters<typeof createFleetView>[0]) {
    informers.clusters.onChange((old, now) => this.#putCluster(old, now));
  }

  get fleet(): CandidateFleet {
    this.#fleet ??= fleetOf(this.#candidates.values());
    return this.#fleet;
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
}
