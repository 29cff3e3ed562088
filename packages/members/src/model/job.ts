/**
 * What a Job needs: pods that run to their end, until enough have succeeded or too many failed.
 *
 * 1. Active pods never exceed parallelism, nor what is missing to the completions.
 * 2. A Job that has ended gets no pod any more, and its counts stay.
 * 3. After a failure the next pod waits: 10 s, doubling with every failure, at most 6 minutes.
 *
 * Counts are taken from the pods that are there: an ended pod that somebody deletes while the Job runs is run again.
 */
import { addMs, formatTime, type Instant } from "@lifeboat/base";
import type { Job, JobStatus, KindCondition, NewPod, Pod } from "../kinds.ts";
import {
  BURST,
  byDispensability,
  childName,
  freeNames,
  isActive,
  isLeaving,
  isReady,
  makePod,
  type PodsPlan,
} from "./pods.ts";
import { conditionOf, earlier, isTrue, timeOf, withCondition } from "./status.ts";

const INDEX = "batch.kubernetes.io/job-completion-index";
const RETRY_BASE_MS = 10_000;
const RETRY_CAP_MS = 360_000;

export interface JobPlan extends PodsPlan<JobStatus> {
  /** Whether its time after the end is up, and the Job itself shall go. */
  readonly expired: boolean;
}

/** Decides for one Job and the pods it owns. Pure. */
export function decideJob(job: Job, owned: readonly Pod[], now: Instant): JobPlan {
  const { status = {}, spec, metadata } = job;
  const active = owned.filter(isActive);
  const nothing = { create: [], remove: [], expired: false, status };
  if (isOver(status)) return { ...nothing, remove: active, ...expiry(job, now) };
  if (metadata.deletionTimestamp !== undefined) return nothing;
  const counted = count(job, owned, active, now);
  if (spec.suspend === true) return { ...nothing, remove: active, status: suspended(counted, now) };
  const running = resumed(counted, now);
  const failure = failureOf(job, running, now);
  if (failure !== undefined) return failing(running, owned, failure, now);
  if (isComplete(job, running)) return { ...nothing, status: completed(running, now) };
  return { ...nextPods(job, owned, active, running, now), expired: false };
}

function isOver(status: JobStatus): boolean {
  return isTrue(status.conditions, "Complete") || isTrue(status.conditions, "Failed");
}

function expiry(
  job: Job,
  now: Instant,
): { readonly expired: boolean; readonly checkAgainAt?: Instant } {
  const seconds = job.spec.ttlSecondsAfterFinished;
  const conditions = job.status?.conditions;
  const over = isTrue(conditions, "Complete") ? "Complete" : "Failed";
  const ended = timeOf(conditionOf(conditions, over)?.lastTransitionTime);
  if (seconds === undefined || ended === undefined) return { expired: false };
  if (job.metadata.deletionTimestamp !== undefined) return { expired: false };
  const at = addMs(ended, seconds * 1000);
  return at <= now ? { expired: true } : { expired: false, checkAgainAt: at };
}

function count(job: Job, owned: readonly Pod[], active: readonly Pod[], now: Instant): JobStatus {
  const succeeded = owned.filter((pod) => pod.status?.phase === "Succeeded");
  const indexes = indexesOf(succeeded);
  return {
    ...job.status,
    startTime: job.status?.startTime ?? formatTime(now),
    active: active.length,
    ready: active.filter(isReady).length,
    succeeded: isIndexed(job) ? indexes.size : succeeded.length,
    failed: owned.filter((pod) => pod.status?.phase === "Failed").length,
    uncountedTerminatedPods: {},
    ...(isIndexed(job) && { completedIndexes: rangesOf(indexes) }),
  };
}

function suspended(status: JobStatus, now: Instant): JobStatus {
  const { startTime: _, ...rest } = status;
  return { ...rest, conditions: withCondition(status.conditions, suspension("True"), now) };
}

function resumed(status: JobStatus, now: Instant): JobStatus {
  if (!isTrue(status.conditions, "Suspended")) return status;
  return { ...status, conditions: withCondition(status.conditions, suspension("False"), now) };
}

function suspension(status: "True" | "False"): KindCondition {
  return status === "True"
    ? { type: "Suspended", status, reason: "JobSuspended", message: "Job suspended" }
    : { type: "Suspended", status, reason: "JobResumed", message: "Job resumed" };
}

interface Failure {
  readonly reason: string;
  readonly message: string;
}

function failureOf(job: Job, status: JobStatus, now: Instant): Failure | undefined {
  if ((status.failed ?? 0) > (job.spec.backoffLimit ?? 6))
    return {
      reason: "BackoffLimitExceeded",
      message: "Job has reached the specified backoff limit",
    };
  const deadline = deadlineOf(job, status);
  if (deadline !== undefined && deadline <= now)
    return {
      reason: "DeadlineExceeded",
      message: "Job was active longer than specified deadline",
    };
  return undefined;
}

function deadlineOf(job: Job, status: JobStatus): Instant | undefined {
  const seconds = job.spec.activeDeadlineSeconds;
  const started = timeOf(status.startTime);
  return seconds === undefined || started === undefined
    ? undefined
    : addMs(started, seconds * 1000);
}

