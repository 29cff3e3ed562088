/**
 * The guard TrafficDrained (D27): an old copy is kept until load balancers have taken its traffic away. It withholds clearing and
 * never causes it.
 *
 * Every wait for a confirmation ends, and an Event reports it:
 *
 *   none of ours serves the ingress, or the cluster that is left does not answer  ──▶ after `timeoutMs`
 *   load balancers of ours run and do not confirm                                 ──▶ after `limitMs`
 *
 * One wait has no end, because it is for no confirmation: no other cluster serves the requests of the copy, so its removal would
 * fail all of them (D16). Both times count from the moment in which nothing but traffic keeps the copy.
 */
import type { EvictionTask } from "@lifeboat/api";
import { addMs, type Instant, type Moment } from "@lifeboat/base";
import { isSilent } from "./fence.ts";
import { isInResult, type TasksView } from "./view.ts";

/** The traffic of the copy in one cluster; see core/traffic/confirmation.ts. */
export interface LeavingTraffic {
  readonly state: "none" | "drained" | "awaited" | "unconfirmable" | "needed";
  /** Since when nothing but traffic keeps the copy; absent: it has not been asked yet. */
  readonly since?: Instant;
  readonly timeoutMs: number;
  readonly limitMs: number;
}

/** Why an old copy goes although its traffic is not confirmed to be gone. */
export type UnconfirmedCause = "NoLoadBalancer" | "ClusterSilent" | "LimitOver";

export type GuardAnswer =
  | { readonly kind: "passes" }
  | { readonly kind: "yields"; readonly cause: UnconfirmedCause }
  | { readonly kind: "holds"; readonly reason: TrafficReason; readonly until?: Instant };

/** What a copy waits for: for longer than load balancers need a person should know of it. */
type TrafficReason = "AwaitingTraffic" | "TrafficNotDrained" | "LastServedCopy";

/** Whether the old copy may go, as far as traffic is concerned. */
export function guardTraffic(view: TasksView, task: EvictionTask, moment: Moment): GuardAnswer {
  const traffic = view.traffic?.get(task.fromCluster);
  if (traffic === undefined || isInResult(view, task) || task.suppressDeletion === false)
    return { kind: "passes" };
  if (traffic.state === "none" || traffic.state === "drained") return { kind: "passes" };
  const { state, since = moment.now, timeoutMs, limitMs } = traffic;
  const timeout = addMs(since, timeoutMs);
  if (moment.now < timeout) return { kind: "holds", reason: "AwaitingTraffic", until: timeout };
  const cluster = view.clusters.get(task.fromCluster);
  if (cluster === undefined || isSilent(cluster)) return { kind: "yields", cause: "ClusterSilent" };
  if (state === "unconfirmable") return { kind: "yields", cause: "NoLoadBalancer" };
  if (state === "needed") return { kind: "holds", reason: "LastServedCopy" };
  const limit = addMs(since, limitMs);
  // seed: traffic-limit
  if (moment.now < limit) return { kind: "holds", reason: "TrafficNotDrained", until: limit };
  return { kind: "yields", cause: "LimitOver" };
}
