/**
 * The proof that a copy no longer runs although its cluster does not answer (D10).
 *
 *   Operator    a person declared the cluster off (`lifeboat fence`): an annotation of the Cluster
 *   Condition   another controller switched it off (a cloud, its machines): the condition Fenced=True of the Cluster, where
 *               `--trust-fenced-condition` is set
 *
 * A lapsed lease is no proof: an agent may die, or be cut off, while its pods run.
 *
 * 1. A proof is valid while the cluster does not answer; once it answers, a person's annotation is removed.
 * 2. A fence allows a new copy. The old copy is not forgotten: its Work stays, and is removed when the cluster returns.
 */
import { type Cluster, findCondition, hasCondition, type ResourceBinding } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { isDirect, taskOf } from "../../binding/index.ts";
import { isFields, textAt } from "../../fields.ts";
import { FENCED } from "../../well-known.ts";

export type FenceProof =
  | { readonly kind: "Operator"; readonly at: string; readonly by: string }
  | { readonly kind: "Condition"; readonly at: string };

/** What may count as a proof. */
export interface FenceTrust {
  /** `--trust-fenced-condition` */
  readonly trustFencedCondition: boolean;
}

/** The condition by which another controller declares a cluster off. */
export const FENCED_CONDITION = "Fenced";

/** The proof that the cluster is off; undefined: there is none. */
export function fenceOf(cluster: Cluster, trust: FenceTrust): FenceProof | undefined {
  return operatorFence(cluster) ?? (trust.trustFencedCondition ? fencedBy(cluster) : undefined);
}

function fencedBy(cluster: Cluster): FenceProof | undefined {
  const condition = findCondition(cluster.status?.conditions, FENCED_CONDITION);
  // seed: fenced-and-answering
  if (condition?.status !== "True" || isAnswering(cluster)) return undefined;
  return { kind: "Condition", at: condition.lastTransitionTime };
}

/** The text of the annotation by which a person says that a cluster is off. */
export function formatFence(at: Instant, by: string): string {
  return JSON.stringify({ at: formatTime(at), by });
}

/** A person's word that the cluster is off; undefined: there is none, or the cluster answers. */
function operatorFence(cluster: Cluster): FenceProof | undefined {
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

/** Whether a workload waits for a proof that a cluster is off: it leaves in mode Directly while the cluster does not answer (D10). */
export function awaitsFence(
  binding: ResourceBinding,
  cluster: Cluster,
  trust: FenceTrust,
): boolean {
  if (!isSilent(cluster) || fenceOf(cluster, trust) !== undefined) return false;
  const task = taskOf(binding, cluster.metadata.name);
  return task !== undefined && isDirect(task);
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}
