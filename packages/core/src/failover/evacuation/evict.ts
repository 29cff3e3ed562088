/**
 * The eviction: one write of the binding. At no moment has the copy left the result without an eviction task, and at no
 * moment is its state lost (D12).
 *
 * 1. The cluster leaves `spec.clusters`, and a task for it appears in `spec.gracefulEvictionTasks` with everything that
 *    later steps need: reason, purge mode, replicas, the clusters before the failover, the state that the workload carries.
 * 2. There is at most one task for a cluster; a second eviction changes nothing.
 * 3. The state of this failover replaces that of an earlier one, also when there is none.
 */
import type { EvictionTask, ResourceBinding } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { isOn, resultOf, shareIn, type TaskMode, taskOf, tasksOf } from "../../binding/index.ts";
import {
  formatPreservedState,
  type PreservedState,
  readPreservedState,
} from "../../propagation/rendering/preserved-state.ts";
import { EVICTED_FOR, FORMER_RESULT, PRESERVED_STATE } from "../../well-known.ts";
import { withMark } from "./entry.ts";
import { formerResultOf } from "./former-result.ts";
import { signAgain } from "./own-result.ts";

export interface EvictionOrder {
  readonly cluster: string;
  /** One word, as the task's `reason`. */
  readonly reason: string;
  readonly message: string;
  readonly producer: string;
  readonly purgeMode: TaskMode;
  /** Only for a failing application moved gracefully. */
  readonly gracePeriodSeconds?: number;
  /** The labels that carry the state; empty: none. */
  readonly state: Readonly<Record<string, string>>;
  /** Whether the new copy gets the labels; the task keeps them in any case. */
  readonly inject: boolean;
  /** For which evacuation and taint (see entry.ts); absent: for none. */
  readonly mark?: string;
}

const MAX_MESSAGE = 1024;

/** The binding after the eviction; the same object when the cluster is not in its result. */
export function evict(
  binding: ResourceBinding,
  order: EvictionOrder,
  now: Instant,
): ResourceBinding {
  const { spec } = binding;
  const clusters = resultOf(binding);
  const leaving = shareIn(binding, order.cluster);
  if (leaving === undefined) return binding;
  const tasks = tasksOf(binding).filter(({ fromCluster }) => fromCluster !== order.cluster);
  const hasState = Object.keys(order.state).length > 0;
  const task: EvictionTask = {
    fromCluster: order.cluster,
    purgeMode: order.purgeMode,
    ...(leaving.replicas === undefined || leaving.replicas === 0
      ? {}
      : { replicas: leaving.replicas }),
    reason: order.reason,
    message: order.message.slice(0, MAX_MESSAGE),
    producer: order.producer,
    ...(order.gracePeriodSeconds === undefined
      ? {}
      : { gracePeriodSeconds: order.gracePeriodSeconds }),
    ...(order.purgeMode === "Never" ? { suppressDeletion: true } : {}),
    ...(hasState ? { preservedLabelState: order.state } : {}),
    creationTimestamp: formatTime(now),
    clustersBeforeFailover: clusters.map(({ name }) => name),
  };
  return signAgain({
    ...binding,
    metadata: withState(binding, order, hasState && order.inject),
    spec: {
      ...spec,
      clusters: clusters.filter(({ name }) => name !== order.cluster),
      gracefulEvictionTasks: [...tasks, task],
    },
  });
}

/** The binding as it was before the eviction of a cluster that nothing has replaced: the task goes, the result returns. */
export function rollBack(binding: ResourceBinding, cluster: string): ResourceBinding {
  const { spec } = binding;
  const task = taskOf(binding, cluster);
  if (task === undefined) return binding;
  const clusters = resultOf(binding);
  const former = {
    name: cluster,
    ...(task.replicas === undefined ? {} : { replicas: task.replicas }),
  };
  return signAgain({
    ...binding,
    spec: {
      ...spec,
      clusters: isOn(binding, cluster) ? clusters : [...clusters, former],
      gracefulEvictionTasks: tasksOf(binding).filter((one) => one !== task),
    },
  });
}

function withState(
  binding: ResourceBinding,
  order: EvictionOrder,
  carries: boolean,
): ResourceBinding["metadata"] {
  const { metadata } = binding;
  const { [PRESERVED_STATE]: _former, ...others } = metadata.annotations ?? {};
  const state = stateAfter(binding, order, carries);
  const annotations = {
    ...others,
    [FORMER_RESULT]: formerResultOf(binding),
    ...(state === undefined ? {} : { [PRESERVED_STATE]: formatPreservedState(state) }),
    ...(order.mark === undefined
      ? {}
      : { [EVICTED_FOR]: withMark(binding, order.cluster, order.mark) }),
  };
  return { ...metadata, annotations };
}

/** What is carried from now on, and what the old copy carries itself; undefined: neither. */
function stateAfter(
  binding: ResourceBinding,
  { cluster, state }: EvictionOrder,
  carries: boolean,
): PreservedState | undefined {
  const { from = "", labels = {} } = readPreservedState(binding) ?? {};
  const hasFormer = Object.keys(labels).length > 0;
  if (!carries && !hasFormer) return undefined;
  const carried = { from: cluster, labels: carries ? state : {} };
  return hasFormer ? { ...carried, former: { from, labels } } : carried;
}
