/**
 * Lazy activation: a change of a lazy policy (that it came, was edited, or took the template over) changes the claim only;
 * the binding follows when the template itself changes. A template that is newer than its policy is propagated at once.
 *
 * Which of the two changed last is read from what is stored, never remembered, so a restart forgets and invents nothing:
 *
 *   the binding records a digest    the template waits while its digest is that one
 *   no binding, or one that         it waits while its annotation lazy-since is its digest; a template that is only now
 *   records none                    being claimed begins to wait when the policy was written after it
 *
 * 1. Only the user's part of the template counts (see digest.ts): neither its status nor our claim activates a policy.
 * 2. Releasing a binding from a policy that no longer claims its template is never delayed.
 */
import { type Fields, textAt } from "../../fields.ts";
import { LAZY_SINCE, TEMPLATE_DIGEST } from "../../well-known.ts";
import { claimOf, isClaimOf } from "./claim.ts";
import { isLazy, type Policy } from "./policy.ts";

export interface LazyView {
  readonly template: Fields;
  readonly digest: string;
  /** The policy that the template belongs to. */
  readonly policy: Policy;
  /** The template's binding, if it has one. */
  readonly existing?: unknown;
}

/** Whether the policy waits for the template's next change before it touches the binding. */
export function waitsForChange({ template, digest, policy, existing }: LazyView): boolean {
  if (!isLazy(policy)) return false;
  const madeFrom = textAt(existing, "metadata", "annotations", TEMPLATE_DIGEST);
  if (madeFrom !== "") return madeFrom === digest;
  const since = textAt(template, "metadata", "annotations", LAZY_SINCE);
  if (since !== "") return since === digest;
  if (isClaimOf(claimOf(template), policy)) return false;
  return isOlder(textAt(template, "metadata", "resourceVersion"), policy.metadata.resourceVersion);
}

/** Orders two versions of one server: decimal numbers without leading zeros. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
