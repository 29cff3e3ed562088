/**
 * Puts the hold after a restore on the fleet's record (core/propagation/brake/restored.ts), before any controller runs.
 *
 * Clusters whose agents delete are marked (`DELETIONS_HELD`), because agents do not read the record.
 *
 * A word that a person gave about an earlier restore is taken off first: if this is interrupted in between, the next start does
 * both again.
 */
import { type Cluster, clusters, orNothing, setCondition } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { restoredCondition } from "@lifeboat/core/propagation/brake";
import type { Client } from "@lifeboat/kit";
import { changeRecord, swapRecordStatus } from "../../context/fleet-record.ts";

export function holdDeletions(
  ports: { readonly clock: Clock },
  plane: Client,
  takenAt: string,
): Promise<void> {
  return holdDeletionsAs(ports, plane, restoredCondition(takenAt));
}

/** The same hold for another reason: the condition that the record is to show. */
export async function holdDeletionsAs(
  { clock }: { readonly clock: Clock },
  plane: Client,
  condition: ReturnType<typeof restoredCondition>,
): Promise<void> {
  await changeRecord(plane, (parts) => {
    const { restoreAgreedAt, ...spec } = parts.spec;
    return restoreAgreedAt === undefined ? parts : { ...parts, spec };
  });
  await swapRecordStatus(plane, ({ status }) => {
    const conditions = setCondition(status?.conditions, condition, clock.now());
    return { status: { ...status, conditions }, answer: undefined };
  });
  const { items } = await plane.list(clusters);
  await markClusters(plane, items, true);
}

/** Puts the mark on the Pull clusters that have none, or takes it off all that have it. */
export async function markClusters(
  plane: Client,
  all: Iterable<Cluster>,
  areHeld: boolean,
  options: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  for (const { metadata, spec } of all) {
    const isMarked = metadata.annotations?.[wellKnown.DELETIONS_HELD] !== undefined;
    if (areHeld ? isMarked || spec.syncMode !== "Pull" : !isMarked) continue;
    const key = { namespace: "", name: metadata.name };
    const annotations = { [wellKnown.DELETIONS_HELD]: areHeld ? "true" : null };
    const body = { metadata: { annotations } };
    await orNothing(plane.patch(clusters, key, { type: "merge", body }, options));
  }
}
