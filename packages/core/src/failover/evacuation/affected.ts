/**
 * Which bindings must leave a cluster because of a taint, and until when they may stay.
 *
 *   NoExecute           everything that does not tolerate it. A toleration with seconds counts from the taint's `timeAdded`;
 *                       of several that match, the shortest counts, as for nodes; one without seconds tolerates for ever.
 *   PreferNoExecute     only bindings whose policy sets `failover.cluster`, after its `tolerationSeconds` (D5). Tolerations
 *                       do not apply.
 *   lifeboat.dev/drain  a person's order: everything, at once; tolerations do not apply (D22).
 *   NoSchedule          none.
 *
 * Followers (bindings that are there because a workload needs them) move with their workload and are not affected
 * themselves; neither is a binding whose copy has already left.
 */
import {
  type Cluster,
  EVICTING_EFFECTS,
  type Placement,
  type ResourceBinding,
  type Toleration,
} from "@lifeboat/api";
import { addMs, type Instant, parseTime } from "@lifeboat/base";
import { isDrainTaint, isOn, type PurgeMode, purgeModeOf } from "../../binding/index.ts";
import { neverMoves } from "../../federated/marks.ts";
import type { ExemptReason } from "./reasons.ts";

export type EvictingTaint = NonNullable<Cluster["spec"]["taints"]>[number];

/** How one binding is affected by one taint. */
export type Affected =
  | { readonly affected: false; readonly why: ExemptReason }
  | {
      readonly affected: true;
      /** Not before this; absent: at once. */
      readonly toleratedUntil?: Instant;
      readonly purgeMode: PurgeMode;
    };

const spared = (why: ExemptReason): Affected => Object.freeze({ affected: false, why });
const TOLERATED = spared("Tolerated");
const NO_FAILOVER = spared("NoFailover");
const FOLLOWS = spared("FollowsWorkload");
const FEDERATED_SET = spared("FederatedStatefulSet");
const LEFT = spared("LeftAlready");
const DEFAULT_TOLERATION_SECONDS = 300;

/** The taints of a cluster that move workloads, in their order. */
export function evictingTaints(cluster: Pick<Cluster, "spec">): readonly EvictingTaint[] {
  return (cluster.spec.taints ?? []).filter(({ effect }) => EVICTING_EFFECTS.includes(effect));
}

/** Whether, until when and how a taint of a cluster moves a binding away from it. */
export function affectedBy(
  binding: Pick<ResourceBinding, "metadata" | "spec">,
  cluster: string,
  taint: EvictingTaint,
  defaultPurgeMode: PurgeMode,
): Affected {
  const { spec } = binding;
  // seed: never-moves
  if (neverMoves(binding)) return FEDERATED_SET;
  if (!isOn(binding, cluster)) return isNeededIn(spec, cluster) ? FOLLOWS : LEFT;
  const purgeMode = purgeModeOf(spec.failover?.cluster?.purgeMode, defaultPurgeMode);
  if (isDrainTaint(taint)) return { affected: true, purgeMode };
  const added = taint.timeAdded === undefined ? undefined : parseTime(taint.timeAdded);
  if (taint.effect === "PreferNoExecute") {
    const { cluster: wish } = spec.failover ?? {};
    // seed: no-failover-policy
    if (wish === undefined) return NO_FAILOVER;
    // seed: seconds-of-policy
    return until(added, wish.tolerationSeconds ?? DEFAULT_TOLERATION_SECONDS, purgeMode);
  }
  if (taint.effect !== "NoExecute") return TOLERATED;
  const seconds = toleratedSeconds(spec.placement?.clusterTolerations, taint);
  return seconds === Infinity ? TOLERATED : until(added, seconds, purgeMode);
}

function isNeededIn({ requiredBy = [] }: ResourceBinding["spec"], cluster: string): boolean {
  return requiredBy.some(({ clusters = [] }) => clusters.some(({ name }) => name === cluster));
}

/** Whether a toleration covers a taint, whatever its seconds. PreferNoExecute is never tolerated. */
export function tolerates(toleration: Toleration, taint: EvictingTaint): boolean {
  if (taint.effect === "PreferNoExecute") return false;
  const { key = "", operator = "", value = "", effect = "" } = toleration;
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  if (key === "") return false;
  return (operator === "" || operator === "Equal") && value === (taint.value ?? "");
}

/** For how long a NoExecute taint is tolerated: 0 when not at all, Infinity when for ever. */
function toleratedSeconds(
  tolerations: Placement["clusterTolerations"],
  taint: EvictingTaint,
): number {
  const matching = (tolerations ?? []).filter((one) => tolerates(one, taint));
  if (matching.length === 0) return 0;
  const limited = matching.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
  return limited.length === 0 ? Infinity : Math.max(0, Math.min(...limited));
}

function until(added: Instant | undefined, seconds: number, purgeMode: PurgeMode): Affected {
  if (seconds === 0 || added === undefined) return { affected: true, purgeMode };
  return { affected: true, toleratedUntil: addMs(added, seconds * 1000), purgeMode };
}
