/**
 * The life of a pod on its node, as its status tells it:
 *
 *     starting --start delay--> running (ready) --run time, where it runs to an end--> finished
 *         \                        |    ^
 *          \--crash--> crashed <---+    |  and from any of them, when it is deleted:
 *                         \----heal-----+  stopping --stop delay--> gone
 *
 * 1. Delays count from `since`, when the pod was first seen in its stage; a model that starts again counts anew.
 * 2. A pod that has ended or has no node is left alone.
 * 3. A pod with readiness gates is ready when its containers are and every gate's condition, which another writer reports, is True.
 * 4. The stop delay is never longer than the grace that the pod was given, unless a fault says so.
 */
import { addMs, formatTime, hashText, type Instant } from "@lifeboat/base";
import type { ContainerStatus, KindCondition, Pod, PodStatus } from "../kinds.ts";
import { isFinished, isLeaving, isReady, nodeOf } from "./pods.ts";
import { isTrue, withCondition } from "./status.ts";

export type Stage = "waiting" | "starting" | "running" | "crashed" | "finished" | "stopping";

/** What a fault does to one pod. */
export type PodTrouble =
  | { readonly kind: "none" }
  /** It runs and is never ready. */
  | { readonly kind: "not-ready" }
  /** It starts so much later. */
  | { readonly kind: "late"; readonly delayMs: number }
  /** It takes so much longer to stop, whatever its grace says. */
  | { readonly kind: "lingering"; readonly delayMs: number }
  /** Its containers end with an error, again and again. */
  | { readonly kind: "crash" };

export interface PodView {
  readonly pod: Pod;
  readonly since: Instant;
  readonly startDelayMs: number;
  readonly stopDelayMs: number;
  /** How long a pod runs that is meant to end (restartPolicy other than Always). */
  readonly runMs: number;
  readonly trouble: PodTrouble;
}

export type PodPlan =
  | { readonly kind: "wait"; readonly checkAgainAt?: Instant }
  /** The pod has stopped and its object can go. */
  | { readonly kind: "remove" }
  | { readonly kind: "report"; readonly status: PodStatus };

const WAIT: PodPlan = Object.freeze({ kind: "wait" });

/** Where a pod is in its life. Pure. */
export function stageOf(pod: Pod): Stage {
  if (isLeaving(pod)) return "stopping";
  if (isFinished(pod)) return "finished";
  if (nodeOf(pod) === "") return "waiting";
  if (pod.status?.phase !== "Running") return "starting";
  const isWaiting = pod.status.containerStatuses?.some(({ state }) => state.waiting !== undefined);
  return isWaiting === true ? "crashed" : "running";
}

/** Decides the next step in the life of one pod. Pure. */
export function decidePod(view: PodView, now: Instant): PodPlan {
  const stage = stageOf(view.pod);
  if (stage === "waiting" || stage === "finished") return WAIT;
  if (stage === "stopping") return stop(view, now);
  if (stage === "starting") return start(view, now);
  return goOn(view, stage, now);
}

function stop({ pod, since, stopDelayMs, trouble }: PodView, now: Instant): PodPlan {
  const { deletionGracePeriodSeconds = 0 } = pod.metadata;
  // Only finalizers hold it any more, and those are not for a node to take off.
  if (deletionGracePeriodSeconds === 0) return WAIT;
  const late = trouble.kind === "lingering" ? trouble.delayMs : 0;
  const at = addMs(since, late + Math.min(stopDelayMs, deletionGracePeriodSeconds * 1000));
  return at <= now ? { kind: "remove" } : { kind: "wait", checkAgainAt: at };
}

function start(view: PodView, now: Instant): PodPlan {
  const { pod, since, startDelayMs, trouble } = view;
  const late = trouble.kind === "late" ? trouble.delayMs : 0;
  const at = addMs(since, startDelayMs + late);
  if (now < at) return { kind: "wait", checkAgainAt: at };
  if (trouble.kind === "crash") return crash(pod, now);
  return { kind: "report", status: runningStatus(pod, trouble.kind !== "not-ready", now) };
}

function goOn(view: PodView, stage: "running" | "crashed", now: Instant): PodPlan {
  const { pod, since, runMs, trouble } = view;
  if (trouble.kind === "crash") return stage === "crashed" ? WAIT : crash(pod, now);
  const ready = trouble.kind !== "not-ready";
  const isReported =
    isTrue(pod.status?.conditions, "ContainersReady") === ready &&
    isReady(pod) === (ready && closedGates(pod).length === 0);
  if (stage === "crashed" || !isReported)
    return { kind: "report", status: runningStatus(pod, ready, now) };
  if (!ready || (pod.spec.restartPolicy ?? "Always") === "Always") return WAIT;
  const end = addMs(since, runMs);
  if (now < end) return { kind: "wait", checkAgainAt: end };
  return { kind: "report", status: endedStatus(pod, "Succeeded", now) };
}

