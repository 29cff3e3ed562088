/**
 * Oracles of group C: the queue of evictions and its rate (D6, D7).
 *
 * The rate that counts is that of the true fleet at the decision; news may take a while, so the fastest of the last moments
 * (`lagMs`) counts. At more than one per second a reservation is for as many as a second allows, at most 100 (D6).
 */
import type { Evacuation, EvacuationBudget, KubeObject, ResourceBinding } from "@lifeboat/api";
import { type Committed, parseObject } from "../disk/ledger.ts";
import {
  clusterOfEvacuation,
  type Decision,
  decisionsOf,
  Eligibility,
  noTarget,
  taintId,
  taintOf,
  type Waiting,
} from "./decisions.ts";
import { type Counts, isDrain, moves } from "./fleet.ts";
import type { AlwaysOracle, ConvergedOracle, Judge } from "./oracle.ts";
import { BINDINGS, tasksOf } from "./reading.ts";
import type { Truth } from "./truth.ts";

const BUDGETS = "lifeboat.dev/evacuationbudgets";
const EVACUATIONS = "lifeboat.dev/evacuations";
const SECOND_MS = 1000;
/** Bindings without replicas or health have a lane of their own. */
const PASSIVE_KINDS: ReadonlySet<string> = new Set(["ConfigMap", "Secret", "Role", "ClusterRole"]);
const PASSIVE_PER_SECOND = 10;
const MOST_TOKENS = 100;

/** Judges every eviction for a taint, in the order of writing. */
type JudgeDecision = (decision: Decision) => string | undefined;

function onDecisions(
  name: string,
  promise: string,
  start: (truth: Truth, eligibility: Eligibility) => JudgeDecision,
): AlwaysOracle {
  const begin = (truth: Truth): Judge => {
    const judge = start(truth, Eligibility.of(truth));
    return (change: Committed) =>
      decisionsOf(change).flatMap((decision) => {
        const wrong = judge(decision);
        return wrong === undefined ? [] : [`${decision.key} left ${decision.cluster}: ${wrong}`];
      });
  };
  return { name, promise, on: "plane", tables: BINDINGS, start: begin };
}

