/**
 * Whether a cluster is ready: what probes observe, and when an observation counts.
 *
 *     probe ──► Observation ──► Streak (equal observations in a row) ──► decideReady ──► condition Ready
 *
 * 1. Crossing between ready and not ready takes a streak that was observed over the whole threshold, both ways. It is
 *    the probes that count, not the time since: a process that slept has observed nothing meanwhile.
 * 2. A process that has just started has no streak. The condition of the Cluster stands until this process has observed the
 *    opposite for the whole threshold: a restart in the middle of a short failure changes nothing.
 * 3. An observation that does not cross counts at once: the first report of a cluster, Unknown to False, and another
 *    reason for the same status.
 * 4. Times are of a clock that never goes back, because a streak lives no longer than its process.
 * 5. Where replicas share out members, a cluster turns not Ready only once a second replica has probed it and agrees.
 */
import { type Cluster, type Condition, findCondition, Refused } from "@lifeboat/api";
import type { SecondOpinion } from "../../clusters/shares/index.ts";
import type { PlannedCondition } from "../../plan.ts";
import { READY } from "../../well-known.ts";
import type { ReadyDecisionReason, ReadyReason } from "./reasons.ts";

/** What one probe reports. */
export interface Observation {
  readonly status: "True" | "False";
  readonly reason: ReadyReason;
  readonly message: string;
}

/** Equal observations in a row, by their status. */
export interface Streak {
  /** The newest one. */
  readonly observation: Observation;
  /** When the first of them was made, and when the newest; milliseconds of a clock that never goes back. */
  readonly since: number;
  readonly last: number;
}

export interface ReadyThresholds {
  /** How long failures must last. */
  readonly failureThresholdMs: number;
  /** How long successes must last. */
  readonly successThresholdMs: number;
}

export interface ReadyView extends ReadyThresholds {
  /** The condition that the Cluster bears. */
  readonly current: Condition | undefined;
  readonly streak: Streak;
  /** What a second replica observes; absent: there is none, and none is asked. */
  readonly second?: SecondOpinion | undefined;
}

export interface ReadyPlan {
  /** The condition as it is to be; undefined: as it is. */
  readonly condition?: PlannedCondition<ReadyReason>;
  readonly reason: ReadyDecisionReason;
}

const HEALTHY: Observation = Object.freeze({
  status: "True",
  reason: "ClusterReady",
  message: "cluster is healthy and ready to accept workloads",
});
const UNHEALTHY: Observation = Object.freeze({
  status: "False",
  reason: "ClusterNotReady",
  message: "cluster is reachable but health endpoint responded without ok",
});
const UNREACHABLE: Observation = Object.freeze({
  status: "False",
  reason: "ClusterNotReachable",
  message: "cluster is not reachable",
});

/** What a successful probe reports. */
export function observeAnswer(): Observation {
  return HEALTHY;
}

/**
 * What a failed probe reports. A server that refuses our credential is alive, and so is one that answers with an error;
 * only silence is `ClusterNotReachable`. Messages are constant where the failure's text would change from probe to
 * probe, so that a failing cluster is written about once.
 */
export function observeFailure(error: unknown): Observation {
  if (!(error instanceof Refused)) return UNREACHABLE;
  const { code } = error.status;
  if (code !== 401 && code !== 403) return UNHEALTHY;
  const verb = code === 401 ? "does not accept our credential" : "forbids us its health endpoint";
  return collectionFailed(`the member ${verb} (${code})`);
}

/** What a probe reports that was answered with something that cannot be read. */
export function observeUnreadable(): Observation {
  return UNHEALTHY;
}

/** What is reported of a Cluster that cannot be probed at all. */
export function observeUnusable(why: string): Observation {
  return collectionFailed(`failed to create a ClusterClient: ${why}`);
}

/** The streak with one more observation, made at `now`. */
export function extendStreak(
  former: Streak | undefined,
  observation: Observation,
  now: number,
): Streak {
  const goesOn = former !== undefined && former.observation.status === observation.status;
  return { observation, since: goesOn ? former.since : now, last: now };
}

/**
 * What of a streak still counts after the way to the member changed. Failures of the old credential do not count for the
 * new one, and nothing about the old address holds for another; silence of the same address stays silence, so that a Secret
 * that keeps changing cannot hide a dead cluster.
 */
export function streakAfterChange(
  former: Streak | undefined,
  isSameAddress: boolean,
): Streak | undefined {
  if (former === undefined || !isSameAddress) return undefined;
  return former.observation.reason === "StatusCollectionFailed" ? undefined : former;
}

/** Decides what the condition Ready of a cluster is to report. */
export function decideReady(view: ReadyView): ReadyPlan {
  const { current, streak, second } = view;
  const { status, reason, message } = streak.observation;
  const condition: PlannedCondition<ReadyReason> = { type: READY, status, reason, message };
  const turns = status === "False" && current?.status !== "False";
  const isAgreed = !turns || second === undefined || second === "agrees";
  if (current?.status !== "True" && !isAgreed) return { reason: "AwaitingSecond" };
  if (current === undefined) return { condition, reason: "NeverReported" };
  if ((current.status === "True") === (status === "True"))
    return { condition, reason: "NoCrossing" };
  const thresholdMs = status === "True" ? view.successThresholdMs : view.failureThresholdMs;
  if (streak.last - streak.since < thresholdMs) return { reason: "AwaitingThreshold" };
  if (!isAgreed) return { reason: "AwaitingSecond" };
  return { condition, reason: "HeldForThreshold" };
}

/** Since when a cluster is known not to be Ready; undefined: it is, or no probe has reported yet. */
export function notReadySince({ status }: Pick<Cluster, "status">): string | undefined {
  const ready = findCondition(status?.conditions, READY);
  return ready === undefined || ready.status === "True" ? undefined : ready.lastTransitionTime;
}

function collectionFailed(message: string): Observation {
  return Object.freeze({ status: "False", reason: "StatusCollectionFailed", message });
}
