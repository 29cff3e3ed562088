/**
 * What draining a cluster, or tainting it by hand, would do: which workloads leave it and where they would run, decided by the
 * functions that the control plane itself asks, one after the other, so that two do not count on the same room.
 *
 * It is the answer of this moment: clusters and workloads may change while a drain goes on.
 */
import type { Cluster, ResourceBinding } from "@lifeboat/api";
import { formatTime, type Instant, plainMoment } from "@lifeboat/base";
import { clusterNamesOf, isOn, type PurgeMode, resultOf } from "../binding/index.ts";
import { affectedBy, type EvictingTaint } from "../failover/evacuation/affected.ts";
import {
  type ApprovalMode,
  asksForApproval,
  needsApproval,
} from "../failover/evacuation/approval.ts";
import { exemptReasons } from "../failover/evacuation/reasons.ts";
import { isFailed } from "../failover/evacuation/rate.ts";
import { decideRelease } from "../failover/evacuation/release.ts";
import { identityOf } from "../failover/evacuation/taint-identity.ts";
import { budgetViewOf, refuseTakingDown } from "../federated/budget.ts";
import { isFederated } from "../federated/record.ts";
import { fleetViewOf, placementViewOf } from "../placement/placement-view.ts";
import { movePromise } from "../placement/reserve.ts";
import type { Target } from "../placement/view.ts";
import { DRAIN_TAINT } from "../well-known.ts";
import { workloadOf } from "../clusters/stuck.ts";

/** The taint by which a person empties a cluster. */
export const DRAIN: EvictingTaint = Object.freeze({ key: DRAIN_TAINT, effect: "NoExecute" });

export interface DrainView {
  readonly cluster: string;
  readonly clusters: readonly Cluster[];
  readonly bindings: readonly ResourceBinding[];
}

export interface TaintView {
  /** The taints that each cluster would get. */
  readonly added: ReadonlyMap<string, readonly EvictingTaint[]>;
  readonly clusters: readonly Cluster[];
  readonly bindings: readonly ResourceBinding[];
  readonly purgeMode: PurgeMode;
  readonly approval: ApprovalMode;
  /** The policy that claims a binding; undefined: it is gone. */
  policyOf(binding: ResourceBinding): object | undefined;
}

/** What becomes of one workload. */
export interface DrainStep {
  readonly workload: string;
  /** Where it would run; empty with `held`. */
  readonly targets: readonly Target[];
  /** Its taint is tolerated until then; absent: it leaves at once. */
  readonly leavesAt?: Instant;
  /** Why it stays for now. */
  readonly held?: string;
  /** Why it never leaves. */
  readonly exempt?: string;
  /** Whether it stays until a person approves. */
  readonly awaitsApproval?: boolean;
}

/** What would become of each workload on the cluster if it were drained. */
export function decideDrain(
  { cluster, clusters, bindings }: DrainView,
  now: Instant,
): readonly DrainStep[] {
  const plans = decideTainted(
    {
      added: new Map([[cluster, [DRAIN]]]),
      clusters,
      bindings,
      purgeMode: "Gracefully",
      // A drain is its own approval.
      approval: "Policy",
      policyOf: () => undefined,
    },
    now,
  );
  return plans.get(cluster) ?? [];
}

/**
 * What would become of each workload on these clusters if they got these taints now, by cluster; a taint with a time is there already. All of them are decided in one pass,
 * so that no two count on the same room; what leaves two of the clusters is placed once, and stands in the plan of both.
 */
export function decideTainted(
  view: TaintView,
  now: Instant,
): ReadonlyMap<string, readonly DrainStep[]> {
  const timeAdded = formatTime(now);
  const stamped = new Map(
    [...view.added].map(([name, taints]) => [name, taints.map((one) => ({ timeAdded, ...one }))]),
  );
  const tainted = view.clusters.map((one) => {
    const taints = one.spec.taints ?? [];
    const added = (stamped.get(one.metadata.name) ?? []).filter(
      ({ key, effect }) => !taints.some((there) => there.key === key && there.effect === effect),
    );
    return { ...one, spec: { ...one.spec, taints: [...taints, ...added] } };
  });
  const faulty = new Set(tainted.filter(isFailed).map(({ metadata }) => metadata.name));
  const seen = fleetViewOf(tainted, view.bindings);
  const plans = new Map<string, DrainStep[]>([...stamped.keys()].map((name) => [name, []]));
  for (const binding of view.bindings) {
    const leaves = [...stamped].flatMap(([name, taints]) => firstTerm(view, binding, name, taints));
    const [first] = leaves;
    if (first === undefined) continue;
    const stays = [...stamped.keys()].filter((name) => !leaves.some((one) => one.cluster === name));
    const leaving = new Set([...faulty].filter((name) => !stays.includes(name)));
    const step = stepOf(binding, first, leaving, seen, now);
    for (const { cluster, toleratedUntil, awaitsApproval } of leaves) {
      const isLater = toleratedUntil !== undefined && toleratedUntil > now;
      plans.get(cluster)?.push({
        ...step,
        ...(isLater && step.held === undefined ? { leavesAt: toleratedUntil } : {}),
        ...(awaitsApproval ? { awaitsApproval } : {}),
      });
    }
  }
  for (const [cluster, steps] of plans) steps.push(...stayingFederated(cluster, view.bindings));
  return plans;
}

