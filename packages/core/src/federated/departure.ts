/**
 * How a replica leaves a quorum: the application lets it go first, then its pod, its Service and its name go.
 *
 *   scale-down ──▶ one replica is chosen and announced ──▶ the application removes the member ──▶ `lifeboat.dev/let-go` names it
 *              ──▶ the share shrinks by one ──▶ its pod is gone ──▶ the next replica is chosen
 *
 * 1. One replica leaves at a time: the next is chosen when the pod of the one before it is gone.
 * 2. A departure has a number that no other one has. It is part of what confirms it, so a confirmation of a former departure
 *    never counts for a later replica of the same name.
 * 3. The choice stays, also while its cluster is dead: an operator may be removing that member now. Scaling back withdraws it.
 * 4. A departure that is confirmed is carried out even if the set was scaled back meanwhile: the application does not know the
 *    member any more.
 * 5. Without a confirmation a replica leaves only when a time limit is set and over, and only while the replicas that are ready
 *    beside it are a majority of all.
 * 6. A replica that was never started leaves at once: no application knows it.
 */
import type { Instant, Moment } from "@lifeboat/base";
import { podName } from "./names.ts";
import { assignedReplicas, type FederatedRecord, type Leaving } from "./record.ts";

export interface DepartureView {
  /** The name of the set. */
  readonly set: string;
  /** The departures that the application confirmed, as the annotation holds them. */
  readonly letGo: string;
  /** How long a confirmation is waited for; 0: for ever. */
  readonly limitMs: number;
  /** By cluster: how many pods are reported ready. */
  readonly ready: ReadonlyMap<string, number>;
  /** By cluster: how many pods are reported to exist. */
  readonly present: ReadonlyMap<string, number>;
  readonly moment: Moment;
}

/** What confirms a departure: the pod and the number of the departure. */
export function departureName(set: string, { cluster, ordinal, number }: Leaving): string {
  return `${podName(set, cluster, ordinal)}/${number}`;
}

/** Whether the annotation confirms the departure. */
export function isLetGo(letGo: string, set: string, leaving: Leaving): boolean {
  return letGo
    .split(",")
    .map((entry) => entry.trim())
    .includes(departureName(set, leaving));
}

/** The departure that the record holds, as long as its replica is the last one of its share. */
export function presentDeparture({ leaving, shares }: FederatedRecord): Leaving | undefined {
  if (leaving === undefined) return undefined;
  return shares.get(leaving.cluster) === leaving.ordinal + 1 ? leaving : undefined;
}

export type DepartureStep =
  /** The replica goes now. */
  | { readonly step: "go" }
  /** The application has let it go, and its cluster does not answer. */
  | { readonly step: "clusterDead" }
  | { readonly step: "wait"; readonly again?: Instant };

/** What becomes of the present departure. */
export function decideDeparture(
  view: DepartureView,
  record: FederatedRecord,
  leaving: Leaving,
  living: ReadonlySet<string>,
): DepartureStep {
  const isConfirmed = isLetGo(view.letGo, view.set, leaving);
  if (isConfirmed) return { step: living.has(leaving.cluster) ? "go" : "clusterDead" };
  if (view.limitMs === 0) return { step: "wait" };
  const due = view.moment.due(leaving.since, view.limitMs);
  if (due > view.moment.now) return { step: "wait", again: due };
  const isSafe = living.has(leaving.cluster) && keepsMajority(view, record, living);
  return { step: isSafe ? "go" : "wait" };
}

/** Whether the replicas that are ready without the leaving one are a majority of all. It may be ready itself. */
function keepsMajority(
  { ready }: DepartureView,
  record: FederatedRecord,
  living: ReadonlySet<string>,
): boolean {
  const left = [...record.shares]
    .filter(([name]) => living.has(name))
    .reduce((sum, [name, share]) => sum + Math.min(share, ready.get(name) ?? 0), 0);
  return left - 1 >= Math.floor(assignedReplicas(record) / 2) + 1;
}

/** Whether a pod that is to be gone is still reported by a living cluster. */
export function isStillGoing(
  present: ReadonlyMap<string, number>,
  started: ReadonlyMap<string, number>,
  living: ReadonlySet<string>,
): boolean {
  return [...present].some(([name, count]) => living.has(name) && count > (started.get(name) ?? 0));
}
