/**
 * Whether deletions in the member wait for a person because the control plane was restored from a backup, see
 * core/propagation/brake/restored.ts. Asked of the server before each deletion: a cache may be from before the restore.
 */
import type { Clock } from "@lifeboat/base";
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
