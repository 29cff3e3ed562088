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
import { type ListedEntry, type Outcome, plainOutcome, remains } from "@lifeboat/core/operating";
import { isProvenHealthy } from "@lifeboat/core/propagation/works";

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
    return hasWholeCopy(view) ? remains(why) : why;
  }
  // Before the rest is judged: the shares that are left may be healthy, and are not the whole workload.
  const waits = tasksOf(binding).some(
    (task) => failed.has(task.fromCluster) && modeOf(task) === "Directly",
  );
  if (waits) {
    const why = plainOutcome("AwaitingFence");
    return hasWholeCopy(view) ? remains(why) : why;
  }
  if (isWhole(view)) return plainOutcome("Moved");
  if (result.length > 0) return plainOutcome("NotHealthy");
  const scheduled = findCondition(binding.status?.conditions, "Scheduled");
  return { reason: "NotScheduled", message: scheduled?.message ?? "" };
}

/** Why a failed cluster is in the result at the end. */
function whyStill({ binding, entry, ...view }: OutcomeView, result: readonly string[]): Outcome {
  if (!view.failover) return plainOutcome("GateOff");
  const sick = view.clusters.filter(({ metadata }) => result.includes(metadata.name));
  if (!sick.some((cluster) => isFailed(cluster))) return plainOutcome("NotTainted");
  if (entry === undefined) return plainOutcome("Tolerated");
  const { metadata, status } = entry.evacuation;
  if (entry.state === "Exempt") return { reason: "Exempt", message: entry.entry.exempt ?? "" };
  if (entry.state === "AwaitingApproval") return plainOutcome("AwaitingApproval");
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
