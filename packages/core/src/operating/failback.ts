/**
 * Whether a workload returns by itself to where it ran before the last outage, and when (D31).
 *
 * 1. Only where its policy asks for it, and only after a cluster failed or was drained: the mark of an evacuation is on the binding.
 * 2. Once per outage: the binding bears the mark that the return was for. What is evicted later has another mark.
 * 3. A result that the control plane did not write is a person's: nothing returns then.
 * 4. Never while anything is being evacuated, or while a person paused the fleet, a cluster that it returns to, or its namespace.
 * 5. Never to a cluster that could not take a new workload: `decideRestore` decides that, and writes the same as a person's restore.
 */
import {
  type Cluster,
  type Evacuation,
  type EvacuationBudget,
  findCondition,
  type ResourceBinding,
} from "@lifeboat/api";
import { type Instant, type Moment, parseTime } from "@lifeboat/base";
import { isMoving, isOn, tasksOf } from "../binding/index.ts";
import { evictionMarks } from "../failover/evacuation/entry.ts";
import { formerResult } from "../failover/evacuation/former-result.ts";
import { isWrittenByPlane, signResult } from "../failover/evacuation/own-result.ts";
import { isClusterPaused, isNamespacePaused } from "../failover/evacuation/pauses.ts";
import { isFailed } from "../failover/evacuation/rate.ts";
import type { FleetView } from "../placement/placement-view.ts";
import { textAt } from "../fields.ts";
import { FAILBACK, FAILED_BACK } from "../well-known.ts";
import { type FailbackRule, opensAt, parseFailback } from "./failback-rule.ts";
import { type FailbackReason, failbackReasons } from "./reasons.ts";
import { decideRestore, type RestoredState, type RestorePlan } from "./restore.ts";
import { type FindCluster, shortfallsOf } from "./strength.ts";

/** The producer that eviction tasks of a return name. */
export const FAILBACK_PRODUCER = "Failback";

export interface FailbackView {
  readonly binding: ResourceBinding;
  readonly clusters: readonly Cluster[];
  readonly fleet: FleetView;
  readonly evacuations: readonly Evacuation[];
  readonly budget: EvacuationBudget["spec"] | undefined;
  /** How many other workloads of the policy are returning. */
  readonly returning: number;
  /** For the state that the workload carries, and for the policy that claims it. */
  readonly state: RestoredState;
}

export type FailbackDecision =
  | (RestorePlan & { readonly outcome: "restore" })
  /** It stays, for good or until something changes; `until`: it is decided again by then. */
  | {
      readonly outcome: "stays";
      readonly reason: FailbackReason;
      readonly message: string;
      readonly until?: Instant;
    };

/** Whether the policy asks for failback, validly or not. */
export function asksForFailback(policy: object | undefined): boolean {
  return textAt(policy, "metadata", "annotations", FAILBACK) !== "";
}

/** What the policy asks for; undefined: nothing, or its text is not valid. */
export function failbackRuleOf(policy: object | undefined): FailbackRule | undefined {
  return parseFailback(textAt(policy, "metadata", "annotations", FAILBACK));
}

/** Whether an outage is not over for the workload: it is away from a cluster that it ran on, and did not return for that outage. */
export function mayFailBack(binding: ResourceBinding): boolean {
  const outage = outageOf(binding);
  if (outage === undefined || awayFrom(binding).length === 0) return false;
  return binding.metadata.annotations?.[FAILED_BACK] !== outage;
}

/** The clusters of the former result that it is not on. */
function awayFrom(binding: ResourceBinding): NonNullable<ReturnType<typeof formerResult>> {
  return (formerResult(binding) ?? []).filter(({ name }) => !isOn(binding, name));
}

