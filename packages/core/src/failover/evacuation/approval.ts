/**
 * Whether an entry waits for a person's approval before it leaves (D30).
 *
 * 1. An entry needs an approval when its policy asked for one at the moment it was recorded (`lifeboat.dev/approval: Required`), or
 *    while the switch of the fleet asks for it. The first is frozen in the entry, the second counts at once.
 * 2. A drain is a person's order and needs no other.
 * 3. An approval stands in the Evacuation that it is for: it covers that incident only, and is over with it. It may cover
 *    a namespace or one binding only, and may expire earlier. Neither widens by a mistake in it: an approval whose time
 *    cannot be read has expired.
 */
import type { EvacuationApproval, EvacuationEntry } from "@lifeboat/api";
import { type Instant, type Moment, parseTime } from "@lifeboat/base";
import { isDrainTaint } from "../../binding/index.ts";
import { textAt } from "../../fields.ts";
import { APPROVAL } from "../../well-known.ts";
import type { TaintIdentity } from "./taint-identity.ts";

/** `--evacuation-approval`: `Policy` leaves it to the policies, `Required` asks for all. */
export const APPROVAL_MODES = ["Policy", "Required"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** Whether the policy of a workload asks for an approval; undefined: the policy is gone. */
export function asksForApproval(policy: object | undefined): boolean {
  return textAt(policy, "metadata", "annotations", APPROVAL) === "Required";
}

/** Whether one term of an entry lets its binding go only after an approval. */
export function needsApproval(
  entry: { readonly approval?: EvacuationEntry["approval"] | undefined },
  taint: TaintIdentity,
  mode: ApprovalMode,
): boolean {
  if (isDrainTaint(taint)) return false;
  return mode === "Required" || entry.approval === "Required";
}

/** Whether an approval of its evacuation covers a binding now. */
export function isApproved(
  approvals: readonly EvacuationApproval[],
  { namespace = "", uid }: Pick<EvacuationEntry["binding"], "namespace" | "uid">,
  moment: Moment,
): boolean {
  return approvals.some(
    (one) =>
      (one.namespace === undefined || one.namespace === namespace) &&
      (one.uid === undefined || one.uid === uid) &&
      expiryOf(one, moment) > moment.now,
  );
}

/** When the next of the approvals ends that hold now; undefined: none ends by time. */
export function nextExpiry(
  approvals: readonly EvacuationApproval[],
  moment: Moment,
): Instant | undefined {
  let next: Instant | undefined;
  for (const one of approvals) {
    const at = expiryOf(one, moment);
    if (at === Infinity || at <= moment.now) continue;
    if (next === undefined || at < next) next = at as Instant;
  }
  return next;
}

/** On the clock as it goes now; -Infinity: its times cannot be read. */
function expiryOf({ at, expiresAt }: EvacuationApproval, { due }: Moment): number {
  if (expiresAt === undefined) return Infinity;
  const given = parseTime(at);
  const until = parseTime(expiresAt);
  if (given === undefined || until === undefined) return -Infinity;
  return due(given, until - given);
}
