/** A cluster that can have a part of a workload. */
import type { Candidate } from "./candidate.ts";

export interface Fit {
  readonly candidate: Candidate;
  /** Whether the result has it already. */
  readonly isPresent: boolean;
  /** How many replicas it has now. */
  readonly current: number;
  /** false: it keeps what it has and gets no more. */
  readonly mayGrow: boolean;
  readonly score: number;
  /** How many more replicas it has room for; 0 when it must not grow. */
  readonly room: number;
  /** What it has and what it has room for. */
  readonly available: number;
  /** Pods of all workloads that the cluster runs or was promised: between equals the least loaded is taken. */
  readonly load: number;
}
