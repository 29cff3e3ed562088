/**
 * Whether deletions in the member wait for a person because the control plane was restored from a backup, see
 * core/propagation/brake/restored.ts. Asked of the server before each deletion: a cache may be from before the restore.
 *
 * An agent does not read the fleet's record, which names what other clusters hold (D25): the plane marks its Cluster.
 */
import { clusters } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { isHeldByRestore } from "@lifeboat/core/propagation/brake";
import type { Client } from "@lifeboat/kit";
import { readRecord } from "../../context/fleet-record.ts";

export interface HoldPorts {
  readonly plane: Client;
  readonly clock: Clock;
}

/** How often it is asked again while deletions wait. */
export const HELD_AGAIN_MS = 30_000;

export async function isHeld({ plane, clock }: HoldPorts, signal: AbortSignal): Promise<boolean> {
  return isHeldByRestore(await readRecord(plane, { signal }), clock.now());
}

/** For the agent of a cluster. */
export async function isClusterHeld(
  plane: Client,
  cluster: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { metadata } = await plane.get(clusters, { namespace: "", name: cluster }, { signal });
  return metadata.annotations?.[wellKnown.DELETIONS_HELD] !== undefined;
}
