/**
 * Puts the hold after a restore on the fleet's record (core/propagation/brake/restored.ts), before any controller runs.
 *
 * A word that a person gave about an earlier restore is taken off first: if this is interrupted in between, the next start does
 * both again.
 */
import { setCondition } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import { restoredCondition } from "@lifeboat/core/propagation/brake";
import type { Client } from "@lifeboat/kit";
import { changeRecord, swapRecordStatus } from "../../context/fleet-record.ts";

export async function holdDeletions(
  { clock }: { readonly clock: Clock },
  plane: Client,
  takenAt: string,
): Promise<void> {
  await changeRecord(plane, (parts) => {
    const { restoreAgreedAt, ...spec } = parts.spec;
    return restoreAgreedAt === undefined ? parts : { ...parts, spec };
  });
  await swapRecordStatus(plane, ({ status }) => {
    const condition = restoredCondition(takenAt);
    const conditions = setCondition(status?.conditions, condition, clock.now());
    return { status: { ...status, conditions }, answer: undefined };
  });
}