/** First the pods go, then the Job is Failed: a Job that has ended has no pods that run. */
function failing(status: JobStatus, owned: readonly Pod[], why: Failure, now: Instant): JobPlan {
  const active = owned.filter(isActive);
  const target = withCondition(
    status.conditions,
    { type: "FailureTarget", status: "True", ...why },
    now,
  );
  const gone = active.length === 0 && !owned.some(isLeaving);
  const failed = { type: "Failed", status: "True", ...why } as const;
  const conditions = gone ? withCondition(target, failed, now) : target;
  return { create: [], remove: active, status: { ...status, conditions }, expired: false };
}

function isComplete(job: Job, status: JobStatus): boolean {
  const { completions } = job.spec;
  const succeeded = status.succeeded ?? 0;
  if (completions === undefined) return succeeded > 0 && status.active === 0;
  return succeeded >= completions;
}

function completed(status: JobStatus, now: Instant): JobStatus {
  const why = {
    status: "True",
    reason: "CompletionsReached",
    message: "Reached expected number of succeeded pods",
  } as const;
  const met = withCondition(status.conditions, { type: "SuccessCriteriaMet", ...why }, now);
  return {
    ...status,
    active: 0,
    ready: 0,
    completionTime: formatTime(now),
    conditions: withCondition(met, { type: "Complete", ...why }, now),
  };
}

function nextPods(
  job: Job,
  owned: readonly Pod[],
  active: readonly Pod[],
  status: JobStatus,
  now: Instant,
): PodsPlan<JobStatus> {
  const { parallelism = 1, completions } = job.spec;
  const succeeded = status.succeeded ?? 0;
  const open = completions === undefined ? parallelism : completions - succeeded;
  // Of a Job without completions nothing new starts once one pod has succeeded.
  const done = completions === undefined && succeeded > 0;
  const missing =
    (done ? Math.min(active.length, parallelism) : Math.min(parallelism, open)) - active.length;
  const remove = missing < 0 ? active.toSorted(byDispensability).slice(0, -missing) : [];
  const retryAt = missing > 0 ? retryTime(owned) : undefined;
  const wait = retryAt !== undefined && retryAt > now;
  const checkAgainAt = earlier(wait ? retryAt : undefined, deadlineOf(job, status));
  const create = missing > 0 && !wait ? newPods(job, owned, Math.min(missing, BURST)) : [];
  return { create, remove, status, ...(checkAgainAt !== undefined && { checkAgainAt }) };
}

/** When the next pod may start after failures; undefined when none failed. */
function retryTime(owned: readonly Pod[]): Instant | undefined {
  let last: Instant | undefined;
  let failures = 0;
  for (const pod of owned) {
    if (pod.status?.phase !== "Failed") continue;
    failures++;
    const at = timeOf(conditionOf(pod.status.conditions, "Ready")?.lastTransitionTime);
    if (at !== undefined && (last === undefined || at > last)) last = at;
  }
  if (last === undefined) return undefined;
  return addMs(last, Math.min(RETRY_BASE_MS * 2 ** (failures - 1), RETRY_CAP_MS));
}

function newPods(job: Job, owned: readonly Pod[], count: number): readonly NewPod[] {
  const { template } = job.spec;
  if (!isIndexed(job)) {
    const taken = new Set(owned.map((pod) => pod.metadata.name));
    return freeNames(job, taken, count).map((name) => makePod(job, template, name));
  }
  const busy = indexesOf(owned.filter((pod) => isActive(pod) || pod.status?.phase === "Succeeded"));
  const created: NewPod[] = [];
  for (let index = 0; index < (job.spec.completions ?? 0) && created.length < count; index++)
    if (!busy.has(index)) created.push(indexedPod(job, owned, index));
  return created;
}

function indexedPod(job: Job, owned: readonly Pod[], index: number): NewPod {
  const tries = owned.filter((pod) => indexOf(pod) === index).length;
  const base = `${job.metadata.name}-${index}`;
  const name = childName(base, `${job.metadata.uid}/${index}/${tries}`);
  const mark = { [INDEX]: String(index) };
  const pod = makePod(job, job.spec.template, name, { labels: mark, annotations: mark });
  return { ...pod, spec: { ...pod.spec, hostname: base } };
}

function isIndexed(job: Job): boolean {
  return job.spec.completionMode === "Indexed";
}

function indexOf(pod: Pod): number {
  return Number(pod.metadata.annotations?.[INDEX] ?? Number.NaN);
}

function indexesOf(pods: readonly Pod[]): ReadonlySet<number> {
  return new Set(pods.map(indexOf).filter((index) => !Number.isNaN(index)));
}

/** `0-2,5`: how a Job writes the indexes that are done. */
function rangesOf(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const ranges: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (sorted[end + 1] === (sorted[end] ?? 0) + 1) end++;
    ranges.push(end === i ? `${sorted[i]}` : `${sorted[i]}-${sorted[end]}`);
    i = end + 1;
  }
  return ranges.join(",");
}
