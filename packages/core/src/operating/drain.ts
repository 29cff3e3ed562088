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
}

/** What would become of each workload on the cluster if it were drained. */
export function decideDrain(view: DrainView, now: Instant): readonly DrainStep[] {
  return decideTainted(view, DRAIN, "Gracefully", now);
}

/** What would become of each workload on the cluster if it got this taint now. */
export function decideTainted(
  view: DrainView,
  added: EvictingTaint,
  purgeMode: PurgeMode,
  now: Instant,
): readonly DrainStep[] {
  const taint = { ...added, timeAdded: formatTime(now) };
  const drained = view.clusters.map((one) =>
    one.metadata.name === view.cluster
      ? { ...one, spec: { ...one.spec, taints: [...(one.spec.taints ?? []), taint] } }
      : one,
  );
  const faulty = new Set(drained.filter(isFailed).map(({ metadata }) => metadata.name));
  const seen = fleetViewOf(drained, view.bindings);
  const moves = view.bindings.flatMap((binding): readonly DrainStep[] => {
    const answer = affectedBy(binding, view.cluster, taint, purgeMode);
    if (!answer.affected) return [];
    const { toleratedUntil } = answer;
    const decision = decideRelease(
      {
        evacuation: view.cluster,
        cluster: view.cluster,
        taint: identityOf(taint),
        purgeMode: answer.purgeMode,
        placement: placementViewOf(binding, seen, "target"),
        leaving: faulty,
        healthyElsewhere: healthyElsewhere(binding, faulty),
        // What state it carries decides nothing about where it goes.
        state: { work: undefined, policy: undefined, enabled: false, template: {} },
      },
      plainMoment(now),
    );
    const workload = workloadOf(binding);
    if (decision.outcome === "held")
      return [{ workload, targets: [], held: `${decision.reason}: ${decision.message}` }];
    // For those that come after it.
    movePromise(seen.reserved, binding, undefined, decision.targets);
    const stays = resultOf(binding).filter(({ name }) => !faulty.has(name));
    const targets = decision.targets.length === 0 ? stays : decision.targets;
    const isLater = toleratedUntil !== undefined && toleratedUntil > now;
    return [{ workload, targets, ...(isLater ? { leavesAt: toleratedUntil } : {}) }];
  });
  return [...moves, ...stayingFederated(view)];
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
function stayingFederated({ cluster, bindings }: DrainView): readonly DrainStep[] {
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