function crash(pod: Pod, now: Instant): PodPlan {
  const status =
    pod.spec.restartPolicy === "Never" ? endedStatus(pod, "Failed", now) : crashedStatus(pod, now);
  return { kind: "report", status };
}

function runningStatus(pod: Pod, ready: boolean, now: Instant): PodStatus {
  const containers = pod.spec.containers.map((container): ContainerStatus => {
    const old = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
    const running = old?.state.running ?? { startedAt: formatTime(now) };
    return { ...containerOf(pod, container), ready, started: true, state: { running } };
  });
  const problem = ready ? {} : notReady(pod);
  return placed(pod, "Running", containers, ready, problem, now);
}

function crashedStatus(pod: Pod, now: Instant): PodStatus {
  const containers = pod.spec.containers.map((container): ContainerStatus => {
    const base = containerOf(pod, container);
    const waiting = { reason: "CrashLoopBackOff", message: "the container ends with an error" };
    return { ...base, restartCount: base.restartCount + 1, state: { waiting } };
  });
  return placed(pod, "Running", containers, false, notReady(pod), now);
}

function endedStatus(pod: Pod, phase: "Succeeded" | "Failed", now: Instant): PodStatus {
  const exit =
    phase === "Succeeded" ? { exitCode: 0, reason: "Completed" } : { exitCode: 1, reason: "Error" };
  const containers = pod.spec.containers.map((container): ContainerStatus => {
    const terminated = { ...exit, finishedAt: formatTime(now) };
    return { ...containerOf(pod, container), state: { terminated } };
  });
  const problem = phase === "Succeeded" ? { reason: "PodCompleted" } : { reason: "PodFailed" };
  return placed(pod, phase, containers, false, problem, now);
}

function containerOf(
  pod: Pod,
  { name, image = "" }: { readonly name: string; readonly image?: string },
): ContainerStatus {
  const old = pod.status?.containerStatuses?.find((status) => status.name === name);
  const restartCount = old?.restartCount ?? 0;
  return { name, image, imageID: image, ready: false, started: false, restartCount, state: {} };
}

function notReady(pod: Pod): Pick<KindCondition, "reason" | "message"> {
  const names = pod.spec.containers.map(({ name }) => name).join(" ");
  return { reason: "ContainersNotReady", message: `containers with unready status: [${names}]` };
}

/** The readiness gates whose condition is not True. */
function closedGates(pod: Pod): readonly string[] {
  return (pod.spec.readinessGates ?? [])
    .map(({ conditionType }) => conditionType)
    .filter((type) => !isTrue(pod.status?.conditions, type));
}

function gatesNotReady(gates: readonly string[]): Pick<KindCondition, "reason" | "message"> & {
  readonly status: "False";
} {
  const message = `the status of these readiness gates is not "True": [${gates.join(" ")}]`;
  return { status: "False", reason: "ReadinessGatesNotReady", message };
}

function placed(
  pod: Pod,
  phase: string,
  containerStatuses: readonly ContainerStatus[],
  ready: boolean,
  problem: Pick<KindCondition, "reason" | "message">,
  now: Instant,
): PodStatus {
  const readiness = { status: ready ? "True" : "False", ...problem } as const;
  let conditions = pod.status?.conditions;
  conditions = withCondition(conditions, { type: "PodScheduled", status: "True" }, now);
  conditions = withCondition(conditions, { type: "Initialized", status: "True" }, now);
  conditions = withCondition(conditions, { type: "ContainersReady", ...readiness }, now);
  const closed = ready ? closedGates(pod) : [];
  const whole = closed.length === 0 ? readiness : gatesNotReady(closed);
  conditions = withCondition(conditions, { type: "Ready", ...whole }, now);
  const podIP = addressOf("10", pod.metadata.uid);
  return {
    ...pod.status,
    phase,
    startTime: pod.status?.startTime ?? formatTime(now),
    hostIP: addressOf("172", nodeOf(pod)),
    podIP,
    podIPs: [{ ip: podIP }],
    conditions,
    containerStatuses,
  };
}

/** An address that looks like one and is always the same for the same seed. Nothing listens there. */
function addressOf(first: string, seed: string): string {
  const hash = hashText(seed);
  return `${first}.${hash & 255}.${(hash >> 8) & 255}.${(((hash >> 16) & 255) % 254) + 1}`;
}
