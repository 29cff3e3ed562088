/**
 * A filter: one reason for which a cluster cannot take a workload. One file each, and one line in `registry.ts`.
 *
 * Filters never throw. A rejection is a shared value, so that filtering a thousand clusters allocates nothing.
 */
import type { Moment } from "@lifeboat/base";
import type { Candidate, CandidateFleet } from "../candidate.ts";
import type { AffinityTerm, PlacementRules } from "../rules.ts";

export interface Filter {
  readonly name: string;
  /** Whether a cluster that holds a copy must pass too. If not, it keeps what it has but gets no more. */
  readonly binds: boolean;
  /** The check for one placement; undefined: it rejects no cluster of this fleet, and costs nothing. */
  prepare(asked: Asked, fleet: CandidateFleet): Check | undefined;
}

/** Why the cluster cannot take the workload; undefined: this filter has nothing against it. */
export type Check = (candidate: Candidate) => Rejection | undefined;

export interface Rejection {
  /** The filter's name. */
  readonly filter: string;
  /** For people, as one of several clusters: `had untolerated taint {…}`. */
  readonly message: string;
  /** What would change it, for people. */
  readonly help: string;
}

/** What a workload asks of a cluster. */
export interface Asked {
  /** As `Candidate.apis` has it. */
  readonly api: string;
  readonly rules: PlacementRules;
  /** The group of clusters that is tried. */
  readonly term: AffinityTerm;
  /** Clusters that the workload left because it did not get well there. */
  readonly evictedFrom: ReadonlySet<string>;
  readonly moment: Moment;
}
