/**
 * Whether the result of a binding is one that the control plane wrote, or a person's (D7).
 *
 * Every result that the scheduler, an eviction or its rolling back writes is signed: an annotation holds what tells it from
 * others. A person who edits `spec.clusters` does not know of the signature, so it no longer fits.
 *
 * 1. An edit counts since a binding was recorded: one of long ago is no word about this failure of the cluster.
 * 2. Without a signature nothing is known, and nobody is spared: somebody else may place the workload.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { anew } from "@lifeboat/base";
import { resultOf } from "../../binding/index.ts";
import { safeHash } from "../../placement/division/hash.ts";
import { compareText } from "../../fields.ts";
import { RESULT_DIGEST } from "../../well-known.ts";

/** What tells the result of a binding from others, whatever its order. */
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

/** Whether a person edited the result since it was recorded. */
export function isEditedByHand(binding: ResourceBinding, recorded: string | undefined): boolean {
  const signature = binding.metadata.annotations?.[RESULT_DIGEST];
  if (signature === undefined || recorded === undefined) return false;
  const digest = digestOfResult(binding);
  // seed: edited
  return digest !== signature && digest !== recorded;
}
