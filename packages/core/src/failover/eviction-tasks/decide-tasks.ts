/**
 * Which eviction tasks are over, and which are taken back.
 *
 *   the cluster recovered before the workload was placed again ──▶ rolled back                                     (D13)
 *   Directly     ──▶ over when the old copy is gone, or its cluster is proven to be off (fence.ts)                 (D10)
 *   Gracefully   ──▶ over when a plugin agrees, or the grace period of a failing application is over; the floor holds (D9),
 *                    and load balancers have taken its traffic away (traffic-guard.ts, D27)
 *   Never        ──▶ over when a person sets `suppressDeletion: false`
 *
 * 1. Time alone ends no task, except the grace period of a failing application whose old copy is itself unhealthy. Then
 *    the old copy goes although some of its replicas may still serve; an Event warns when half of the time is left.
 * 2. An old copy that the floor protects goes only when another copy is proven healthy. Mode Directly is exempt by
 *    definition. The decision about Works uses the same rule (`isProtected`).
 * 3. In mode Directly a copy without a Work is gone. A Work that was sent before the eviction and arrives later is never
 *    applied: execution reads the binding before it applies a Work for the first time.
 * 4. All decisions are one write of the binding. A task without a creation time gets one, so that periods can be counted.
 */
import type { EvictionTask, ResourceBinding } from "@lifeboat/api";
import { formatTime, type Instant, type Moment, parseTime } from "@lifeboat/base";
import { gracePeriodOf, isDirect, isMoving, resultOf, tasksOf } from "../../binding/index.ts";
import type { Plan } from "../../plan.ts";
import { mayBeHealthy } from "../../propagation/works/copy-health.ts";
import { fenceOf, isSilent } from "./fence.ts";
import type { TaskReason } from "./reasons.ts";
import { isTakenBack, stateOfReturn, takenBack } from "./recovery.ts";
import { guardTraffic, type UnconfirmedCause } from "./traffic-guard.ts";
import {
  holdsFloor,
  isGoing,
  isInResult,
  isSettled,
  type TasksView,
  undispatchedIn,
  workIn,
} from "./view.ts";

export type TaskFate = "kept" | "cleared" | "rolledBack";

/** What becomes of one task, and why. */
export interface TaskVerdict {
  readonly cluster: string;
  readonly fate: TaskFate;
  readonly reason: TaskReason;
  /** Why the old copy goes although load balancers did not confirm that its traffic is gone (D27). */
  readonly unconfirmed?: UnconfirmedCause;
}

export interface TasksPlan extends Plan<ResourceBinding, TaskReason> {
  /** In the order of the tasks. */
  readonly verdicts: readonly TaskVerdict[];
}

interface Verdict {
  readonly fate: TaskFate;
  readonly reason: TaskReason;
  readonly checkAgainAt?: Instant;
  readonly unconfirmed?: UnconfirmedCause;
}

/** Decides about every task of a binding; `commands` holds the binding as it is to be written, if anything changes. */
export function decideTasks(view: TasksView, moment: Moment): TasksPlan {
  const tasks = tasksOf(view.binding);
  if (tasks.length === 0) return { ...EMPTY, reason: "NoTasks" };
  const verdicts: TaskVerdict[] = [];
  const times: Instant[] = [];
  let binding = view.binding;
  for (const task of tasks) {
    const { checkAgainAt, ...verdict } = decideTask(view, task, moment);
    const { fate, reason } = verdict;
    verdicts.push({ cluster: task.fromCluster, ...verdict });
    if (checkAgainAt !== undefined) times.push(checkAgainAt);
    if (fate === "cleared") binding = without(binding, task);
    if (reason === "BackInResult") binding = stateOfReturn(view, binding, task.fromCluster);
    if (fate === "rolledBack") binding = takenBack(view, binding, task.fromCluster);
    if (fate === "kept" && task.creationTimestamp === undefined)
      binding = stamped(binding, task, moment.now);
  }
  return {
    ...EMPTY,
    commands: binding === view.binding ? [] : [tidied(binding)],
    ...(times.length > 0 && { checkAgainAt: times.reduce((a, b) => (b < a ? b : a)) }),
    reason: (verdicts.find(({ fate }) => fate !== "kept") ?? verdicts[0])?.reason ?? "NoTasks",
    verdicts,
  };
}

const EMPTY = { commands: [], conditions: [], events: [], verdicts: [] } as const;

function decideTask(view: TasksView, task: EvictionTask, moment: Moment): Verdict {
  if (isTakenBack(view, task)) return { fate: "rolledBack", reason: "Recovered" };
  if (!view.clusters.has(task.fromCluster) && workIn(view, task.fromCluster) === undefined)
    return cleared("ClusterGone");
  return isDirect(task) ? decideDirect(view, task) : decideGraceful(view, task, moment);
}

