/**
 * Oracles of group C: who leaves a faulty cluster, and in which order (D6, D7). How fast is in `rate.ts`.
 */
import type { KubeObject, ResourceBinding } from "@lifeboat/api";
import { parseObject } from "../disk/ledger.ts";
import {
  type Decision,
  Eligibility,
  isPassive,
  noTarget,
  onDecisions,
  taintId,
  taintOf,
  type Waiting,
} from "./decisions.ts";
import { type KnownFleet, isDrain, moves } from "./fleet.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { evacuationsOf, Pauses } from "./pauses.ts";
import { fleetRate } from "./rate.ts";
import { BINDINGS, hasFailed, isOfPerson, tasksOf } from "./reading.ts";
import type { Truth } from "./truth.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  onDecisions(
    "evictions-have-their-taint",
    "C5: at an eviction the cluster bears the taint it is for, or did when it was read just before the write",
    (truth, { fleet }) =>
      (decision) => {
        const borne = taintOf(decision, fleet.clusters.get(decision.cluster));
        if (borne === undefined) return `it never bore ${decision.taintId}`;
        const { until = Infinity } = borne;
        return decision.at - until > truth.roundTripMs ? `${decision.taintId} was gone` : undefined;
      },
  ),
  {
    name: "one-task-per-cluster",
    promise: "C7: a binding has at most one eviction task per cluster",
    on: "plane",
    tables: BINDINGS,
    start:
      () =>
      ({ key, row }) => {
        if (row.type === "DELETED") return [];
        const binding = parseObject(row.bytes) as KubeObject as ResourceBinding;
        return tasksOf(binding).size === (binding.spec.gracefulEvictionTasks ?? []).length
          ? []
          : [`${key} has two tasks for one cluster`];
      },
  },
  onDecisions(
    "nobody-is-evicted-twice",
    "C7: for one taint of a cluster a binding is evicted at most once, whatever is retried",
    () => {
      const seen = new Set<string>();
      return ({ binding, cluster, taintId: taint }) => {
        const id = `${binding.metadata.uid} ${cluster} ${taint}`;
        if (seen.has(id)) return `a second time for ${taint}`;
        seen.add(id);
        return undefined;
      };
    },
  ),
  onDecisions(
    "clusters-take-turns",
    "C8: faulty clusters are served in turn, each lane for itself: none is served twice while another has one that may go (D6)",
    (truth, eligibility) => {
      /** The last eviction of each lane: the second lane has turns of its own. */
      const last = new Map<
        "workloads" | "passive",
        { readonly at: number; readonly lives: number; readonly cluster: string }
      >();
      return (decision) => {
        const { at, cluster, binding } = decision;
        const lane = isPassive(binding) ? "passive" : "workloads";
        const former = last.get(lane);
        const { lives } = truth.witness;
        last.set(lane, { at, lives, cluster });
        if (former?.cluster !== cluster || former.lives !== lives) return undefined;
        const since = former.at - truth.lagMs;
        const passedOver = [...eligibility.fleet.clusters.keys()]
          .filter((other) => other !== cluster)
          .find((other) => hasSomebody(other, since, decision, truth, eligibility));
        return passedOver === undefined ? undefined : `it was the turn of ${passedOver}`;
      };
    },
  ),
  onDecisions(
    "nothing-moves-when-everything-is-down",
    "C9: while every cluster is failed nobody is evicted, however large the fleet: it means that the plane is cut off (D6)",
    (truth, { fleet }) =>
      ({ at }) =>
        fleet
          .countsSince(at - truth.lagMs)
          .every(({ failed, counted }) => counted > 0 && failed === counted)
          ? "every cluster has failed"
          : undefined,
  ),
  onDecisions(
    "paused-moves-nobody",
    "D7: while a person pauses an evacuation, or all of them, nobody is evicted",
    (truth, eligibility) => {
      const pauses = Pauses.of(truth);
      return ({ at, cluster, binding }) => {
        const since = pauses.since(cluster);
        const isNoted = since !== undefined && at - since > truth.lagMs;
        return isNoted && eligibility.fleet.clusters.has(cluster)
          ? `${binding.metadata.name} while it is paused`
          : undefined;
      };
    },
  ),
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "recovered-clusters-have-no-queue",
    promise: "C6: when a cluster has recovered, nobody waits to leave it",
    judge: (truth) => {
      const { clusters } = Eligibility.of(truth).fleet;
      return evacuationsOf(truth).flatMap(({ metadata, spec, status }) => {
        const taints = [...(clusters.get(spec.cluster)?.borne.values() ?? [])];
        if (taints.some(({ taint }) => moves(taint))) return [];
        const { queued = 0, held = 0 } = status?.entries ?? {};
        return queued + held === 0 ? [] : [`${queued + held} wait in ${metadata.name}`];
      });
    },
  },
  {
    name: "everybody-affected-leaves",
    promise:
      "C8: over crashes everybody whom a taint moves is written down, and leaves while the rate is above 0 and there is a target (D8)",
    judge: (truth) => {
      const eligibility = Eligibility.of(truth);
      const { fleet } = eligibility;
      const counts = fleet.countsSince(truth.ledger.now).at(-1);
      if (counts === undefined || fleetRate(counts, truth) === 0) return [];
      const pauses = Pauses.of(truth);
      return [...fleet.clusters.keys()]
        .filter((cluster) => pauses.since(cluster) === undefined)
        .filter((cluster) => isEvacuated(cluster, truth, eligibility))
        .flatMap((cluster) => [
          ...unrecorded(cluster, truth, eligibility).map((key) => `${key} is nowhere written down`),
          ...eligibility
            .waitingOn(cluster)
            .filter(({ binding }) => !isOfPerson(truth, binding) && !hasFailed(binding))
            .filter((one) => !isHeldOtherwise(one, cluster, truth))
            .filter((one) => hasTarget(one, cluster, fleet, truth.ledger.now))
            .map(({ entry }) => `${entry.binding.name} is still on ${cluster}`),
        ]);
    },
  },
  {
    name: "metrics-tell-the-truth",
    promise:
      "C10: evict_total counts who may go or is held, by cluster; cluster_fault_num and cluster_fault_rate the failed clusters",
    judge: (truth) => {
      const eligibility = Eligibility.of(truth);
      const { failed = 0, counted = 0 } =
        eligibility.fleet.countsSince(truth.ledger.now).at(-1) ?? {};
      const expected: readonly (readonly [string, string, number])[] = [
        ["cluster_fault_num", "", failed],
        ["cluster_fault_rate", "", counted === 0 ? 0 : failed / counted],
        ...[...eligibility.fleet.clusters.keys()].map((cluster) => {
          const waiting = isEvacuated(cluster, truth, eligibility)
            ? eligibility.waitingOn(cluster).filter(({ dueAt }) => dueAt <= truth.ledger.now)
            : [];
          const uids = new Set(waiting.map(({ entry }) => entry.binding.uid));
          return ["evict_total", cluster, uids.size] as const;
        }),
      ];
      // Whom a person has placed is taken out, unless that was before the failure.
      const mostTakenOut = truth.bindings().filter((binding) => isOfPerson(truth, binding)).length;
      return expected
        .filter(([name, series, value]) => {
          const shown = truth.witness.gauge(name).get(series) ?? 0;
          return shown > value || shown < value - (name === "evict_total" ? mostTakenOut : 0);
        })
        .map(([name, series, value]) => `${name} of [${series}] is not ${value}`);
    },
  },
];

