/**
 * When a workload leaves a cluster because it stays unhealthy there (D23).
 *
 *   unhealthy ──▶ recorded with the time ──▶ `tolerationSeconds` later: due ──▶ evicted, and not back in this episode
 *   healthy, or unknown ──▶ the record is removed
 *
 * 1. Only a report of a cluster that answers, about the present version of a copy, counts. A copy of unknown health is not
 *    unhealthy, and its time starts again: a lost cluster is not a failing application, and a new version of a workload
 *    gets its own time.
 * 2. An episode lasts until every copy of the present version is healthy and no such eviction is under way; an eviction in
 *    mode Never does not count as under way. Until then the workload does not return to a cluster that it left. Exception:
 *    a workload that is in no cluster, and that no other cluster can take, may return, because it can only recover there.
 * 3. A copy is tolerated for at least ten seconds: every copy is unhealthy for a moment when it starts, and a workload that
 *    left for that could run in no cluster.
 * 4. A copy whose health is not known because dispatching to its cluster is suspended stays, and an Event reports it.
 * 5. It is not cluster failover: no feature gate and no queue apply (D18, D6).
 */
import type { Cluster, EvictionTask, ResourceBinding, Work } from "@lifeboat/api";
import { addMs, formatTime, type Instant, type Moment, parseTime } from "@lifeboat/base";
import {
  clusterNamesOf,
  isApplicationFailover,
  isDispatchingSuspended,
  isPlaced,
  modeOf,
  resultOf,
  type TaskMode,
  tasksOf,
} from "../../binding/index.ts";
import { isFederated } from "../../federated/record.ts";
import { aggregatedItems } from "../../propagation/aggregation/items.ts";
import { evict } from "../evacuation/evict.ts";
import type { Carried } from "../leaving/decide.ts";
import { isSilent } from "../eviction-tasks/fence.ts";
import type { Plan } from "../../plan.ts";
import { evictedFromOf } from "../../placement/filters/evicted-from.ts";
import { place } from "../../placement/place.ts";
import type { PlacementView } from "../../placement/view.ts";
import { type ApplicationReason, applicationReasons } from "./reasons.ts";
import { type FailoverRecord, readRecord, withRecord } from "./record.ts";

export interface ApplicationView {
  readonly binding: ResourceBinding;
  /** All Works that bear the binding's id. */
  readonly works: readonly Work[];
  /** The Clusters that exist, of those of the result. */
  readonly clusters: ReadonlyMap<string, Cluster>;
  /** Clusters of the result whose Work is not what would be rendered now. */
  readonly outdated: ReadonlySet<string>;
  /** Whether only clusters can take it that it left (see `hasNowhereElse`). */
  readonly hasNowhereElse: boolean;
}

export interface ApplicationPlan extends Plan<ResourceBinding, ApplicationReason> {
  /** The binding with what is to be remembered. */
  readonly remembered: ResourceBinding;
  /** The clusters to be left now, in the order of the result. */
  readonly due: readonly string[];
}

const DEFAULT_TOLERATION_SECONDS = 300;
const MIN_TOLERATION_SECONDS = 10;
const DEFAULT_GRACE_SECONDS = 600;

type ApplicationFailover = NonNullable<
  NonNullable<ResourceBinding["spec"]["failover"]>["application"]
>;

/** How long the workload may be unhealthy in a cluster, whatever less its policy has. */
export function toleratedSecondsOf({ decisionConditions }: ApplicationFailover): number {
  const { tolerationSeconds = DEFAULT_TOLERATION_SECONDS } = decisionConditions;
  return Math.max(tolerationSeconds, MIN_TOLERATION_SECONDS);
}

/** How long a copy that leaves gracefully waits for the new one, at most. */
export function applicationGraceSeconds({
  gracePeriodSeconds,
}: Pick<ApplicationFailover, "gracePeriodSeconds">): number {
  return gracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}

/** Decides what is remembered of a workload's health, and which clusters it is to leave. */
export function decideApplication(
  view: ApplicationView,
  { now, due: dueTime }: Moment,
): ApplicationPlan {
  const { binding } = view;
  const application = binding.spec.failover?.application;
  if (application === undefined) return planOf(binding, NOTHING, [], "NotAsked");
  if (isFederated(binding)) return planOf(binding, NOTHING, [], "Federated");
  const health = healthOf(view);
  const seconds = toleratedSecondsOf(application);
  const former = readRecord(binding);
  const since = new Map<string, Instant>();
  const due: string[] = [];
  let next: Instant | undefined;
  for (const [cluster, state] of health) {
    if (state !== "Unhealthy") continue;
    const began = wholeSeconds(former.unhealthySince.get(cluster) ?? now);
    since.set(cluster, began);
    const end = dueTime(began, seconds * 1000);
    if (now >= end) due.push(cluster);
    else if (next === undefined || end < next) next = end;
  }
  const record = { unhealthySince: since, evictedFrom: episodeOf(view, former, health) };
  if (view.hasNowhereElse) {
    const reason = "NowhereElse";
    const left = [...former.evictedFrom].join(", ");
    const message = `${applicationReasons[reason]} It may go back to ${left}.`;
    return {
      ...planOf(binding, record, [], reason),
      events: [{ type: "Normal", reason, message }],
    };
  }
  if (since.size > 0)
    return planOf(binding, record, due, due.length > 0 ? "Due" : "Tolerated", next);
  const [unjudged] = [...health].filter(
    ([name, state]) => state === "Unknown" && isDispatchingSuspended(binding, name),
  );
  if (unjudged === undefined) return planOf(binding, record, due, "Well", next);
  return unjudgedPlan(planOf(binding, record, due, "DispatchingSuspended", next), unjudged[0]);
}

