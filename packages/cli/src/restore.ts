/**
 * Back to where a workload ran before its last eviction, on a person's order.
 *
 * 1. The former result becomes the result again; clusters that were added since are left by an ordinary eviction, so that
 *    the floor holds and, with the purge mode Directly, nothing runs twice.
 * 2. Tasks of clusters that the workload returns to are dropped: the copies there stay.
 * 3. It is one write; undoing it is another restoration.
 */
import type { ResourceBinding } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { purgeModeOf, tasksOf } from "@lifeboat/core/binding";
import { evict, formerResult } from "@lifeboat/core/failover/evacuation";
import { stateToCarry } from "@lifeboat/core/failover/state";
import type { Target } from "@lifeboat/core/placement";
import { CommandFailed } from "./failure.ts";

export interface RestoreView {
  readonly binding: ResourceBinding;
  /** The names of the clusters there are. */
  readonly clusters: ReadonlySet<string>;
  /** The gate StatefulFailoverInjection. */
  readonly carriesState: boolean;
}

/** The binding as it shall be written; throws CommandFailed when there is nothing to go back to. */
export function restored(view: RestoreView, now: Instant): ResourceBinding {
  const { binding } = view;
  const former = formerResult(binding);
  if (former === undefined || former.length === 0)
    throw new CommandFailed("no eviction of it is recorded: there is nothing to go back to");
  const gone = former.filter(({ name }) => !view.clusters.has(name));
  if (gone.length > 0)
    throw new CommandFailed(
      `it ran on ${namesOf(gone)}, which is no cluster of the fleet any more`,
    );
  const present = binding.spec.clusters ?? [];
  if (sharesOf(former) === sharesOf(present))
    throw new CommandFailed(`it runs where it ran before: ${sharesOf(present)}`);
  const returning = new Set(former.map(({ name }) => name));
  const leaving = present.filter(({ name }) => !returning.has(name));
  const left = leaving.reduce((one, { name }) => leave(one, name, view, now), binding);
  return {
    ...left,
    spec: {
      ...left.spec,
      clusters: former,
      gracefulEvictionTasks: tasksOf(left).filter(({ fromCluster }) => !returning.has(fromCluster)),
    },
  };
}

/** `member1:2, member2:1` */
export function sharesOf(targets: readonly Target[]): string {
  const shares = targets.map(({ name, replicas }) =>
    replicas === undefined ? name : `${name}:${replicas}`,
  );
  return shares.toSorted().join(", ");
}

function leave(
  binding: ResourceBinding,
  cluster: string,
  view: RestoreView,
  now: Instant,
): ResourceBinding {
  const purgeMode = purgeModeOf(binding.spec.failover?.cluster?.purgeMode, "Gracefully");
  const { state, inject } = stateToCarry({
    binding,
    cluster,
    failing: "cluster",
    purgeMode,
    work: undefined,
    template: {},
    policy: undefined,
    enabled: view.carriesState,
  });
  if (state.outcome === "held")
    throw new CommandFailed(`its state cannot be kept: ${state.reason}: ${state.message}`);
  const order = {
    cluster,
    reason: "RestoredByHand",
    message: "A person ordered the workload back to where it ran before.",
    producer: "Operator",
    purgeMode,
    state: state.labels,
    inject,
  };
  return evict(binding, order, now);
}

function namesOf(targets: readonly Target[]): string {
  return targets.map(({ name }) => name).join(", ");
}
