/**
 * How the replicas of a federated StatefulSet are shared out (D15).
 *
 * 1. A replica never moves. A share grows by a scale-up, shrinks by a scale-down, and ends when a person forgets it: by nothing
 *    else.
 * 2. An added replica goes to the living cluster with the smallest share, one after the other; a removed one comes from the
 *    living cluster with the largest. With weights, shares are compared as `share / weight`. Of equal shares the first name
 *    grows and the last one shrinks, so that scaling back takes back what scaling gave.
 * 3. Nothing rebalances: a cluster that joins takes part from the next scale-up.
 * 4. A dead cluster neither grows nor shrinks. If no living cluster can shrink, the surplus waits for one.
 * 5. What `forget` gave up is not replaced by itself: the next scale-up brings the shares to `spec.replicas` again.
 * 6. A cluster keeps its number for ever, and a forgotten cluster gets no share again: its identities may exist outside.
 * 7. The replicas of a quorum leave one after the other, each when the application has let it go (departure.ts), and no
 *    scale-down takes a majority of the living at once.
 */
import type { Instant } from "@lifeboat/base";
import { compareText } from "../fields.ts";
import { defineReasons } from "../plan.ts";
import {
  decideDeparture,
  type DepartureView,
  isStillGoing,
  presentDeparture,
} from "./departure.ts";
import { MOST_REPLICAS } from "./names.ts";
import { assignedReplicas, type FederatedRecord } from "./record.ts";

export const shareReasons = defineReasons({
  Complete: "Every replica has its cluster.",
  ShareGivenUp: "A share was given up; the next scale-up brings new replicas.",
  NoLivingCluster: "No living cluster of the placement can take the replicas that are missing.",
  MajorityKept:
    "The scale-down would take a majority of the living replicas of a quorum at once; scale down in smaller steps.",
  AwaitingLetGo:
    "The replica to be removed stays until the application has let it go: lifeboat statefulset let-go.",
  ReplicaGoing: "The pod of the replica that left is not gone yet; the next one leaves after it.",
  SurplusWaits: "The replicas to be removed are in clusters that do not answer; they stay.",
});

export type ShareReason = keyof typeof shareReasons;

export interface SharingCluster {
  readonly name: string;
  /** Above 0. */
  readonly weight: number;
}

export interface SharesView {
  /** What the StatefulSet asks for. */
  readonly replicas: number;
  readonly record: FederatedRecord;
  /** Living clusters that may get more. */
  readonly growing: readonly SharingCluster[];
  /** Living clusters that may get less. */
  readonly shrinking: readonly SharingCluster[];
  /** How replicas leave; absent: the replicas form no quorum. */
  readonly quorum?: DepartureView | undefined;
}

export interface SharesDecision {
  readonly record: FederatedRecord;
  readonly reason: ShareReason;
  /** How many replicas are missing, or too many when negative. */
  readonly missing: number;
  /** When time alone changes the decision. */
  readonly again?: Instant;
}

/** The shares from now on. */
export function decideShares(view: SharesView): SharesDecision {
  const { record, quorum } = view;
  if (quorum !== undefined) return decideQuorum(view, quorum);
  const { leaving: _leaving, held: _held, ...free } = record;
  const surplus = assignedReplicas(record) - askedOf(view);
  if (surplus <= 0) return filled(view, free);
  const shares = new Map(record.shares);
  shrink(shares, surplus, view.shrinking);
  return decided(view, { ...free, shares, replicas: Math.min(record.replicas, askedOf(view)) });
}

function askedOf({ replicas }: SharesView): number {
  return Math.min(Math.max(0, replicas), MOST_REPLICAS);
}

/** Nothing is to be removed: what is missing comes with a scale-up. */
function filled(view: SharesView, record: FederatedRecord): SharesDecision {
  const asked = askedOf(view);
  const shares = new Map(record.shares);
  const isScaledUp = asked > record.replicas;
  // seed: scaled-up
  if (isScaledUp) grow(shares, asked - assignedReplicas(record), growingOf(view));
  const isSettled = missingReplicas({ shares }, asked) === 0 || asked < record.replicas;
  return decided(view, { ...record, shares, replicas: isSettled ? asked : record.replicas });
}

function decided(view: SharesView, record: FederatedRecord, again?: Instant): SharesDecision {
  const next = { ...record, numbers: numbered(record.numbers, record.shares) };
  const missing = missingReplicas(next, view.replicas);
  const reason = shareReason(next, view.replicas);
  return { record: next, reason, missing, ...(again !== undefined && { again }) };
}

function decideQuorum(view: SharesView, quorum: DepartureView): SharesDecision {
  const { leaving: _leaving, held: _held, ...free } = view.record;
  const living = new Set(view.shrinking.map(({ name }) => name));
  const leaving = presentDeparture(view.record);
  const step = leaving && decideDeparture(quorum, view.record, leaving, living);
  const removed = assignedReplicas(view.record) - askedOf(view);
  const counts = { living: livingReplicas(view), removed };
  const kept = { ...free, replicas: Math.min(free.replicas, askedOf(view)) };
  if (leaving !== undefined && step?.step === "go") {
    // Nothing else in this step: a replica that comes back under its name must find the old pod gone.
    const shares = new Map(free.shares);
    takeOne(shares, leaving.cluster);
    return decided(view, { ...kept, shares });
  }
  if (leaving !== undefined && step?.step === "clusterDead")
    return decided(view, { ...kept, leaving, held: { reason: "SurplusWaits", ...counts } });
  if (removed <= 0) return filled(view, free);
  if (removed >= Math.floor(counts.living / 2) + 1)
    // Refused as a whole: a part of an order is another order.
    return decided(view, { ...free, held: { reason: "MajorityKept", ...counts } });
  if (leaving !== undefined)
    return decided(view, { ...kept, leaving }, step?.step === "wait" ? step.again : undefined);
  return chooseLeaving(view, quorum, kept, counts);
}

