/**
 * Whether a binding whose turn has come is evicted now, and how: the last decision before the write (D8, D12, D22).
 *
 * Placement and state rules are those of this moment, so that a held entry can be repaired; who is affected and the purge
 * mode were fixed when the cluster became faulty.
 */
import type { Moment } from "@lifeboat/base";
import { isDrainTaint, type PurgeMode } from "../../binding/index.ts";
import { hasScheduler } from "../../propagation/matching/has-scheduler.ts";
import { findTarget } from "../../placement/find-target.ts";
import { isDivided, readPlacement, spreadBy } from "../../placement/rules.ts";
import type { PlacementView, Target } from "../../placement/view.ts";
import type { Fields } from "../../fields.ts";
import { type CarriedStateView, stateToCarry } from "../state/state-to-carry.ts";
import { markOf } from "./entry.ts";
import type { EvictionOrder } from "./evict.ts";
import { type HeldReason, heldReasons } from "./reasons.ts";
import { describeTaint, taintId, type TaintIdentity } from "./taint-identity.ts";

export interface ReleaseView {
  readonly evacuation: string;
  readonly cluster: string;
  readonly taint: TaintIdentity;
  readonly purgeMode: PurgeMode;
  /** The binding, the fleet, and what is promised to others. */
  readonly placement: PlacementView;
  /** The clusters that the binding leaves, this one among them. */
  readonly leaving: ReadonlySet<string>;
  /** Copies that are proven healthy in clusters which the binding does not leave. */
  readonly healthyElsewhere: number;
  /** For the state that the workload carries. */
  readonly state: Pick<CarriedStateView, "work" | "policy" | "enabled"> & {
    /** undefined: it is not known. */
    readonly template: Fields | undefined;
  };
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
  | { readonly outcome: "held"; readonly reason: HeldReason; readonly message: string };

/** The producer that eviction tasks of cluster failover name. */
export const TAINT_MANAGER = "TaintManager";
export const TAINT_UNTOLERATED = "TaintUntolerated";

export function decideRelease(view: ReleaseView, moment: Moment): ReleaseDecision {
  const { placement, cluster, taint, evacuation, purgeMode } = view;
  const { binding } = placement;
  if (binding.spec.suspension?.scheduling === true) return held("SchedulingSuspended");
  if (!hasScheduler(binding)) return held("NotClaimed");
  const target = findTarget(placement, view.leaving, moment);
  const needsNone = !target.found && isDrainTaint(taint) && hasEnoughElsewhere(view);
  if (!target.found && !needsNone) return held("NoTarget", target.message);
  const { template } = view.state;
  if (template === undefined && carriesState(view)) return held("TemplateMissing");
  const { state, inject } = stateToCarry({
    ...view.state,
    template: template ?? {},
    binding,
    cluster,
    purgeMode,
    failing: "cluster",
  });
  if (state.outcome === "held")
    return held("StateNotReadable", `${state.reason}: ${state.message} ${STATE_HELP}`);
  return {
    outcome: "release",
    order: {
      cluster,
      reason: TAINT_UNTOLERATED,
      message: `Cluster ${cluster} bears the taint ${describeTaint(taint)}; see evacuation ${evacuation}.`,
      producer: TAINT_MANAGER,
      purgeMode,
      state: state.labels,
      inject,
      mark: markOf(evacuation, taintId(taint)),
    },
    targets: target.found ? target.clusters : [],
    warnings: state.warnings,
  };
}

const STATE_HELP =
  "It goes once the status can be read by the rules of the policy, or the policy has others.";

function carriesState({ placement, state }: ReleaseView): boolean {
  const { rules = [] } = placement.binding.spec.failover?.cluster?.statePreservation ?? {};
  return state.enabled && rules.length > 0;
}

function held(reason: HeldReason, message: string = heldReasons[reason]): ReleaseDecision {
  return { outcome: "held", reason, message };
}

/** On a drain a whole copy may go without a substitute when enough healthy ones stay. */
function hasEnoughElsewhere({ placement, healthyElsewhere }: ReleaseView): boolean {
  const rules = readPlacement(placement.binding.spec.placement);
  if (isDivided(rules)) return false;
  return healthyElsewhere >= Math.max(1, spreadBy(rules, "cluster")?.min ?? 1);
}
