/**
 * Back to where a workload ran before its last eviction, on a person's order.
 *
 * 1. The former result becomes the result again; clusters that were added since are left by an ordinary eviction, so that
 *    the floor holds and, with the purge mode Directly, nothing runs twice.
 * 2. Every cluster that it returns to could take it now: it is there, Ready, passes the filters of the scheduler, has room where room
 *    is known, and is not suspended. What a person put somewhere is not evicted again for the same taint (D7), so nothing would mend a
 *    wrong order.
 * 3. Tasks of clusters that the workload returns to are dropped: the copies there stay.
 * 4. State goes along as at every eviction (D12): by the rules, the annotations of the policy, and what the Work of each left copy reports.
 * 5. It is one write; undoing it is another restoration.
 */
import { type Cluster, findCondition, type ResourceBinding, type Work } from "@lifeboat/api";
import type { Moment } from "@lifeboat/base";
import { evict, type EvictionOrder } from "../failover/evacuation/evict.ts";
import { isFederated } from "../federated/record.ts";
import { formerResult } from "../failover/evacuation/former-result.ts";
import {
  isDispatchingSuspended,
  isLeaving,
  type PurgeMode,
  purgeModeOf,
  resultOf,
  tasksOf,
} from "../binding/index.ts";
import { heldReasons } from "../failover/leaving/reasons.ts";
import { isAnswering } from "../failover/eviction-tasks/fence.ts";
import { objectionsOf } from "../placement/could-take.ts";
import { ofOneCluster, roomByCluster } from "../placement/explain.ts";
import { type FleetView, placementViewOf } from "../placement/placement-view.ts";
import type { Target } from "../placement/view.ts";
import {
  type CarriedState,
  type CarriedStateView,
  stateToCarry,
} from "../failover/state/state-to-carry.ts";
import type { Fields } from "../fields.ts";
import { clusterOfWork } from "../propagation/works/index.ts";
import { type RestoreReason, restoreReasons } from "./reasons.ts";
import { sharesOf } from "./shares.ts";

export interface RestoreView {
  readonly binding: ResourceBinding;
  /** All there are. */
  readonly clusters: readonly Cluster[];
  /** The same as a placement sees them, with what is promised on them: that is not free. */
  readonly fleet: FleetView;
  /** For the state that the workload carries. */
  readonly state: RestoredState;
  /** Under which name it leaves the clusters that it ran on meanwhile; absent: a person's order. */
  readonly order?: Pick<EvictionOrder, "reason" | "message" | "producer">;
}

/** What the state of a workload depends on, beside its binding. */
export interface RestoredState {
  /** The gate StatefulFailoverInjection. */
  readonly enabled: boolean;
  /** The policy that claims the workload, if it is there. */
  readonly policy: CarriedStateView["policy"];
  /** undefined: it is not known. */
  readonly template: Fields | undefined;
  /** The Works of the binding. */
  readonly works: readonly Work[];
}

export type RestorePlan =
  | {
      readonly outcome: "restore";
      /** As it shall be written. */
      readonly binding: ResourceBinding;
      /** Where it runs then. */
      readonly targets: readonly Target[];
      /** What it leaves for that, in this mode. */
      readonly leaves: readonly Target[];
      readonly purgeMode: PurgeMode;
      /** What a person should know about the state. */
      readonly warnings: readonly string[];
    }
  | { readonly outcome: "refused"; readonly reason: RestoreReason; readonly message: string };

export function decideRestore(view: RestoreView, moment: Moment): RestorePlan {
  const { binding } = view;
  if (isFederated(binding)) return refused("Federated");
  const former = formerResult(binding);
  if (former === undefined || former.length === 0) return refused("NothingRecorded");
  const present = resultOf(binding);
  if (sharesOf(former) === sharesOf(present))
    return refused(
      "AlreadyThere",
      `The workload already runs where it ran before: ${sharesOf(present)}.`,
    );
  const objection = objectionTo(view, former, moment);
  if (objection !== undefined) return objection;
  const back = new Set(former.map(({ name }) => name));
  const leaves = present.filter(({ name }) => !back.has(name));
  const purgeMode = purgeModeOf(binding.spec.failover?.cluster?.purgeMode, "Gracefully");
  const warnings = new Set<string>();
  let left = binding;
  for (const { name } of leaves) {
    if (view.state.template === undefined && hasRules(view))
      return refused("StateNotReadable", `TemplateMissing: ${heldReasons.TemplateMissing}`);
    const { state, inject } = carriedBy(left, name, purgeMode, view.state);
    if (state.outcome === "held")
      return refused("StateNotReadable", `${state.reason}: ${state.message}`);
    for (const warning of state.warnings) warnings.add(warning);
    const order = {
      ...(view.order ?? ORDER),
      cluster: name,
      purgeMode,
      state: state.labels,
      inject,
    };
    left = evict(left, order, moment.now);
  }
  const tasks = tasksOf(left).filter(({ fromCluster }) => !back.has(fromCluster));
  return {
    outcome: "restore",
    binding: {
      ...left,
      spec: { ...left.spec, clusters: former, gracefulEvictionTasks: tasks },
    },
    targets: former,
    leaves,
    purgeMode,
    warnings: [...warnings],
  };
}

