/**
 * Whether the control plane or a person wrote the result of a binding (D7).
 *
 * Every result that the scheduler, an eviction or its roll-back writes is signed: an annotation identifies the result. A
 * person edits `spec.clusters` without the annotation, so the two no longer match.
 *
 * 1. Only an edit after the binding was recorded counts: an older edit was not about this failure of the cluster.
 * 2. A result without a signature proves nothing, so the binding is evicted: another scheduler may have written it.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { anew } from "@lifeboat/base";
import { resultOf } from "../../binding/index.ts";
import { safeHash } from "../../placement/division/hash.ts";
import { compareText } from "../../fields.ts";
import { RESULT_DIGEST } from "../../well-known.ts";

/** What distinguishes the result of a binding from others, whatever its order. */
export function digestOfResult(binding: Pick<ResourceBinding, "spec">): string {
  const shares = resultOf(binding).map(({ name, replicas = 0 }) => `${name}:${replicas}`);
  return safeHash(shares.toSorted(compareText).join(","));
}

/** The binding with its result signed as the control plane's own. */
export function signResult(binding: ResourceBinding): ResourceBinding {
  const annotations = {
    ...anew,
    ...binding.metadata.annotations,
    [RESULT_DIGEST]: digestOfResult(binding),
  };
  return { ...anew, ...binding, metadata: { ...anew, ...binding.metadata, annotations } };
}

/** Signs a result that an eviction changed, if those before were. */
export function signAgain(binding: ResourceBinding): ResourceBinding {
  return binding.metadata.annotations?.[RESULT_DIGEST] === undefined
    ? binding
    : signResult(binding);
}

/** Whether the control plane wrote the result as it is. */
export function isWrittenByPlane(binding: ResourceBinding): boolean {
  return binding.metadata.annotations?.[RESULT_DIGEST] === digestOfResult(binding);
}

/** Whether a person edited the result since it was recorded. */
export function isEditedByHand(binding: ResourceBinding, recorded: string | undefined): boolean {
  const signature = binding.metadata.annotations?.[RESULT_DIGEST];
  if (signature === undefined || recorded === undefined) return false;
  const digest = digestOfResult(binding);
  // seed: edited
  return digest !== signature && digest !== recorded;
}
