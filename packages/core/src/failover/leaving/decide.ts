/**
 * Whether a workload may leave a cluster now, with which state and to where (D8, D12, D22). Cluster failover, drain and
 * application failover all use this decision, so that they cannot differ.
 *
 *   suspended or unclaimed  ──▶ held: nothing would place it again
 *   no target               ──▶ held; on a drain a copy may go without a substitute
 *   target not dispatched   ──▶ held: the scheduler would place it, and no copy would appear
 *   state not readable      ──▶ held
 *   otherwise               ──▶ it leaves
 *
 * 1. Everything is read at decision time, so that what is held can be repaired.
 * 2. A target counts as not dispatched only where it would get more than it has: what stays as it is needs no dispatching.
 * 3. The decision does not depend on the purge mode. In mode Directly a wrong one costs the only copy; in mode Gracefully it
 *    leaves the workload between two clusters.
 */
import type { ResourceBinding } from "@lifeboat/api";
import type { Moment } from "@lifeboat/base";
import { isDispatchingSuspended, shareIn, type TaskMode } from "../../binding/index.ts";
import type { Fields } from "../../fields.ts";
import { findTarget } from "../../placement/find-target.ts";
import { isDivided, readPlacement, spreadBy } from "../../placement/rules.ts";
import type { PlacementView, Target } from "../../placement/view.ts";
import { claimOf } from "../../propagation/matching/claim.ts";
import { whyUnscheduled } from "../../propagation/matching/has-scheduler.ts";
import { type CarriedStateView, stateToCarry } from "../state/state-to-carry.ts";
import { type HeldReason, heldReasons } from "./reasons.ts";

export interface LeavingView {
  /** The cluster that is left. */
  readonly cluster: string;
  /** What fails: it decides whose rules about state apply. */
  readonly failing: CarriedStateView["failing"];
  readonly purgeMode: TaskMode;
  /** The binding, the fleet, and what is promised to others. */
  readonly placement: PlacementView;
  /** The clusters that the workload leaves, this one among them. */
  readonly leaving: ReadonlySet<string>;
  /**
   * On a drain: how many copies are proven healthy in clusters which the workload does not leave. A whole copy may go
   * without a substitute when enough of them stay. Absent: nothing goes without a substitute.
   */
  readonly healthyElsewhere?: number | undefined;
  /** For the state that the workload carries. */
  readonly state: Pick<CarriedStateView, "work" | "policy" | "enabled"> & {
    /** undefined: it is not known. */
    readonly template: Fields | undefined;
  };
}

/** What a workload takes along. */
export interface Carried {
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the new copy gets the labels. */
  readonly inject: boolean;
}

export interface Held {
  readonly outcome: "held";
  readonly reason: HeldReason;
  readonly message: string;
}

export type LeavingDecision =
  | {
      readonly outcome: "leave";
      /** Where the workload would be placed now: what it takes there is promised to it. */
      readonly targets: readonly Target[];
      readonly carried: Carried;
      /** What a person should know about the state. */
      readonly warnings: readonly string[];
    }
  | Held;

export function decideLeaving(view: LeavingView, moment: Moment): LeavingDecision {
  const decision = decide(view, moment);
  if (decision.outcome !== "held" || !BY_POLICY.has(decision.reason)) return decision;
  return { ...decision, message: placedBy(view.placement.binding) + decision.message };
}

/** Reasons that a person mends in the policy. */
const BY_POLICY: ReadonlySet<HeldReason> = new Set([
  "NoTarget",
  "DispatchingSuspended",
  "StateNotReadable",
]);

function decide(view: LeavingView, moment: Moment): LeavingDecision {
  const { placement, cluster, purgeMode, failing } = view;
  const { binding } = placement;
  const unscheduled = whyUnscheduled(binding);
  if (unscheduled !== undefined) return held(unscheduled);
  const target = findTarget(placement, view.leaving, moment);
  // seed: no-target
  if (!target.found && !hasEnoughElsewhere(view)) return held("NoTarget", target.message);
  const targets = target.found ? target.clusters : [];
  const suspended = undispatched(view, targets);
  if (suspended !== undefined)
    return held(
      "DispatchingSuspended",
      `The workload would go to ${suspended}. ${heldReasons.DispatchingSuspended}`,
    );
  const { template } = view.state;
  if (template === undefined && carriesState(view)) return held("TemplateMissing");
  const { state, inject } = stateToCarry({
    ...view.state,
    template: template ?? {},
    binding,
    cluster,
    purgeMode,
    failing,
  });
  if (state.outcome === "held")
    return held("StateNotReadable", `${state.reason}: ${state.message} ${STATE_HELP}`);
  return {
    outcome: "leave",
    targets,
    carried: { labels: state.labels, inject },
    warnings: state.warnings,
  };
}

/** The policy whose rules hold the workload: that is the object that a person has to check. */
function placedBy(binding: ResourceBinding): string {
  const claim = claimOf(binding);
  if (claim === undefined) return "";
  const { namespace, name } = claim;
  const policy =
    namespace === ""
      ? `ClusterPropagationPolicy ${name}`
      : `PropagationPolicy ${namespace}/${name}`;
  return `By ${policy}: `;
}

const STATE_HELP =
  "It goes once the status can be read by the rules of the policy, or the policy has others.";

export function held(reason: HeldReason, message: string = heldReasons[reason]): Held {
  return { outcome: "held", reason, message };
}

function carriesState({ placement, state, failing }: LeavingView): boolean {
  const { rules = [] } = placement.binding.spec.failover?.[failing]?.statePreservation ?? {};
  return state.enabled && rules.length > 0;
}

/** The first target that would get something which is not sent there; undefined: every target gets it. */
function undispatched(
  { placement: { binding } }: LeavingView,
  targets: readonly Target[],
): string | undefined {
  const gains = targets.filter(({ name, replicas = 0 }) => {
    const share = shareIn(binding, name);
    return share === undefined || replicas > (share.replicas ?? 0);
  });
  return gains.find(({ name }) => isDispatchingSuspended(binding, name))?.name;
}

/** Whether a whole copy may go without a substitute. */
function hasEnoughElsewhere({ placement, healthyElsewhere = 0 }: LeavingView): boolean {
  const rules = readPlacement(placement.binding.spec.placement);
  if (isDivided(rules)) return false;
  return healthyElsewhere >= Math.max(1, spreadBy(rules, "cluster")?.min ?? 1);
}