/** Suspended dispatching also holds application failover: only this Event shows that. */
function unjudgedPlan(plan: ApplicationPlan, cluster: string): ApplicationPlan {
  const { DispatchingSuspended: why } = applicationReasons;
  const message = `Application failover waits for cluster ${cluster}: ${why}`;
  return { ...plan, events: [{ type: "Normal", reason: "DispatchingSuspended", message }] };
}

/** Whether a workload is in no cluster, and only those can take it that it left in this episode. */
export function hasNowhereElse(view: PlacementView, moment: Moment): boolean {
  const { binding } = view;
  if (!isKeptOut(binding)) return false;
  const forgiven = withRecord(binding, { ...readRecord(binding), evictedFrom: new Set() });
  const canTake = (one: PlacementView): boolean => place(one, moment).reason === "Placed";
  return !canTake(view) && canTake({ ...view, binding: forgiven });
}

/** Whether it is in no cluster, and there are some that it left in this episode. */
export function isKeptOut(binding: ResourceBinding): boolean {
  return resultOf(binding).length === 0 && evictedFromOf(binding).size > 0;
}

/** The eviction of a due cluster, as one write with all that is remembered. */
export function evictApplication(
  remembered: ResourceBinding,
  cluster: string,
  carried: Carried,
  now: Instant,
): ResourceBinding {
  const record = readRecord(remembered);
  const mode = applicationPurgeMode(remembered);
  const since = record.unhealthySince.get(cluster) ?? now;
  const evicted = evict(
    remembered,
    {
      cluster,
      reason: "ApplicationFailure",
      message: `the application has been unhealthy in cluster ${cluster} since ${formatTime(since)}`,
      producer: producerOf(remembered),
      purgeMode: mode,
      ...(mode === "Gracefully" && {
        gracePeriodSeconds: applicationGraceSeconds(remembered.spec.failover?.application ?? {}),
      }),
      state: carried.labels,
      inject: carried.inject,
    },
    now,
  );
  const others = [...record.unhealthySince].filter(([name]) => name !== cluster);
  return withRecord(evicted, {
    unhealthySince: new Map(others),
    evictedFrom: new Set([...record.evictedFrom, cluster]),
  });
}

/** The purge mode of a failing application. */
export function applicationPurgeMode({ spec }: ResourceBinding): TaskMode {
  return modeOf(spec.failover?.application ?? {});
}

const NOTHING: FailoverRecord = { unhealthySince: new Map(), evictedFrom: new Set() };

function planOf(
  binding: ResourceBinding,
  record: FailoverRecord,
  due: readonly string[],
  reason: ApplicationReason,
  checkAgainAt?: Instant,
): ApplicationPlan {
  const remembered = withRecord(binding, record);
  return {
    commands: remembered === binding ? [] : [remembered],
    conditions: [],
    events: [],
    ...(checkAgainAt !== undefined && { checkAgainAt }),
    reason,
    remembered,
    due,
  };
}

type CopyHealth = "Healthy" | "Unhealthy" | "Unknown";

/** What is known of the copies of the result, in its order. */
function healthOf({ binding, works, clusters }: ApplicationView): ReadonlyMap<string, CopyHealth> {
  const reported = new Map(
    aggregatedItems(works).map(({ clusterName, health }) => [clusterName, health]),
  );
  return new Map(
    clusterNamesOf(binding).map((name) => {
      const cluster = clusters.get(name);
      const isHeard = cluster !== undefined && !isSilent(cluster);
      return [name, (isHeard && reported.get(name)) || "Unknown"];
    }),
  );
}

/** The clusters that are not gone back to: none any more once the workload is well. */
function episodeOf(
  { binding, outdated, hasNowhereElse: mustReturn }: ApplicationView,
  { evictedFrom }: FailoverRecord,
  health: ReadonlyMap<string, CopyHealth>,
): ReadonlySet<string> {
  // seed: nowhere-else
  if (mustReturn) return new Set();
  const isStillLeaving = tasksOf(binding).some(isUnderWay);
  const isWell =
    isPlaced(binding) &&
    [...health].every(([name, state]) => state === "Healthy" && !outdated.has(name));
  // seed: episode-over
  if (isWell && !isStillLeaving) return new Set();
  // A person who places it there again knows better.
  return new Set([...evictedFrom].filter((name) => !health.has(name)));
}

/**
 * Whether such an eviction still waits for the workload to get well elsewhere. One that keeps the old copy until a person lets it
 * go (mode Never) does not: it may stand for years, and would keep the workload from the cluster for as long.
 */
function isUnderWay(task: EvictionTask): boolean {
  return isApplicationFailover(task) && task.suppressDeletion !== true;
}

function producerOf({ metadata }: ResourceBinding): string {
  const isNamespaced = (metadata.namespace ?? "") !== "";
  const kind = isNamespaced ? "resource-binding" : "cluster-resource-binding";
  return `${kind}-application-failover-controller`;
}

/** Rounded up: what is remembered has whole seconds, and a wait must never be shorter than it should. */
function wholeSeconds(time: Instant): Instant {
  const rounded = parseTime(formatTime(time)) ?? time;
  return rounded < time ? addMs(rounded, 1000) : rounded;
}