interface Term {
  readonly cluster: string;
  readonly taint: EvictingTaint;
  readonly toleratedUntil: Instant | undefined;
  readonly purgeMode: PurgeMode;
  readonly awaitsApproval: boolean;
}

/** The term by which the binding would leave the cluster first: one that needs no approval goes before those that do. */
function firstTerm(
  view: TaintView,
  binding: ResourceBinding,
  cluster: string,
  taints: readonly EvictingTaint[],
): readonly Term[] {
  const asked = asksForApproval(view.policyOf(binding)) ? ({ approval: "Required" } as const) : {};
  return taints
    .flatMap((taint): readonly Term[] => {
      const answer = affectedBy(binding, cluster, taint, view.purgeMode);
      if (!answer.affected) return [];
      const awaitsApproval = needsApproval(asked, identityOf(taint), view.approval);
      return [
        {
          cluster,
          taint,
          toleratedUntil: answer.toleratedUntil,
          purgeMode: answer.purgeMode,
          awaitsApproval,
        },
      ];
    })
    .toSorted(
      (a, b) =>
        Number(a.awaitsApproval) - Number(b.awaitsApproval) ||
        (a.toleratedUntil ?? 0) - (b.toleratedUntil ?? 0),
    )
    .slice(0, 1);
}

function stepOf(
  binding: ResourceBinding,
  { cluster, taint, purgeMode }: Term,
  leaving: ReadonlySet<string>,
  seen: ReturnType<typeof fleetViewOf>,
  now: Instant,
): DrainStep {
  const decision = decideRelease(
    {
      evacuation: cluster,
      cluster,
      taint: identityOf(taint),
      purgeMode,
      placement: placementViewOf(binding, seen, "target"),
      leaving,
      healthyElsewhere: healthyElsewhere(binding, leaving),
      // What state it carries decides nothing about where it goes.
      state: { work: undefined, policy: undefined, enabled: false, template: {} },
    },
    plainMoment(now),
  );
  const workload = workloadOf(binding);
  if (decision.outcome === "held")
    return { workload, targets: [], held: `${decision.reason}: ${decision.message}` };
  // For those that come after it.
  movePromise(seen.reserved, binding, undefined, decision.targets);
  const stays = resultOf(binding).filter(({ name }) => !leaving.has(name));
  return { workload, targets: decision.targets.length === 0 ? stays : decision.targets };
}

/** Why the cluster may not be taken down: the quorums that would lose their majority with it (D15). */
export function drainRefusals({ cluster, clusters, bindings }: DrainView): readonly string[] {
  const byName = new Map(clusters.map((one) => [one.metadata.name, one]));
  return bindings.flatMap((binding) => {
    const view = budgetViewOf(binding, (name) => byName.get(name));
    return (view && refuseTakingDown(view, workloadOf(binding), cluster)) ?? [];
  });
}

/** The federated StatefulSets with a share in the cluster: a drain leaves them there (D15). */
function stayingFederated(
  cluster: string,
  bindings: readonly ResourceBinding[],
): readonly DrainStep[] {
  return bindings
    .filter((binding) => isFederated(binding) && isOn(binding, cluster))
    .map((binding) => ({
      workload: workloadOf(binding),
      targets: [],
      exempt: exemptReasons.FederatedStatefulSet,
    }));
}

function healthyElsewhere(binding: ResourceBinding, faulty: ReadonlySet<string>): number {
  const elsewhere = new Set(clusterNamesOf(binding).filter((name) => !faulty.has(name)));
  return (binding.status?.aggregatedStatus ?? []).filter(
    ({ clusterName, health }) => elsewhere.has(clusterName) && health === "Healthy",
  ).length;
}
