/** A score: why one cluster that fits is better than another. One file each, and one line in `registry.ts`. */
import type { Candidate } from "../candidate.ts";

export interface Score {
  readonly name: string;
  /** From 0 to 100. */
  scoreOf(candidate: Candidate, holdsCopy: boolean): number;
}
