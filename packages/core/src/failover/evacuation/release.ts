/**
 * Whether a binding whose turn has come is evicted now, and how: the last decision before the write.
 *
 * `../leaving/` decides for every kind of failover whether the workload may leave; here that decision becomes the order
 * which an evacuation writes. The affected workloads and their purge mode were fixed when the cluster became faulty (D7).
 */
import type { Moment } from "@lifeboat/base";
import { isDrainTaint, type PurgeMode } from "../../binding/index.ts";
import type { Target } from "../../placement/view.ts";
import { decideLeaving, type Held, type LeavingView } from "../leaving/decide.ts";
import { markOf } from "./entry.ts";
import type { EvictionOrder } from "./evict.ts";
import { describeTaint, taintId, type TaintIdentity } from "./taint-identity.ts";

export interface ReleaseView extends Pick<
  LeavingView,
  "cluster" | "placement" | "leaving" | "state"
> {
  readonly evacuation: string;
  readonly taint: TaintIdentity;
  readonly purgeMode: PurgeMode;
  /** Copies that are proven healthy in clusters which the binding does not leave. */
  readonly healthyElsewhere: number;
}

export type ReleaseDecision =
  | {
      readonly outcome: "release";
      readonly order: EvictionOrder;
      /** Where the workload would be placed now: what it takes there is promised to it. */
      readonly targets: readonly Target[];
      /** What a person should know about the state. */
      readonly warnings: readonly string[];
    }
  | Held;

/** The producer that eviction tasks of cluster failover name. */
export const TAINT_MANAGER = "TaintManager";
export const TAINT_UNTOLERATED = "TaintUntolerated";

export function decideRelease(view: ReleaseView, moment: Moment): ReleaseDecision {
  const { cluster, taint, evacuation, purgeMode, healthyElsewhere, ...rest } = view;
  const isDrain = isDrainTaint(taint);
  const decision = decideLeaving(
    {
      ...rest,
      cluster,
      purgeMode,
      failing: "cluster",
      healthyElsewhere: isDrain ? healthyElsewhere : undefined,
    },
    moment,
  );
  if (decision.outcome === "held") return decision;
  const { targets, carried, warnings } = decision;
  return {
    outcome: "release",
    order: {
      cluster,
      reason: TAINT_UNTOLERATED,
      message: `Cluster ${cluster} bears the taint ${describeTaint(taint)}; see evacuation ${evacuation}.`,
      producer: TAINT_MANAGER,
      purgeMode,
      state: carried.labels,
      inject: carried.inject,
      mark: markOf(evacuation, taintId(taint)),
    },
    targets,
    warnings,
  };
}
