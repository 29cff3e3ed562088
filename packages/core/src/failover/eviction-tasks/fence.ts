/**
 * The proof that a copy no longer runs although its cluster does not answer (D10).
 *
 *   Observed   the member itself reported that the copy and its pods are gone: its Work is gone
 *   Operator   a person declared the cluster off (`lifeboat fence`): an annotation of the Cluster
 *   Lease      the cluster switches itself off when it cannot renew its lease for a given time
 *
 * 1. A person's declaration is valid while the cluster does not answer; once it answers, the annotation is removed.
 * 2. A fence allows a new copy. The old copy is not forgotten: its Work stays, and is removed when the cluster returns.
 */
import { type Cluster, hasCondition } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { isFields, textAt } from "../../fields.ts";
import { FENCED } from "../../well-known.ts";

export type FenceProof =
  | { readonly kind: "Observed" }
  | { readonly kind: "Operator"; readonly at: string; readonly by: string }
  /** The moment from which nothing of the cluster runs any more. */
  | { readonly kind: "Lease"; readonly until: Instant };

/** The text of the annotation by which a person says that a cluster is off. */
export function formatFence(at: Instant, by: string): string {
  return JSON.stringify({ at: formatTime(at), by });
}

/** A person's declaration that the cluster is off; undefined: there is none, or the cluster answers. */
export function operatorFence(cluster: Cluster): FenceProof | undefined {
  const text = cluster.metadata.annotations?.[FENCED];
  // seed: no-proof
  if (text === undefined || isAnswering(cluster)) return undefined;
  // Whatever its text: a user with the right to write Clusters put it there.
  const word = parsed(text);
  return { kind: "Operator", at: textAt(word, "at"), by: textAt(word, "by") };
}

/** Whether the cluster is known to answer. */
export function isAnswering({ status }: Cluster): boolean {
  return hasCondition(status?.conditions, "Ready");
}

/** Whether the cluster is known not to answer, or not to be healthy. A cluster that was never probed is not. */
export function isSilent({ status }: Cluster): boolean {
  return (["False", "Unknown"] as const).some((value) =>
    hasCondition(status?.conditions, "Ready", value),
  );
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}
