/**
 * What became of one workload when clusters failed, judged by its binding at the end.
 *
 * A workload is whole when its result is not empty, and every cluster of it lives and reports a healthy copy of the share that
 * it has now: a cluster that got two replicas more counts when these are there.
 */
import {
  type Cluster,
  type Evacuation,
  findCondition,
  type ResourceBinding,
  type Work,
} from "@lifeboat/api";
import { clusterNamesOf, modeOf, shareIn, tasksOf } from "@lifeboat/core/binding";
import { isFailed } from "@lifeboat/core/failover/evacuation";
import type { ListedEntry } from "@lifeboat/core/operating";
import { isProvenHealthy } from "@lifeboat/core/propagation/works";

export const outcomeReasons = {
  Moved: "It runs whole elsewhere.",
  Remains:
    "A whole copy of it runs in another cluster; the one in the failed cluster is not replaced.",
  GateOff: "The feature gate Failover is off: nothing leaves a failed cluster.",
  NotTainted:
    "No ClusterTaintPolicy gives the failed cluster a NoExecute or PreferNoExecute taint.",
  Tolerated: "Its policy tolerates the taint.",
  Exempt: "The taint does not move it.",
  Held: "It would leave, and has no target.",
  AwaitingApproval: "It would leave after a person's approval: lifeboat evacuations approve.",
  Queued: "It would leave, and its turn did not come.",
  AwaitingFence: "Purge mode Directly waits for the proof that the failed cluster is off.",
  NotScheduled: "It left, and no cluster was found for it.",
  NotHealthy: "It was placed elsewhere, and is not healthy there.",
} as const;

export type OutcomeReason = keyof typeof outcomeReasons;

export interface Outcome {
  readonly reason: OutcomeReason;
  /** What an object adds to the sentence of the reason; "" when nothing does. */
  readonly message: string;
}

export interface WholeView {
  readonly binding: ResourceBinding;
  /** Its Works, by cluster. */
  readonly works: ReadonlyMap<string, Work>;
  readonly failed: ReadonlySet<string>;
}

export interface OutcomeView extends WholeView {
  /** The failed clusters at the end. */
  readonly clusters: readonly Cluster[];
  /** Its entry in an evacuation of a failed cluster. */
  readonly entry?: ListedEntry & { readonly evacuation: Evacuation };
  /** The gate. */
  readonly failover: boolean;
}

export function outcomeOf(view: OutcomeView): Outcome {
  const { binding, failed } = view;
  const result = clusterNamesOf(binding);
  if (result.some((name) => failed.has(name))) {
    const why = whyStill(view, result);
    if (!hasWholeCopy(view)) return why;
    const message = why.message === "" ? why.reason : `${why.reason}: ${why.message}`;
    return { reason: "Remains", message };
  }
  if (isWhole(view)) return plain("Moved");
  const waits = tasksOf(binding).some(
    (task) => failed.has(task.fromCluster) && modeOf(task) === "Directly",
  );
  if (waits) return plain("AwaitingFence");
  if (result.length > 0) return plain("NotHealthy");
  const scheduled = findCondition(binding.status?.conditions, "Scheduled");
  return { reason: "NotScheduled", message: scheduled?.message ?? "" };
}

/** Why a failed cluster is in the result at the end. */
function whyStill({ binding, entry, ...view }: OutcomeView, result: readonly string[]): Outcome {
  if (!view.failover) return plain("GateOff");
  const sick = view.clusters.filter(({ metadata }) => result.includes(metadata.name));
  if (!sick.some((cluster) => isFailed(cluster))) return plain("NotTainted");
  if (entry === undefined) return plain("Tolerated");
  const { metadata, status } = entry.evacuation;
  if (entry.state === "Exempt") return { reason: "Exempt", message: entry.entry.exempt ?? "" };
  if (entry.state === "AwaitingApproval") return plain("AwaitingApproval");
  if (entry.state !== "Held")
    return {
      reason: "Queued",
      message: `evacuation ${metadata.name} is ${status?.phase ?? "new"}${status?.reason === undefined ? "" : `: ${status.reason}`}`,
    };
  const held = status?.held?.find((one) => one.binding.uid === binding.metadata.uid);
  return { reason: "Held", message: `${held?.reason ?? ""}: ${held?.message ?? ""}` };
}

export function isWhole(view: WholeView): boolean {
  const result = clusterNamesOf(view.binding);
  return result.length > 0 && result.every((name) => isWholeIn(view, name));
}

/** Whether every copy is the whole workload, and one of them lives. */
function hasWholeCopy(view: WholeView): boolean {
  const { placement } = view.binding.spec;
  if (placement?.replicaScheduling?.replicaSchedulingType === "Divided") return false;
  return clusterNamesOf(view.binding).some((name) => isWholeIn(view, name));
}

function isWholeIn({ binding, works, failed }: WholeView, name: string): boolean {
  const work = works.get(name);
  if (failed.has(name) || work === undefined) return false;
  return isProvenHealthy(work) && asksFor(work, shareIn(binding, name)?.replicas);
}

/** Whether the Work was rendered for this share; a workload without replicas has none. */
function asksFor({ spec }: Work, share: number | undefined): boolean {
  const [manifest] = spec.workload?.manifests ?? [];
  const replicas = (manifest as { readonly spec?: { readonly replicas?: number } } | undefined)
    ?.spec?.replicas;
  return share === undefined || replicas === undefined || replicas === share;
}

function plain(reason: OutcomeReason): Outcome {
  return { reason, message: "" };
}
