/**
 * Which policy a template belongs to.
 *
 *   1. the policy that has claimed it, as long as it exists under the claimed id, is not being deleted and selects it,
 *   2. unless a policy with `preemption: Always` names the template and outranks the claimer: a namespaced policy outranks
 *      every cluster policy, and of one scope the strictly higher priority outranks; a cluster policy never outranks a
 *      namespaced one;
 *   3. for a template without a (valid) claim, the best namespaced policy that selects it, else the best cluster policy.
 *
 * Best: highest priority, then most precise selection, then the name that sorts first.
 *
 * 1. The answer depends on the template and the policies of this moment alone: no order of events, no memory.
 * 2. A claim is sticky: without preemption no new policy, however good, takes a template from one that still selects it.
 * 3. A claim copied from another template is worth nothing: the policy it names does not select the copy.
 */
import { compareText, type Fields } from "../../fields.ts";
import { precision } from "../selectors/resource-selector.ts";
import { type Claim, claimOf, isClaimOf } from "./claim.ts";
import { isActive, isClusterPolicy, type Policy, selection } from "./policy.ts";
import type { ClaimReason } from "./reasons.ts";

export interface ClaimView {
  readonly template: Fields;
  /** Whether the object is kept away from policies; see skips.ts. */
  readonly ignored: boolean;
  /** At least all that select the template, its claimer included; others do not matter. */
  readonly policies: readonly Policy[];
}

export interface ClaimDecision {
  readonly reason: ClaimReason;
  /** The policy that the template is to belong to; absent: none. */
  readonly policy?: Policy;
  /** Whose it was until now, where a policy preempts. */
  readonly from?: Claim;
}

/** Decides whose a template is. Pure; no input throws. */
export function decideClaim({ template, ignored, policies }: ClaimView): ClaimDecision {
  if (ignored) return { reason: "Ignored" };
  const candidates = rank(template, policies);
  const claim = claimOf(template);
  const holder = candidates.find(({ policy }) => isClaimOf(claim, policy));
  if (holder === undefined || claim === undefined) {
    const [best] = candidates;
    return best === undefined
      ? { reason: "NoPolicyMatches" }
      : { reason: "Claimed", policy: best.policy };
  }
  const taker = candidates.find(({ policy }) => preempts(policy, holder.policy));
  return taker === undefined
    ? { reason: "ClaimKept", policy: holder.policy }
    : { reason: "Preempted", policy: taker.policy, from: claim };
}

interface Candidate {
  readonly policy: Policy;
  readonly precision: number;
}

/** The active policies that select the template, the best first; namespaced ones before those of the cluster. */
function rank(template: Fields, policies: readonly Policy[]): readonly Candidate[] {
  return policies
    .filter(isActive)
    .map((policy) => ({ policy, precision: selection(policy, template) }))
    .filter((candidate) => candidate.precision > precision.none)
    .sort(compareCandidates);
}

function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    Number(isClusterPolicy(a.policy)) - Number(isClusterPolicy(b.policy)) ||
    priorityOf(b.policy) - priorityOf(a.policy) ||
    b.precision - a.precision ||
    compareText(a.policy.metadata.name, b.policy.metadata.name)
  );
}

/** Whether a policy takes over what another one holds. Both select the template. */
function preempts(policy: Policy, holder: Policy): boolean {
  // Admission makes every selector of such a policy name its resource, so it means this template by name.
  if (policy === holder || policy.spec.preemption !== "Always") return false;
  if (isClusterPolicy(policy) !== isClusterPolicy(holder)) return isClusterPolicy(holder);
  return priorityOf(policy) > priorityOf(holder);
}

function priorityOf({ spec }: Policy): number {
  return spec.priority ?? 0;
}