export function decideFailback(view: FailbackView, moment: Moment): FailbackDecision {
  const { binding, evacuations, budget } = view;
  const { policy } = view.state;
  if (!asksForFailback(policy)) return stays("NotAsked");
  const rule = failbackRuleOf(policy);
  if (rule === undefined) return stays("NotValid");
  const outage = outageOf(binding);
  const away = awayFrom(binding);
  if (outage === undefined || away.length === 0) return stays("NotAway");
  // seed: returned-once
  if (binding.metadata.annotations?.[FAILED_BACK] === outage) return stays("Returned");
  if (!isWrittenByPlane(binding)) return stays("EditedByPerson");
  if (isMoving(binding)) return stays("StillLeaving");
  if (evacuations.some(({ status }) => status?.finishedAt === undefined))
    return stays("Evacuating");
  const { namespace = "" } = binding.metadata;
  if (
    budget?.paused === true ||
    isNamespacePaused(budget, namespace) ||
    away.some(({ name }) => isClusterPaused(budget, name))
  )
    return stays("Paused");
  const stableAt = stableFrom(view, away, rule, moment);
  if (stableAt === undefined) return stays("ClusterNotBack");
  // seed: stable
  if (stableAt > moment.now) return stays("NotStable", { until: stableAt });
  const opening = opensAt(rule, moment.now);
  if (opening > moment.now) return stays("OutsideWindow", { until: opening });
  if (view.returning >= rule.max) return stays("TooMany");
  return returned(view, outage, moment);
}

function returned(view: FailbackView, outage: string, moment: Moment): FailbackDecision {
  const plan = decideRestore({ ...view, order: ORDER }, moment);
  if (plan.outcome === "refused")
    return stays("CannotTake", { message: `${plan.reason}: ${plan.message}` });
  const { metadata } = plan.binding;
  const annotations = { ...metadata.annotations, [FAILED_BACK]: outage };
  return {
    ...plan,
    binding: signResult({ ...plan.binding, metadata: { ...metadata, annotations } }),
  };
}

const ORDER = {
  reason: "FailedBack",
  message:
    "The clusters that the workload ran on before the outage are back, and its policy asks for failback.",
  producer: FAILBACK_PRODUCER,
} as const;

function stays(
  reason: FailbackReason,
  more: { readonly message?: string; readonly until?: Instant } = {},
): FailbackDecision {
  return { outcome: "stays", reason, message: failbackReasons[reason], ...more };
}

/** The last eviction for a taint of a cluster; undefined: there was none. */
function outageOf(binding: ResourceBinding): string | undefined {
  const last = Object.entries(evictionMarks(binding)).at(-1);
  return last?.join(" ");
}

/**
 * From when all clusters that the workload returns to are stable; undefined: one is not back. The times are in the API: the transition
 * of Ready, and the removal of taints as evacuations recorded it. So a restart neither shortens nor restarts the wait.
 */
function stableFrom(
  { clusters, evacuations }: FailbackView,
  away: readonly { readonly name: string }[],
  { stabilisationMs }: FailbackRule,
  { due }: Moment,
): Instant | undefined {
  let latest: Instant | undefined;
  for (const { name } of away) {
    const cluster = clusters.find(({ metadata }) => metadata.name === name);
    const ready = findCondition(cluster?.status?.conditions, "Ready");
    if (cluster === undefined || ready?.status !== "True" || isFailed(cluster)) return undefined;
    const removed = evacuations
      .filter(({ spec }) => spec.cluster === name)
      .flatMap(({ status }) => (status?.taints ?? []).map(({ removedAt }) => removedAt));
    for (const text of [ready.lastTransitionTime, ...removed]) {
      const since = parseTime(text ?? "");
      if (since === undefined) return undefined;
      const at = due(since, stabilisationMs);
      if (latest === undefined || at > latest) latest = at;
    }
  }
  return latest;
}

/** Whether a workload is returning by itself: it has, and is not at full strength yet, or its substitute is still there. */
export function isReturning(binding: ResourceBinding, clusterOf: FindCluster): boolean {
  const mark = binding.metadata.annotations?.[FAILED_BACK];
  if (mark === undefined || mark !== outageOf(binding)) return false;
  if (tasksOf(binding).some(({ producer }) => producer === FAILBACK_PRODUCER)) return true;
  return shortfallsOf(binding, clusterOf).length > 0;
}