export const alwaysOracles: readonly AlwaysOracle[] = [
  onDecisions(
    "evictions-keep-the-rate",
    "C1: over any stretch of time at most one eviction more than the rate allows, over all kinds, clusters, restarts and lost answers (D6)",
    (truth, eligibility) => {
      let fullAt = Number.NEGATIVE_INFINITY;
      return (decision) => {
        truth.evictions.push(decision.at);
        const { costMs, aheadMs } = tokenOf(decision, truth, eligibility);
        const earlyMs = fullAt - aheadMs - decision.at;
        fullAt = Math.max(fullAt, decision.at) + costMs;
        return isJudged(truth) && earlyMs > 1 ? `${earlyMs} ms before the rate allows` : undefined;
      };
    },
  ),
  onDecisions(
    "evictions-follow-the-fleet",
    "C2: the rate is that of the fleet as it is: nobody is evicted while it is 0",
    (truth, eligibility) => (decision) =>
      rateOf(decision, truth, eligibility) > 0 ? undefined : "the rate is 0",
  ),
  {
    name: "the-budget-counts-the-fleet",
    promise:
      "C2: a reservation is made for the fleet as it is: failed clusters, counted clusters and the rate that follows",
    on: "plane",
    tables: [BUDGETS],
    start: (truth) => {
      const { fleet } = Eligibility.of(truth);
      return ({ at, row, previous }) => {
        if (row.type === "DELETED") return [];
        const { status } = parseObject(row.bytes) as KubeObject as EvacuationBudget;
        const before = (previous?.object as KubeObject as EvacuationBudget | undefined)?.status;
        if (status?.reservedUntil === before?.reservedUntil) return [];
        const { failedClusters, countedClusters, ratePerSecond = 0 } = status ?? {};
        const isTrue = fleet
          .countsSince(at - truth.circumstances.lagMs)
          .some(
            (counts) =>
              counts.failed === failedClusters &&
              counts.counted === countedClusters &&
              fleetRate(counts, truth) === ratePerSecond,
          );
        return isTrue
          ? []
          : [`${failedClusters} of ${countedClusters} failed, ${ratePerSecond}/s, says the budget`];
      };
    },
  },
  onDecisions(
    "stops-are-not-caught-up",
    "C3: after a stop evictions go on at the rate: tokens never accumulate beyond one (D6)",
    (truth, eligibility) => {
      let last = Number.NEGATIVE_INFINITY;
      let wentOnAt = Number.NEGATIVE_INFINITY;
      let debtMs = 0;
      return (decision) => {
        const { at } = decision;
        const { costMs, aheadMs } = tokenOf(decision, truth, eligibility);
        if (at - last > STOP_TOKENS * costMs) [wentOnAt, debtMs] = [at, 0];
        last = at;
        const earlyMs = debtMs - aheadMs - (at - wentOnAt);
        debtMs += costMs;
        return isJudged(truth) && earlyMs > 1 ? `${earlyMs} ms ahead after a stop` : undefined;
      };
    },
  ),
  onDecisions(
    "restarts-grant-no-token",
    "C4: a restart grants no eviction: the last one counts on",
    (truth, eligibility) => {
      let before: { readonly lives: number; readonly freeAt: number } | undefined;
      return (decision) => {
        const { costMs, aheadMs } = tokenOf(decision, truth, eligibility);
        const { lives } = truth.witness;
        const isNext = before !== undefined && before.lives !== lives;
        const earlyMs = isNext ? (before?.freeAt ?? 0) - aheadMs - decision.at : 0;
        before = { lives, freeAt: decision.at + costMs };
        return isJudged(truth) && earlyMs > 1
          ? `${earlyMs} ms too early after a restart`
          : undefined;
      };
    },
  ),
  onDecisions(
    "evictions-have-their-taint",
    "C5: at an eviction the cluster bears the taint it is for, or did when it was read just before the write",
    ({ circumstances }, { fleet }) =>
      (decision) => {
        const borne = taintOf(decision, fleet.clusters.get(decision.cluster));
        if (borne === undefined) return `it never bore ${decision.taintId}`;
        const { until = Infinity } = borne;
        return decision.at - until > circumstances.roundTripMs
          ? `${decision.taintId} was gone`
          : undefined;
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
    "C8: faulty clusters are served in turn: none is served twice while somebody of another may go (D6)",
    (truth, eligibility) => {
      let before:
        | { readonly at: number; readonly lives: number; readonly cluster: string }
        | undefined;
      return (decision) => {
        const { at, cluster } = decision;
        const former = before;
        const { lives } = truth.witness;
        before = { at, lives, cluster };
        if (former?.cluster !== cluster || former.lives !== lives) return undefined;
        const since = former.at - truth.circumstances.lagMs;
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
    ({ circumstances }, { fleet }) =>
      ({ at }) =>
        fleet
          .countsSince(at - circumstances.lagMs)
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
        const isNoted = since !== undefined && at - since > truth.circumstances.lagMs;
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
            .filter(({ binding }) => !isLeftAlone(binding, truth))
            // Which group a workload with several would go to is for the scheduler to say.
            .filter(({ binding }) => binding.spec.placement?.clusterAffinities === undefined)
            .filter((one) => !isHeldOtherwise(one, cluster, truth))
            .filter((one) => noTarget(one.binding, cluster, fleet, Infinity) === undefined)
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
          const bindings = new Set(waiting.map(({ entry }) => entry.binding.uid));
          return ["evict_total", cluster, bindings.size] as const;
        }),
      ];
      return expected
        .filter(([name, series, value]) => (truth.witness.gauge(name).get(series) ?? 0) !== value)
        .map(([name, series, value]) => `${name} of [${series}] is not ${value}`);
    },
  },
];

/** How long after nothing moved it counts as a stop, in tokens. */
const STOP_TOKENS = 5;

/** Whether the rate can be judged: where the plane's clock jumps, or two planes are at work, its tokens come otherwise. */
function isJudged({ circumstances }: Truth): boolean {
  return circumstances.clockIsTrue && !circumstances.hasTwoLeaders;
}

function fleetRate({ failed, counted }: Counts, { witness }: Truth): number {
  const { controllers } = witness;
  if (counted > 0 && failed === counted) return 0;
  if (counted === 0 || failed / counted <= controllers.unhealthyClusterThreshold)
    return controllers.resourceEvictionRate;
  return counted > controllers.largeClusterNumThreshold
    ? controllers.secondaryResourceEvictionRate
    : 0;
}