function decideDirect(view: TasksView, task: EvictionTask): Verdict {
  const work = workIn(view, task.fromCluster);
  const cluster = view.clusters.get(task.fromCluster);
  // seed: back-in-result
  if (isInResult(view, task) && (work === undefined || !isGoing(work)))
    return cleared("BackInResult");
  if (task.suppressDeletion === true) return kept("KeptByOrder");
  // seed: copy-gone
  if (work === undefined) return cleared("CopyGone");
  if (cluster === undefined) return kept("AwaitingRemoval");
  // seed: fenced
  if (isGoing(work) && fenceOf(cluster, view) !== undefined) return cleared("Fenced");
  return kept(isSilent(cluster) ? "AwaitingFence" : "AwaitingRemoval");
}

function decideGraceful(view: TasksView, task: EvictionTask, moment: Moment): Verdict {
  const reason = whyOver(view, task, moment);
  if (reason === "BackInResult") return cleared(reason);
  if (task.suppressDeletion === true) return kept("KeptByOrder");
  if (reason === undefined) return whyKept(view, task, moment);
  // A copy in a cluster that is in the result again stays, whichever rule ends the task.
  const isSafe = isInResult(view, task) || holdsFloor(view, task);
  if (!isSafe) return kept("LastHealthyCopy");
  const guard = guardTraffic(view, task, moment);
  if (guard.kind === "holds") return kept(guard.reason, guard.until);
  return guard.kind === "yields"
    ? { ...cleared(reason), unconfirmed: guard.cause }
    : cleared(reason);
}

/** Why the old copy may go, but for the floor. */
function whyOver(view: TasksView, task: EvictionTask, moment: Moment): TaskReason | undefined {
  const plugin = view.plugins.find((one) => one.passes(view, task));
  if (plugin !== undefined) return plugin.reason;
  if (task.suppressDeletion === false) return "ReleasedByPerson";
  return isGraceOver(view, task, moment) ? "GracePeriodOver" : undefined;
}

function isGraceOver(view: TasksView, task: EvictionTask, moment: Moment): boolean {
  const end = graceTime(task, 1, moment);
  return end !== undefined && moment.now >= end && endsByTime(view, task);
}

/** Whether the old copy goes at the end of a grace period: it is unhealthy, and there is a place to go. */
function endsByTime(view: TasksView, task: EvictionTask): boolean {
  const old = workIn(view, task.fromCluster);
  const isUnhealthy = old === undefined || !mayBeHealthy(old);
  return isUnhealthy && resultOf(view.binding).length > 0;
}

/** What a graceful eviction waits for. */
function whyKept(view: TasksView, task: EvictionTask, moment: Moment): Verdict {
  const [half, end] = [graceTime(task, 0.5, moment), graceTime(task, 1, moment)];
  const next = [half, end].find((at) => at !== undefined && at > moment.now);
  if (half !== undefined && moment.now >= half && endsByTime(view, task))
    return kept("GracePeriodEnding", next);
  if (!isSettled(view)) return kept("AwaitingPlacement", next);
  const isUndispatched = undispatchedIn(view) !== undefined;
  return kept(isUndispatched ? "DispatchingSuspended" : "AwaitingTargets", next);
}

/** When so much of a task's grace period is over; undefined: it has none, or none that has begun. */
function graceTime(task: EvictionTask, share: number, { due }: Moment): Instant | undefined {
  const [seconds, created] = [gracePeriodOf(task), createdAt(task)];
  if (seconds === undefined || created === undefined) return undefined;
  return due(created, seconds * share * 1000);
}

function createdAt({ creationTimestamp }: EvictionTask): Instant | undefined {
  return creationTimestamp === undefined ? undefined : parseTime(creationTimestamp);
}

function cleared(reason: TaskReason): Verdict {
  return { fate: "cleared", reason };
}

function kept(reason: TaskReason, checkAgainAt?: Instant): Verdict {
  return { fate: "kept", reason, ...(checkAgainAt !== undefined && { checkAgainAt }) };
}

function without(binding: ResourceBinding, task: EvictionTask): ResourceBinding {
  return withTasks(binding, (one) => (one === task ? [] : [one]));
}

function stamped(binding: ResourceBinding, task: EvictionTask, now: Instant): ResourceBinding {
  const creationTimestamp = formatTime(now);
  return withTasks(binding, (one) => [one === task ? { ...one, creationTimestamp } : one]);
}

function withTasks(
  binding: ResourceBinding,
  change: (task: EvictionTask) => readonly EvictionTask[],
): ResourceBinding {
  const gracefulEvictionTasks = tasksOf(binding).flatMap(change);
  return { ...binding, spec: { ...binding.spec, gracefulEvictionTasks } };
}

/** An empty list is not kept. */
function tidied(binding: ResourceBinding): ResourceBinding {
  if (isMoving(binding)) return binding;
  const { gracefulEvictionTasks: _none, ...spec } = binding.spec;
  return { ...binding, spec };
}
