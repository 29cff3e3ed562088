/**
 * The life of a Cluster object in the control plane: what it gets when it joins, and in which order it leaves.
 *
 *   join:   finalizer → execution namespace
 *   leave:  no binding needs it any more (D22) → its execution namespace is deleted → its Works are gone → finalizer off
 *
 * 1. The finalizer comes first and goes last, so that a namespace of ours never stays without its cluster.
 * 2. Forced removal skips the waiting for bindings. Only then, and only while the member is out of reach, are Works let
 *    go without their copies being taken away.
 * 3. The rights of an agent are in the execution namespace and go with it: of a Pull cluster the Works go first, so that an
 *    agent that is away meanwhile can still take its copies out when it returns.
 * 4. No taint is set (D1, D2).
 */
import type { Plan } from "../plan.ts";
import { type LifecycleReason, lifecycleReasons } from "./reasons.ts";
import { type Stuck, stuckReasons } from "./stuck.ts";

export interface LifecycleView {
  readonly name: string;
  readonly hasFinalizer: boolean;
  /** The Cluster is being deleted. */
  readonly isLeaving: boolean;
  /** A person said that it has to go whatever is on it. */
  readonly isForced: boolean;
  /** Its agent carries out its Works. */
  readonly isPull: boolean;
  /** The member answers, as far as is known. */
  readonly isReachable: boolean;
  readonly namespace: "absent" | "active" | "ending";
  /** Bindings that have the cluster in their result, their evictions, or the results of workloads that need them. */
  readonly bindings: number;
  /** Those of them that do not move by themselves. */
  readonly stuck: readonly Stuck[];
  readonly works: number;
  /** Of these, those that are being deleted and wait for the member. */
  readonly heldWorks: number;
}

export type LifecycleCommand =
  | "AddFinalizer"
  | "CreateNamespace"
  | "DeleteNamespace"
  | "DeleteWorks"
  /** Takes the execution finalizer off Works that are being deleted. */
  | "ReleaseWorks"
  | "RemoveFinalizer";

export type LifecyclePlan = Plan<LifecycleCommand, LifecycleReason>;

/** Decides the next step of a cluster's joining or leaving. */
export function decideLifecycle(view: LifecycleView): LifecyclePlan {
  return view.isLeaving ? decideRemoval(view) : decideJoining(view);
}

function decideJoining({ hasFinalizer, namespace }: LifecycleView): LifecyclePlan {
  const finalizer: LifecycleCommand[] = hasFinalizer ? [] : ["AddFinalizer"];
  if (namespace === "ending") return quiet("FormerNamespaceEnding", finalizer);
  if (namespace === "absent") return quiet("Joining", [...finalizer, "CreateNamespace"]);
  return quiet(hasFinalizer ? "Joined" : "Joining", finalizer);
}

function decideRemoval(view: LifecycleView): LifecyclePlan {
  // Without our finalizer nothing of ours is there, or it was removed by hand: there is nothing to undo.
  if (!view.hasFinalizer) return quiet("Left", []);
  if (view.bindings > 0 && !view.isForced)
    return telling("WaitingForBindings", [], waitingText(view));
  const worksGoFirst = view.isPull && view.works > 0;
  if (view.namespace === "active" && !worksGoFirst)
    return telling("RemovingWorks", ["DeleteNamespace"], removingText(view));
  if (view.namespace === "ending" || view.works > 0) {
    const letGo = view.isForced && !view.isReachable && view.heldWorks > 0;
    const commands: LifecycleCommand[] = [];
    if (view.namespace === "active" && view.works > view.heldWorks) commands.push("DeleteWorks");
    if (letGo) commands.push("ReleaseWorks");
    return telling("RemovingWorks", commands, removingText(view));
  }
  return quiet("Left", ["RemoveFinalizer"]);
}

/** How many of the stuck ones are named; all of them may be too many for a condition. */
const NAMED = 3;

function waitingText({ name, bindings, stuck }: LifecycleView): string {
  const needs = bindings === 1 ? "1 binding still needs" : `${bindings} bindings still need`;
  const them = bindings === 1 ? "it is" : "they are";
  const waits = `${needs} this cluster, which leaves once ${them} elsewhere (at once: lifeboat unjoin ${name} --force)`;
  if (stuck.length === 0) return waits;
  const named = stuck
    .slice(0, NAMED)
    .map(({ workload, reason }) => `${workload} (${stuckReasons[reason]})`);
  const more = stuck.length > NAMED ? ` and ${stuck.length - NAMED} more` : "";
  return `${waits}. What does not move by itself: ${named.join(", ")}${more}`;
}

function removingText({ name, works, isReachable, isForced }: LifecycleView): string {
  if (works === 0) return "the execution namespace is being deleted";
  const what = works === 1 ? "1 Work is" : `${works} Works are`;
  const hint =
    isReachable || isForced
      ? ""
      : `; the member is out of reach (to give up what is in it: lifeboat unjoin ${name} --force)`;
  return `${what} still being taken out of the member${hint}`;
}

function quiet(reason: LifecycleReason, commands: readonly LifecycleCommand[]): LifecyclePlan {
  return { commands, conditions: [], events: [], reason };
}

function telling(
  reason: LifecycleReason,
  commands: readonly LifecycleCommand[],
  message: string,
): LifecyclePlan {
  return {
    commands,
    conditions: [{ type: LEAVING, status: "True", reason, message }],
    events: [{ type: "Normal", reason, message: lifecycleReasons[reason] }],
    reason,
  };
}

/** The condition of a Cluster that is being deleted: what it still waits for. */
export const LEAVING = "Leaving";
