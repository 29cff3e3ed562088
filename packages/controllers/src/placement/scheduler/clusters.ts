/**
 * The fleet as placement sees it, read cluster by cluster as they change, and what a change means for workloads.
 */
import type { Cluster } from "@lifeboat/api";
import {
  type Candidate,
  candidateOf,
  type CandidateFleet,
  fleetOf,
} from "@lifeboat/core/placement";

export interface ClusterChange {
  readonly name: string;
  /** Absent when the cluster is gone. */
  readonly now: Candidate | undefined;
  /** It may fit where it did not before. */
  readonly fitsMore: boolean;
  /** It has more room than before. */
  readonly hasMoreRoom: boolean;
  /** What it holds may have to leave. */
  readonly mayLose: boolean;
}

export class Clusters {
  readonly #candidates = new Map<string, Candidate>();
  #fleet: CandidateFleet | undefined;

  get fleet(): CandidateFleet {
    this.#fleet ??= fleetOf(this.#candidates.values());
    return this.#fleet;
  }

  /** Takes a change in; undefined: it means nothing for any workload. */
  put(name: string, cluster: Cluster | undefined): ClusterChange | undefined {
    const old = this.#candidates.get(name);
    const now = cluster === undefined ? undefined : candidateOf(cluster);
    if (now === undefined) this.#candidates.delete(name);
    else this.#candidates.set(name, now);
    this.#fleet = undefined;
    const change = {
      name,
      now,
      fitsMore: now !== undefined && fitsMore(old, now),
      hasMoreRoom: now !== undefined && hasMoreRoom(old, now),
      mayLose: old !== undefined && mayLose(old, now),
    };
    return change.fitsMore || change.hasMoreRoom || change.mayLose ? change : undefined;
  }
}

function fitsMore(old: Candidate | undefined, now: Candidate): boolean {
  if (old === undefined || hasOtherTraits(old, now)) return true;
  if (old.hasStaleCopies && !now.hasStaleCopies) return true;
  if (old.isDeleting && !now.isDeleting) return true;
  const borne = new Set(now.taints.map(({ text }) => text));
  if (old.taints.some(({ text }) => !borne.has(text))) return true;
  for (const api of now.apis) if (!old.apis.has(api)) return true;
  return false;
}

function hasMoreRoom(old: Candidate | undefined, now: Candidate): boolean {
  if (now.room === undefined) return false;
  if (old?.room === undefined) return true;
  for (const [name, amount] of now.room.free)
    if (amount > (old.room.free.get(name) ?? 0)) return true;
  return now.room.grades.some(({ count }, i) => count > (old.room?.grades[i]?.count ?? 0));
}

function mayLose(old: Candidate, now: Candidate | undefined): boolean {
  return now === undefined || hasOtherTraits(old, now) || (now.isDeleting && !old.isDeleting);
}

function hasOtherTraits(a: Candidate, b: Candidate): boolean {
  return traitsOf(a) !== traitsOf(b);
}

function traitsOf({ labels, provider, region, zones }: Candidate): string {
  const sorted = Object.keys(labels)
    .toSorted()
    .map((key) => [key, labels[key]]);
  return JSON.stringify([sorted, provider, region, zones]);
}
