/**
 * Whether a replica may act for a member now: what it knows of the other replicas, and by when they know of it.
 *
 *   renewed: its own Lease was written   listed: all Leases of replicas were read   both as often as a leader renews
 *
 * 1. It may act until the renew deadline has passed since it last renewed, and since it last listed, each counted from when the
 *    request was sent, by its own monotonic clock. A replica that is paused or cut off may not act when it goes on.
 * 2. Another replica is gone when its Lease stayed the same for longer than its duration, from one list to another. Both are times
 *    of lists, never the present: what happened since the last list is not known.
 * 3. A replica that claims more than before (it is new, its Lease had lapsed, it sees again, it took back a ceded member) acts only after
 *    a renew deadline: by then every other replica has listed the new claim, or may not act. One that claims less stops first and
 *    writes it down afterwards.
 *
 * From 1 to 3 and the order of shares.ts, which compares two replicas by themselves alone, follows that no two replicas ever may
 * act for the same member. Only a process that is paused between this check and its request gets past it; such a write names the
 * version or uid that it was decided on.
 */
import type { ReplicaReport } from "./report.ts";
import { comesBefore, type ReplicaView } from "./shares.ts";

export interface ShareTimes {
  /** How long others wait for a renewal. */
  readonly leaseDurationMs: number;
  /** How long a replica acts without a renewal. */
  readonly renewDeadlineMs: number;
}

/** What decides about a claim; the rest of a report does not. */
export type Claims = Pick<ReplicaReport, "ceded" | "isBlind">;

/** A Lease of a replica, as a list has it. */
export interface ListedReplica extends ReplicaView {
  readonly version: string;
  readonly leaseDurationMs: number;
}

export interface Claim {
  readonly name: string;
  /** When the last renewal that was accepted was sent; undefined: there is no Lease. */
  readonly renewedAt: number | undefined;
  /** When the last list was sent. */
  readonly listedAt: number | undefined;
  /** Before this it acts for no member. */
  readonly actsFrom: number;
  /** The same for members that were ceded. */
  readonly takesBackFrom: ReadonlyMap<string, number>;
  /** What its Lease claims for certain. */
  readonly published: Claims;
  /** The other replicas that were not gone at the last list. */
  readonly others: readonly ReplicaView[];
  /** By replica: its version, and when that was first seen, by the answer to a list. */
  readonly seen: ReadonlyMap<string, { readonly version: string; readonly at: number }>;
}

export function newClaim(name: string): Claim {
  return {
    name,
    renewedAt: undefined,
    listedAt: undefined,
    actsFrom: Infinity,
    takesBackFrom: new Map(),
    published: { isBlind: false, ceded: [] },
    others: [],
    seen: new Map(),
  };
}

/** The Lease does not exist any more: the next renewal is a new claim. */
export function lapsed(claim: Claim): Claim {
  return { ...claim, renewedAt: undefined, actsFrom: Infinity };
}

/**
 * A renewal with these claims is about to be sent. Its answer may be lost: until one comes, the Lease may hold the new claims or the
 * old ones, so only what both claim is claimed.
 */
export function renewing(claim: Claim, { isBlind, ceded }: Claims): Claim {
  const { published } = claim;
  return {
    ...claim,
    published: {
      isBlind: published.isBlind || isBlind,
      ceded: [...new Set([...published.ceded, ...ceded])],
    },
  };
}

/** A renewal was accepted: sent at `sentAt`, answered at `at`. */
export function renewed(
  claim: Claim,
  published: Claims,
  { sentAt, at }: { readonly sentAt: number; readonly at: number },
  { renewDeadlineMs }: ShareTimes,
): Claim {
  const { renewedAt } = claim;
  const isHeld = renewedAt !== undefined && at < renewedAt + renewDeadlineMs;
  const seesAgain = claim.published.isBlind && !published.isBlind;
  const knownFrom = at + renewDeadlineMs;
  const back = claim.published.ceded.filter((member) => !published.ceded.includes(member));
  const waiting = [...claim.takesBackFrom].filter(
    ([member, from]) => from > at && !published.ceded.includes(member),
  );
  return {
    ...claim,
    published,
    renewedAt: sentAt,
    actsFrom: isHeld && !seesAgain ? claim.actsFrom : knownFrom,
    takesBackFrom: new Map([...waiting, ...back.map((member) => [member, knownFrom] as const)]),
  };
}

/** All Leases of replicas were read by a list that was sent at `sentAt` and answered at `at`. */
export function listed(
  claim: Claim,
  replicas: readonly ListedReplica[],
  { sentAt, at }: { readonly sentAt: number; readonly at: number },
  { leaseDurationMs, renewDeadlineMs }: ShareTimes,
): Claim {
  const seen = new Map<string, { readonly version: string; readonly at: number }>();
  const others: ReplicaView[] = [];
  for (const { name, version, report, leaseDurationMs: own } of replicas) {
    if (name === claim.name) continue;
    const known = claim.seen.get(name);
    const since = known?.version === version ? known : { version, at };
    seen.set(name, since);
    // The other may have been started with a longer duration.
    if (sentAt - since.at <= Math.max(leaseDurationMs, own)) others.push({ name, report });
  }
  const next = { ...claim, seen, others, listedAt: sentAt };
  const isListedAfterClaim = sentAt >= claim.actsFrom - renewDeadlineMs;
  if (!isListedAfterClaim) return next;
  if (!replicas.some(({ name }) => name === claim.name)) return lapsed(next);
  // Written and then listed without another: one that comes later lists this one before it acts.
  const isAlone = replicas.length === 1;
  const actsFrom = Math.min(claim.actsFrom, sentAt);
  return isAlone ? { ...next, actsFrom, takesBackFrom: new Map() } : next;
}

/** Until when it may act, if it may at all. */
export function actsUntil({ renewedAt, listedAt }: Claim, { renewDeadlineMs }: ShareTimes): number {
  return Math.min(renewedAt ?? -Infinity, listedAt ?? -Infinity) + renewDeadlineMs;
}

/** Whether the member is this replica's by the last list and by both what it wrote and what it would write now. */
export function isOwner(claim: Claim, now: Claims, member: string): boolean {
  return [claim.published, now].every(({ isBlind, ceded }) =>
    wouldOwn(claim, { isBlind, ceded }, member),
  );
}

/** Whether the member would be this replica's with these claims. */
export function wouldOwn({ name, others }: Claim, claims: Claims, member: string): boolean {
  const self = viewOf(name, claims);
  return others.every((other) => comesBefore(self, other, member));
}

/** Whether it may act for the member at this time. */
export function mayAct(
  claim: Claim,
  claims: Claims,
  member: string,
  now: number,
  times: ShareTimes,
): boolean {
  return (
    now >= claim.actsFrom &&
    now >= (claim.takesBackFrom.get(member) ?? -Infinity) &&
    now < actsUntil(claim, times) &&
    isOwner(claim, claims, member)
  );
}

/** All replicas as this one counts them, itself with what it would write now. */
export function replicasOf(claim: Claim, report: ReplicaReport): readonly ReplicaView[] {
  return [{ name: claim.name, report }, ...claim.others];
}

function viewOf(name: string, { isBlind, ceded }: Claims): ReplicaView {
  const nothing = new Map<string, never>();
  return {
    name,
    report: { isBlind, ceded, questions: nothing, answers: nothing, members: 0 },
  };
}