/** Per second, for the lane of the binding; of the last moments the fastest. */
function rateOf({ at, binding }: Decision, truth: Truth, { fleet }: Eligibility): number {
  const rates = fleet
    .countsSince(at - truth.circumstances.lagMs)
    .map((counts) => fleetRate(counts, truth));
  const rate = Math.max(...rates);
  if (!PASSIVE_KINDS.has(binding.spec.resource.kind) || rate === 0) return rate;
  const { resourceEvictionRate } = truth.witness.controllers;
  return PASSIVE_PER_SECOND * Math.min(1, rate / resourceEvictionRate);
}

/** What one eviction uses up, and how far ahead of the rate it may be, in milliseconds. */
function tokenOf(
  decision: Decision,
  truth: Truth,
  eligibility: Eligibility,
): { readonly costMs: number; readonly aheadMs: number } {
  const rate = rateOf(decision, truth, eligibility);
  const costMs = rate === 0 ? 0 : SECOND_MS / rate;
  const tokens = Math.max(1, Math.min(MOST_TOKENS, Math.floor(rate)));
  return { costMs, aheadMs: (tokens - 1) * costMs };
}

/** Whether somebody on the cluster may go since then, in the lane of the decision. */
function hasSomebody(
  cluster: string,
  since: number,
  { binding }: Decision,
  truth: Truth,
  eligibility: Eligibility,
): boolean {
  const isPassive = ({ spec }: ResourceBinding): boolean => PASSIVE_KINDS.has(spec.resource.kind);
  const mayGo = (one: Waiting): boolean =>
    Math.max(one.recordedAt, one.dueAt) < since &&
    isPassive(one.binding) === isPassive(binding) &&
    !isLeftAlone(one.binding, truth) &&
    !isHeldOtherwise(one, cluster, truth) &&
    noTarget(one.binding, cluster, eligibility.fleet, Infinity) === undefined;
  return isEvacuated(cluster, truth, eligibility) && eligibility.waitingOn(cluster).some(mayGo);
}

/** Whether workloads leave a cluster: for its taints while the gate is on, for a person's drain always. */
function isEvacuated(cluster: string, { witness }: Truth, { fleet }: Eligibility): boolean {
  const taints = [...(fleet.clusters.get(cluster)?.borne.values() ?? [])].map(({ taint }) => taint);
  return taints.some((taint) => moves(taint) && (witness.controllers.failover || isDrain(taint)));
}

/** Whether a person placed it: nothing is promised then (D7). */
function isLeftAlone({ spec }: ResourceBinding, { circumstances }: Truth): boolean {
  return circumstances.placedByHand.has(spec.resource.name);
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

function evacuationsOf({ ledger }: Truth): readonly Evacuation[] {
  return ledger
    .objects("plane", EVACUATIONS)
    .map(({ object }) => object as KubeObject as Evacuation);
}

const allPauses = new WeakMap<Truth, Pauses>();

/** Since when people have stopped evictions. */
class Pauses {
  readonly #truth: Truth;
  readonly #since = new Map<string, number>();

  private constructor(truth: Truth) {
    this.#truth = truth;
    for (const { metadata, spec } of evacuationsOf(truth)) this.#put(metadata.name, spec.paused, 0);
    for (const { key, object } of truth.ledger.objects("plane", BUDGETS))
      this.#put(key, (object as KubeObject as EvacuationBudget).spec.paused, 0);
    truth.ledger.onChange(({ server, table, row, at, key }) => {
      if (server !== "plane" || (table !== BUDGETS && table !== EVACUATIONS)) return;
      const { spec } = parseObject(row.bytes) as KubeObject as Evacuation;
      const name = table === BUDGETS ? key : key.slice(1);
      this.#put(name, row.type !== "DELETED" && spec.paused, at);
    });
  }

  static of(truth: Truth): Pauses {
    const known = allPauses.get(truth) ?? new Pauses(truth);
    allPauses.set(truth, known);
    return known;
  }

  /** Since when nothing may leave a cluster; undefined: it may. */
  since(cluster: string): number | undefined {
    const times = [...this.#since]
      .filter(([name]) => name === "/fleet" || clusterOfEvacuation(name) === cluster)
      .map(([, since]) => since);
    return times.length === 0 ? undefined : Math.min(...times, this.#truth.ledger.now);
  }

  #put(name: string, isPaused: boolean | undefined, at: number): void {
    if (isPaused !== true) this.#since.delete(name);
    else if (!this.#since.has(name)) this.#since.set(name, at);
  }
}