/** Whether state is asked for and kept at all. */
function hasRules({ binding, state }: RestoreView): boolean {
  const { rules = [] } = binding.spec.failover?.cluster?.statePreservation ?? {};
  return state.enabled && rules.length > 0;
}

const ORDER = {
  reason: "RestoredByHand",
  message: "A person ordered the workload back to where it ran before.",
  producer: "Operator",
} as const;

function refused(reason: RestoreReason, message: string = restoreReasons[reason]): RestorePlan {
  return { outcome: "refused", reason, message };
}

/** Why the workload cannot go back now; undefined: it can. Clusters that it never left are asked for room only. */
function objectionTo(
  { binding, clusters, fleet }: RestoreView,
  former: readonly Target[],
  moment: Moment,
): RestorePlan | undefined {
  const byName = new Map(clusters.map((one) => [one.metadata.name, one]));
  const gone = former.filter(({ name }) => !byName.has(name)).map(({ name }) => name);
  if (gone.length > 0)
    return refused(
      "ClusterGone",
      `The workload ran on ${gone.join(", ")}, which is no longer joined.`,
    );
  const present = new Map(resultOf(binding).map(({ name, replicas = 0 }) => [name, replicas]));
  const returning = former.map(({ name }) => name).filter((name) => !present.has(name));
  const silent = returning
    .map((name) => byName.get(name))
    .filter((one) => one && !isAnswering(one));
  if (silent.length > 0)
    return refused("ClusterNotReady", silent.map((one) => one && unready(one)).join(" "));
  const view = placementViewOf(binding, fleet, "target");
  const objections = objectionsOf(view, returning, moment);
  if (objections.size > 0)
    return refused(
      "ClusterCannotTake",
      [...objections]
        .map(([name, one]) => `${name} ${ofOneCluster(one.message)}; ${one.help}.`)
        .join(" "),
    );
  const stopped = returning.filter((name) => isDispatchingSuspended(binding, name));
  if (stopped.length > 0)
    return refused(
      "DispatchingSuspended",
      `Dispatching to ${stopped.join(", ")} is suspended by the policy: no copy would be created there.`,
    );
  return roomless(view, former, present);
}

function unready({ metadata, status }: Cluster): string {
  const ready = findCondition(status?.conditions, "Ready");
  const why = ready === undefined ? "not asked yet" : `Ready is ${ready.status}, ${ready.reason}`;
  return `${metadata.name} cannot run it now: ${why}.`;
}

/** A cluster of which it is known that the replicas do not fit. One whose old copy is still there has them already. */
function roomless(
  view: Parameters<typeof roomByCluster>[0],
  former: readonly Target[],
  present: ReadonlyMap<string, number>,
): RestorePlan | undefined {
  const { binding, fleet } = view;
  const room = roomByCluster(view);
  for (const { name, replicas = 0 } of former) {
    const more = replicas - (present.get(name) ?? 0);
    const isCounted = fleet.byName.get(name)?.room !== undefined;
    const isThere = isLeaving(binding, name);
    const free = room.get(name) ?? 0;
    if (isCounted && !isThere && more > free)
      return refused(
        "NoRoom",
        `${name} has room for ${free} of the ${more} replicas that go there.`,
      );
  }
  return undefined;
}

function carriedBy(
  binding: ResourceBinding,
  cluster: string,
  purgeMode: PurgeMode,
  { enabled, policy, template = {}, works }: RestoredState,
): CarriedState {
  const work = works.find((one) => clusterOfWork(one) === cluster);
  const failing = "cluster";
  return stateToCarry({ binding, cluster, failing, purgeMode, work, template, policy, enabled });
}