/** Whether somebody on the cluster may go since then, in the lane of the decision. */
function hasSomebody(
  cluster: string,
  since: number,
  { binding }: Decision,
  truth: Truth,
  eligibility: Eligibility,
): boolean {
  const mayGo = (one: Waiting): boolean =>
    Math.max(one.recordedAt, one.dueAt, one.askedAt) < since &&
    isPassive(one.binding) === isPassive(binding) &&
    !isOfPerson(truth, one.binding) &&
    !hasFailed(one.binding) &&
    !isHeldOtherwise(one, cluster, truth) &&
    hasTarget(one, cluster, eligibility.fleet, since - RETRY_MS);
  return isEvacuated(cluster, truth, eligibility) && eligibility.waitingOn(cluster).some(mayGo);
}

/** An entry that is held because it has no target is tried again within this time after something changed. */
export const RETRY_MS = 5000;

/** Whether it has certainly had somewhere to go since then. */
function hasTarget(
  { binding }: Waiting,
  cluster: string,
  fleet: KnownFleet,
  since: number,
): boolean {
  return noTarget(binding, cluster, fleet, { certainSince: since }) === undefined;
}

/** Whether workloads leave a cluster: for its taints while the gate is on, for a person's drain always. */
function isEvacuated(cluster: string, { witness }: Truth, { fleet }: Eligibility): boolean {
  const taints = [...(fleet.clusters.get(cluster)?.borne.values() ?? [])].map(({ taint }) => taint);
  return taints.some((taint) => moves(taint) && (witness.controllers.failover || isDrain(taint)));
}

/** Whether it says that something else keeps it than the want of a target: no policy, or state that cannot be read (D12). */
function isHeldOtherwise({ binding }: Waiting, cluster: string, truth: Truth): boolean {
  const { uid } = binding.metadata;
  return evacuationsOf(truth)
    .filter(({ spec }) => spec.cluster === cluster)
    .flatMap(({ status }) => status?.held ?? [])
    .some((held) => held.binding.uid === uid && held.reason !== "NoTarget");
}

/** The bindings on a cluster of which nothing is written down for a taint that moves workloads. */
function unrecorded(cluster: string, truth: Truth, eligibility: Eligibility): readonly string[] {
  const taints = [...(eligibility.fleet.clusters.get(cluster)?.borne.values() ?? [])].filter(
    ({ taint }) => moves(taint) && (truth.witness.controllers.failover || isDrain(taint)),
  );
  return truth
    .bindings()
    .filter(({ spec }) => (spec.clusters ?? []).some(({ name }) => name === cluster))
    .filter(({ metadata }) =>
      taints.some(
        ({ taint }) => eligibility.entryOf(metadata.uid, cluster, taintId(taint)) === undefined,
      ),
    )
    .map(({ metadata }) => metadata.name);
}
