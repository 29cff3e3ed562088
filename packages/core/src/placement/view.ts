/** The input of a placement, and its result. */
import type { ResourceBinding } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import type { FederatedRecord } from "../federated/record.ts";
import type { CandidateFleet } from "./candidate.ts";
import type { Rejection } from "./filters/filter.ts";
import type { PlacementReason } from "./reasons.ts";
import type { Reserved } from "./room.ts";

export interface PlacementView {
  readonly binding: ResourceBinding;
  readonly fleet: CandidateFleet;
  /** By cluster: what was promised to workloads and does not show in the cluster's status yet. */
  readonly reserved: ReadonlyMap<string, Reserved>;
  /**
   * By cluster: for how many replicas of this workload it has room, by an estimator that reads more than the cluster's
   * status.
   */
  readonly estimates?: ReadonlyMap<string, number>;
  /**
   * Replicas whose old copy must be gone before they are placed (D10); they are not placed by this decision. Present
   * with 0 for workloads without replicas. Absent: nothing to wait for.
   */
  readonly waitForPurge?: number;
  /** Of a quorum: how long a replica that is to leave waits for the application to let it go; 0 or absent: for ever. */
  readonly letGoTimeoutMs?: number;
}

/** A cluster of a result and its share; the workload has no replicas, or is not divided into counts, when absent. */
export interface Target {
  readonly name: string;
  readonly replicas?: number;
}

export interface PlacementDecision {
  readonly reason: PlacementReason;
  /** For people: why, with the clusters counted. */
  readonly message: string;
  /** The result to be kept from now on, by name; after a failure what must stay of the old one. */
  readonly clusters: readonly Target[];
  /** The group of clusterAffinities that was taken; "" when there are none or nothing was placed. */
  readonly affinityName: string;
  readonly explanation: Explanation;
  /** Of a federated StatefulSet: what is remembered with the result, in the same write. */
  readonly federated?: FederatedRecord;
  /** When time alone changes the decision. */
  readonly again?: Instant;
}

export interface Explanation {
  /** As long as the fleet, in its order: why not; undefined: the cluster fits. */
  readonly verdicts: readonly (Rejection | undefined)[];
  /** Clusters that keep what they have but get no more, and why. */
  readonly keepers: ReadonlyMap<string, Rejection>;
}
