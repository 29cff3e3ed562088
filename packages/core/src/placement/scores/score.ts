/** A score: why one cluster that fits is better than another. One file each, and one line in `registry.ts`. */
import type { Candidate, CandidateFleet } from "../candidate.ts";
import type { Asked } from "../filters/filter.ts";

export interface Score {
  readonly name: string;
  /** The scoring for one placement; undefined: it is 0 for every cluster of this fleet, and costs nothing. */
  prepare(asked: Asked, fleet: CandidateFleet): Scoring | undefined;
}

/** From -100 to 100. */
export type Scoring = (candidate: Candidate, holdsCopy: boolean) => number;
