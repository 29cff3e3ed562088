/**
 * Which replica works on which member, by rendezvous hash: every replica computes the same from the same set of replicas.
 *
 *   replicas that see  >  replicas that did not cede the member  >  the highest hash of member and replica
 *
 * 1. Two replicas are compared by themselves alone. So a replica that comes takes members and moves none between others, and one
 *    that goes gives up its own only.
 * 2. Every member has exactly one owner while there is a replica at all: one that is blind, if all are.
 * 3. The second, which is asked before a member turns not Ready, is the next one in the same order.
 */
import { compareText } from "../../fields.ts";
import { hashBytes } from "../../placement/division/index.ts";
import type { ReplicaReport } from "./report.ts";

export interface ReplicaView {
  /** The name of its Lease. */
  readonly name: string;
  readonly report: ReplicaReport;
}

/** The replica that works on a member; undefined: there is no replica. */
export function ownerOf(replicas: readonly ReplicaView[], member: string): ReplicaView | undefined {
  return first(replicas, member);
}

/** The replica that is asked before the member turns not Ready; undefined: there is one replica or none. */
export function secondOf(
  replicas: readonly ReplicaView[],
  member: string,
): ReplicaView | undefined {
  const owner = first(replicas, member);
  return first(
    replicas.filter((one) => one !== owner),
    member,
  );
}

/** Whether `a` comes before `b` for this member; a replica comes before no other of the same name. */
export function comesBefore(a: ReplicaView, b: ReplicaView, member: string): boolean {
  if (a.report.isBlind !== b.report.isBlind) return b.report.isBlind;
  const [aCedes, bCedes] = [a, b].map(({ report }) => report.ceded.includes(member));
  if (aCedes !== bCedes) return bCedes === true;
  const [aScore, bScore] = [scoreOf(a.name, member), scoreOf(b.name, member)];
  return aScore === bScore ? compareText(a.name, b.name) < 0 : aScore > bScore;
}

function first(replicas: readonly ReplicaView[], member: string): ReplicaView | undefined {
  return replicas.reduce<ReplicaView | undefined>(
    (best, one) => (best === undefined || comesBefore(one, best, member) ? one : best),
    undefined,
  );
}

/** FNV-1a alone hardly changes the upper bits for names that differ at their end (`member1`, `member2`): so it is mixed. */
function scoreOf(replica: string, member: string): number {
  let hash = hashBytes(`${member} ${replica}`);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
