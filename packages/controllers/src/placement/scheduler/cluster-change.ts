/** What a change of a cluster means for workloads. */
import type { Candidate } from "@lifeboat/core/placement";

export interface ClusterChange {
  readonly name: string;
  /** Absent when the cluster is gone. */
  readonly now: Candidate | undefined;
  /** It may fit where it did not before. */
  readonly fitsMore: boolean;
  /** It has more room than before. */
  readonly hasMoreRoom: boolean;
  /** It became ready, which only federated StatefulSets ask for (D15). */
  readonly livens: boolean;
  /** What it holds may have to leave. */
  readonly mayLose: boolean;
}

/** Compares a cluster with what it was; undefined: the change means nothing for any workload. */
export function clusterChangeOf(
  name: string,
  old: Candidate | undefined,
  now: Candidate | undefined,
): ClusterChange | undefined {
  const change = {
    name,
    now,
    fitsMore: now !== undefined && fitsMore(old, now),
    hasMoreRoom: now !== undefined && hasMoreRoom(old, now),
    livens: now?.isReady === true && old?.isReady !== true,
    mayLose: old !== undefined && mayLose(old, now),
  };
  const means = change.fitsMore || change.hasMoreRoom || change.livens || change.mayLose;
  return means ? change : undefined;
}

function fitsMore(old: Candidate | undefined, now: Candidate): boolean {
  if (old === undefined || hasOtherTraits(old, now)) return true;
  if (old.hasStaleCopies && !now.hasStaleCopies) return true;
  if (old.hasUnsupportedAgent && !now.hasUnsupportedAgent) return true;
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
