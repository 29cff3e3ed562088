/**
 * A person's approval of what waits for one (D30): which entries it lets go, and how it is recorded on the Evacuation.
 *
 * 1. Approving again what an approval covers for at least as long changes nothing, so a repeated command is the same as one.
 * 2. An approval never takes another one back, but for those that have expired: they are dropped.
 */
import type { Evacuation, EvacuationApproval } from "@lifeboat/api";
import { type Moment, parseTime } from "@lifeboat/base";
import { isApproved } from "../failover/evacuation/approval.ts";
import type { ListedEntry } from "./evacuation-entries.ts";

/** As many as an Evacuation holds. */
const MAX_APPROVALS = 100;

/** The entries that wait and that this approval lets go. */
export function letGoBy(
  entries: readonly ListedEntry[],
  approval: EvacuationApproval,
  moment: Moment,
): readonly ListedEntry[] {
  return entries.filter(
    ({ state, entry }) =>
      state === "AwaitingApproval" && isApproved([approval], entry.binding, moment),
  );
}

/** The approvals of an evacuation with this one; undefined: there is no place for another one. */
export function withApproval(
  { spec }: Evacuation,
  approval: EvacuationApproval,
  moment: Moment,
): readonly EvacuationApproval[] | undefined {
  const before = spec.approvals ?? [];
  if (before.some((one) => covers(one, approval))) return before;
  const live = before.filter(({ namespace: _namespace, uid: _uid, ...whole }) =>
    isApproved([whole], { uid: "" }, moment),
  );
  return live.length < MAX_APPROVALS ? [...live, approval] : undefined;
}

/** Whether `one` lets go all that `other` would, for at least as long. */
function covers(one: EvacuationApproval, other: EvacuationApproval): boolean {
  if (one.namespace !== undefined && one.namespace !== other.namespace) return false;
  if (one.uid !== undefined && one.uid !== other.uid) return false;
  if (one.expiresAt === undefined) return true;
  if (other.expiresAt === undefined) return false;
  const ends = parseTime(one.expiresAt);
  const wanted = parseTime(other.expiresAt);
  return ends !== undefined && wanted !== undefined && ends >= wanted;
}
