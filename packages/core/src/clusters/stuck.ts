/**
 * Which workloads keep a cluster from leaving that will not move by themselves, and what a person can do about each.
 *
 * A workload on its way is not stuck: it has an eviction task, or it has left and its copy stays until another is healthy.
 * Only a copy that mode Never keeps waits for a person.
 */
import { findCondition, type ResourceBinding } from "@lifeboat/api";
import { isOn, taskOf } from "../binding/index.ts";
import { whyUnscheduled } from "../propagation/matching/has-scheduler.ts";
import { defineReasons } from "../plan.ts";

export const stuckReasons = defineReasons({
  NotClaimed: "no policy claims it, so it is not placed again: let a policy claim it, or delete it",
  SchedulingSuspended:
    "its scheduling is suspended: end that with spec.suspension.scheduling of its binding",
  NotPlaced: "no other cluster takes it: lifeboat explain shows why",
  CopyKept:
    "its old copy is kept until a person lets it go: set suppressDeletion of its eviction task to false",
});

export type StuckReason = keyof typeof stuckReasons;

export interface Stuck {
  /** Such as `Deployment shop/cart`. */
  readonly workload: string;
  readonly reason: StuckReason;
}

/** Why a binding stays on a cluster that is to leave; undefined when it is on its way, or was never placed there itself. */
export function whyStuck(binding: ResourceBinding, cluster: string): StuckReason | undefined {
  const { status } = binding;
  if (taskOf(binding, cluster)?.suppressDeletion === true) return "CopyKept";
  if (!isOn(binding, cluster)) return undefined;
  const unscheduled = whyUnscheduled(binding);
  if (unscheduled !== undefined) return unscheduled;
  const isRefused = findCondition(status?.conditions, "Scheduled")?.status === "False";
  return isRefused ? "NotPlaced" : undefined;
}

/** The stuck ones among these, in order of their names. */
export function stuckOn(cluster: string, bindings: readonly ResourceBinding[]): readonly Stuck[] {
  const found = bindings.flatMap((binding) => {
    const reason = whyStuck(binding, cluster);
    return reason === undefined ? [] : [{ workload: workloadOf(binding), reason }];
  });
  return found.toSorted((a, b) => (a.workload < b.workload ? -1 : 1));
}

/** The workload of a binding in words: `Deployment shop/cart`. */
export function workloadOf({ spec: { resource } }: Pick<ResourceBinding, "spec">): string {
  const where = resource.namespace === undefined ? "" : `${resource.namespace}/`;
  return `${resource.kind} ${where}${resource.name}`;
}