function livingReplicas({ record, shrinking }: SharesView): number {
  return shrinking.reduce((sum, { name }) => sum + (record.shares.get(name) ?? 0), 0);
}

/** Replicas that were never started go at once; the first that was is the next to leave. */
function chooseLeaving(
  view: SharesView,
  { moment, present, limitMs }: DepartureView,
  record: FederatedRecord,
  counts: { readonly living: number; readonly removed: number },
): SharesDecision {
  const shares = new Map(record.shares);
  const started = record.started ?? record.shares;
  const living = new Set(view.shrinking.map(({ name }) => name));
  for (let left = counts.removed; left > 0; left -= 1) {
    const cluster = largest(shares, view.shrinking);
    if (cluster === undefined) break;
    const ordinal = (shares.get(cluster) ?? 0) - 1;
    if (ordinal >= (started.get(cluster) ?? 0)) {
      takeOne(shares, cluster);
      continue;
    }
    // seed: still-going
    if (isStillGoing(present, started, living))
      return decided(view, { ...record, shares, held: { reason: "ReplicaGoing", ...counts } });
    const number = (record.departures ?? 0) + 1;
    const leaving = { cluster, ordinal, number, since: moment.now };
    const again = limitMs === 0 ? undefined : moment.due(moment.now, limitMs);
    return decided(view, { ...record, shares, leaving, departures: number }, again);
  }
  return decided(view, { ...record, shares });
}

/** How many replicas are missing, or too many when negative. */
export function missingReplicas(record: Pick<FederatedRecord, "shares">, replicas: number): number {
  return Math.min(Math.max(0, replicas), MOST_REPLICAS) - assignedReplicas(record);
}

/** Why the shares are what they are, for the replicas that the set asks for now. */
export function shareReason(record: FederatedRecord, replicas: number): ShareReason {
  const missing = missingReplicas(record, replicas);
  const { held, leaving } = record;
  if (held !== undefined && Object.hasOwn(shareReasons, held.reason))
    return held.reason as ShareReason;
  if (missing === 0) return "Complete";
  if (missing < 0) return leaving === undefined ? "SurplusWaits" : "AwaitingLetGo";
  return replicas > record.replicas ? "NoLivingCluster" : "ShareGivenUp";
}

/** The record after a person gave up a cluster's share, for ever. */
export function forgetShare(record: FederatedRecord, cluster: string): FederatedRecord {
  const shares = new Map(record.shares);
  shares.delete(cluster);
  return { ...record, shares, forgotten: new Set([...record.forgotten, cluster]) };
}

function growingOf({ growing, record }: SharesView): readonly SharingCluster[] {
  return growing.filter(({ name, weight }) => weight > 0 && !record.forgotten.has(name));
}

function grow(
  shares: Map<string, number>,
  count: number,
  clusters: readonly SharingCluster[],
): void {
  const byName = clusters.toSorted((a, b) => compareText(a.name, b.name));
  for (let left = count; left > 0; left -= 1) {
    let best: SharingCluster | undefined;
    for (const one of byName) {
      if (best === undefined || isLess(one, best, shares)) best = one;
    }
    if (best === undefined) return;
    shares.set(best.name, (shares.get(best.name) ?? 0) + 1);
  }
}

function shrink(
  shares: Map<string, number>,
  count: number,
  clusters: readonly SharingCluster[],
): void {
  for (let left = count; left > 0; left -= 1) {
    const cluster = largest(shares, clusters);
    if (cluster === undefined) return;
    takeOne(shares, cluster);
  }
}

/** The cluster that gives up the next replica; undefined: none has one. */
function largest(
  shares: ReadonlyMap<string, number>,
  clusters: readonly SharingCluster[],
): string | undefined {
  let best: SharingCluster | undefined;
  for (const one of clusters.toSorted((a, b) => compareText(b.name, a.name))) {
    if ((shares.get(one.name) ?? 0) === 0) continue;
    if (best === undefined || isLess(best, one, shares)) best = one;
  }
  return best?.name;
}

function takeOne(shares: Map<string, number>, cluster: string): void {
  const share = (shares.get(cluster) ?? 0) - 1;
  if (share > 0) shares.set(cluster, share);
  else shares.delete(cluster);
}

/** Whether `a` has less than `b`, by weight: `a / wa < b / wb` without rounding. */
function isLess(
  a: SharingCluster,
  b: SharingCluster,
  shares: ReadonlyMap<string, number>,
): boolean {
  return (shares.get(a.name) ?? 0) * b.weight < (shares.get(b.name) ?? 0) * a.weight;
}

/** Clusters with a first share get the next number, by name. */
function numbered(
  numbers: ReadonlyMap<string, number>,
  shares: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const fresh = [...shares.keys()].filter((name) => !numbers.has(name)).toSorted(compareText);
  if (fresh.length === 0) return numbers;
  const all = new Map(numbers);
  let next = Math.max(0, ...numbers.values());
  for (const name of fresh) all.set(name, (next += 1));
  return all;
}
