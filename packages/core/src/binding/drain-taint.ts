/** The taint by which a person empties a cluster (D22). A taint of this key with another effect is an ordinary taint. */
import type { Cluster } from "@lifeboat/api";
import { DRAIN_TAINT } from "../well-known.ts";

const EFFECT = "NoExecute";

/** Whether a person ordered the cluster to be emptied by this taint. */
export function isDrainTaint(taint: { readonly key: string; readonly effect: string }): boolean {
  return taint.key === DRAIN_TAINT && taint.effect === EFFECT;
}

/** Whether a person is emptying the cluster. */
export function isDrained({ spec }: Pick<Cluster, "spec">): boolean {
  return (spec.taints ?? []).some(isDrainTaint);
}
