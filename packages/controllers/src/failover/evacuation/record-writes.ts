/** What recording an evacuation and writing its progress share: which taints count, and the writes of its status. */
import {
  clusters,
  type Evacuation,
  evacuations,
  type EvacuationStatus,
  failure,
  orNothing,
  Refused,
} from "@lifeboat/api";
import { isDrainTaint } from "@lifeboat/core/binding";
import {
  evictingTaints,
  type EvictingTaint,
  type RecordedTaint,
  taintId,
} from "@lifeboat/core/failover/evacuation";
import { compareVersions } from "@lifeboat/kit";
import type { EvacuationState } from "./state.ts";

/** Whether a taint is recorded as the gate stands. */
export function isCounted(
  { failover }: Pick<EvacuationState, "failover">,
  taint: EvictingTaint,
): boolean {
  return failover || isDrainTaint(taint);
}

/**
 * Whether slices of a taint exist that the cache does not show yet. Once the cache is as new as the evacuation, what it
 * does not show was deleted by hand, and what stood in it counts as arrived.
 */
export function isBehind(
  { context }: Pick<EvacuationState, "context">,
  evacuation: Evacuation,
  existing: number,
  known: RecordedTaint | undefined,
): boolean {
  if (known === undefined || existing >= known.slices) return false;
  const { resourceVersion: seen = "0" } = context.informers.evacuationSlices;
  return compareVersions(seen, evacuation.metadata.resourceVersion ?? "0") < 0;
}

/** Asks the server whether the cluster bears these taints. If not, the cache is behind, and the reconcile comes again. */
export async function confirmTaints(
  { context }: Pick<EvacuationState, "context">,
  name: string,
  borne: readonly EvictingTaint[],
  signal: AbortSignal,
): Promise<void> {
  const { plane } = context;
  const cluster = await orNothing(plane.get(clusters, { namespace: "", name }, { signal }));
  const now = new Set(cluster === undefined ? [] : evictingTaints(cluster).map(taintId));
  if (now.size === borne.length && borne.every((taint) => now.has(taintId(taint)))) return;
  throw new Refused(failure(409, "Conflict", `the taints of cluster ${name} have changed`));
}

export async function writeStatus(
  { context }: Pick<EvacuationState, "context">,
  evacuation: Evacuation,
  status: EvacuationStatus,
  signal: AbortSignal,
): Promise<void> {
  const options = { subresource: "status", signal };
  await context.plane.update(evacuations, { ...evacuation, status }, options);
}
