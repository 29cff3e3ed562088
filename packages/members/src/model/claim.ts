/**
 * What a PersistentVolumeClaim gets: a volume's name, then the state Bound with the size it asked for. No
 * PersistentVolume object is made: nothing here has a disk.
 */
import type { Claim, ClaimStatus } from "../kinds.ts";

export type ClaimPlan =
  | { readonly kind: "bind"; readonly volumeName: string }
  | { readonly kind: "report"; readonly status: ClaimStatus };

/** Decides the next step for one claim. Pure. */
export function decideClaim(claim: Claim): ClaimPlan {
  const { spec, status, metadata } = claim;
  if ((spec.volumeName ?? "") === "" && metadata.deletionTimestamp === undefined)
    return { kind: "bind", volumeName: `pvc-${metadata.uid}` };
  const storage = spec.resources?.requests?.["storage"];
  return {
    kind: "report",
    status: {
      ...status,
      phase: "Bound",
      accessModes: spec.accessModes ?? [],
      ...(storage !== undefined && { capacity: { storage } }),
    },
  };
}
