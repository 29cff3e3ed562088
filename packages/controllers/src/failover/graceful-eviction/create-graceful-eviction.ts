/**
 * Ends evictions: lets old copies go when they may, and takes evictions back whose cluster recovered in time. It decides
 * about `spec.gracefulEvictionTasks` alone; the Works follow from that.
 *
 *   observe (caches) ──▶ decideTasks ──▶ second look (only when something is over) ──▶ one write of the binding
 *
 * 1. Before a task of mode Directly is cleared the server itself is asked: a Work that the cache does not show may be
 *    there, and a person's declaration about a cluster may be void.
 * 2. Before a copy is let go because others are healthy, these are rendered again: health counts only for copies that are
 *    what they should be now (D9).
 * 3. An old copy that gets requests through an ingress waits until load balancers confirm that they send no more (D27).
 * 4. Why an old copy waits is reported once, on the binding and the template, when it needs a person.
 */
import {
  type Cluster,
  clusters,
  equalJson,
  formatKey,
  isRefused,
  keyOf,
  type ObjectKey,
  Refused,
  type Work,
  works,
} from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { clusterNamesOf, isMoving, tasksOf } from "@lifeboat/core/binding";
import {
  decideTasks,
  evictionPluginNames,
  evictionPlugins,
  FENCED_CONDITION,
  fenceOf,
  type FenceTrust,
  remedyOf,
  type TaskReason,
  type UnconfirmedCause,
  taskReasons,
  type TasksPlan,
  type TasksView,
  type TaskVerdict,
  worksByCluster,
} from "@lifeboat/core/failover/eviction-tasks";
import { executionNamespace, workName } from "@lifeboat/core/propagation/rendering";
import { isProtected, isProvenHealthy } from "@lifeboat/core/propagation/works";
import {
  checkAgainAt,
  createController,
  done,
  type Outcome,
  type RecordedEvent,
  type Service,
  watching,
} from "@lifeboat/kit";
import {
  allBindings,
  type Binding,
  bindingOf,
  bindingResource,
  bindingsBy,
  bindingsOfWork,
  recordOnWorkload,
  watchingBindings,
} from "../../context/bindings.ts";
import { watchingSteps } from "../../context/clock-steps.ts";
import type { PlaneContext } from "../../context/context.ts";
import {
  LeavingTrafficView,
  type TrafficWaits,
  watchingLeavingTraffic,
} from "../../context/leaving-traffic.ts";
import {
  outdatedIn,
  OUTDATED_MS,
  watchingRenderings,
  worksOf,
} from "../../context/observe-works.ts";

export interface GracefulEvictionOptions extends FenceTrust, TrafficWaits {
  /** The plugins that let old copies go, by name; see `evictionPluginNames`. */
  readonly plugins: readonly string[];
}

export const DEFAULT_GRACEFUL_EVICTION: GracefulEvictionOptions = Object.freeze({
  plugins: evictionPluginNames,
  trustFencedCondition: false,
  trafficDrainTimeoutMs: 60_000,
  trafficDrainLimitMs: 600_000,
});

const CONCURRENCY = 8;
/** When the cache is behind the server, its next change brings the next reconcile; this is for when none comes. */
const CACHE_BEHIND_MS = 1000;

/** Builds the controller. */
export function createGracefulEviction(
  context: PlaneContext,
  options: GracefulEvictionOptions,
): readonly Service[] {
  const evictions = new Evictions(context, options);
  const { informers } = context;
  return [
    createController(context, {
      name: "graceful-eviction",
      concurrency: CONCURRENCY,
      watches: [
        watchingSteps(context),
        ...watchingBindings(informers, (old, now) =>
          hasTasks(old) || hasTasks(now) ? keysOf([now ?? old]) : [],
        ),
        watching(informers.works, (old, now) =>
          isSameCopy(old, now)
            ? []
            : keysOf(bindingsOfWork(informers, now ?? old).filter(hasTasks)),
        ),
        watching(informers.clusters, (old, now) =>
          isSameCluster(old, now)
            ? []
            : keysOf(
                bindingsBy(informers, "cluster", (now ?? old)?.metadata.name ?? "").filter(
                  hasTasks,
                ),
              ),
        ),
        ...watchingRenderings(context),
        ...watchingLeavingTraffic(context, () => keysOf(allBindings(informers).filter(hasTasks))),
      ],
      reconcile: (key, signal) => evictions.look(key, signal),
    }),
  ];
}

function hasTasks(binding: Binding | undefined): boolean {
  return binding !== undefined && isMoving(binding);
}

function keysOf(bindings: readonly (Binding | undefined)[]): readonly ObjectKey[] {
  return bindings.flatMap((binding) => (binding === undefined ? [] : [keyOf(binding)]));
}

/** Whether a Work reports the same about its copy: what it should be, whether it goes, whether it is healthy. */
function isSameCopy(old: Work | undefined, now: Work | undefined): boolean {
  if (old === undefined || now === undefined) return false;
  return (
    old.metadata.uid === now.metadata.uid &&
    old.metadata.generation === now.metadata.generation &&
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    isProvenHealthy(old) === isProvenHealthy(now) &&
    isProtected(old) === isProtected(now) &&
    equalJson(healthsOf(old), healthsOf(now))
  );
}

function healthsOf({ status }: Work): readonly unknown[] {
  return (status?.manifestStatuses ?? []).map(({ health }) => health ?? null);
}

/** Whether a Cluster has the same taints, health and declaration of a person. */
function isSameCluster(old: Cluster | undefined, now: Cluster | undefined): boolean {
  if (old === undefined || now === undefined) return false;
  return equalJson(concernsOf(old), concernsOf(now));
}

function concernsOf({ metadata, spec, status }: Cluster): unknown {
  return [
    metadata.uid,
    metadata.deletionTimestamp ?? "",
    metadata.annotations?.[wellKnown.FENCED] ?? "",
    spec.taints ?? [],
    ...["Ready", FENCED_CONDITION].map(
      (one) => status?.conditions?.find(({ type }) => type === one)?.status ?? "",
    ),
  ];
}

class Evictions {
  readonly #context: PlaneContext;
  readonly #plugins: TasksView["plugins"];
  readonly #trust: FenceTrust;
  /** By binding: what was last reported about copies that wait. */
  readonly #told = new Map<string, string>();
  readonly #traffic: LeavingTrafficView;

  constructor(context: PlaneContext, options: GracefulEvictionOptions) {
    this.#context = context;
    this.#traffic = new LeavingTrafficView(context, options);
    this.#plugins = evictionPlugins(options.plugins);
    const { trustFencedCondition } = options;
    this.#trust = { trustFencedCondition };
  }

  async look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { clock, informers, time } = this.#context;
    const binding = bindingOf(informers, key);
    if (binding === undefined || !hasTasks(binding) || isGoing(binding)) {
      this.#told.delete(formatKey(key));
      this.#traffic.forget(formatKey(key));
      return done;
    }
    const view = this.#view(binding);
    let plan = decideTasks(view, time.moment());
    const times: Instant[] = [];
    if (plan.verdicts.some(restsOnHealth)) {
      const outdated = await outdatedIn(this.#context, binding, signal);
      plan = decideTasks({ ...view, outdated }, time.moment());
      if (!plan.verdicts.some(restsOnHealth)) times.push(addMs(clock.now(), OUTDATED_MS));
    }
    if (!(await this.#isConfirmed(binding, plan, signal)))
      return checkAgainAt(addMs(clock.now(), CACHE_BEHIND_MS));
    await this.#write(binding, plan, signal);
    this.#tell(binding, plan);
    if (plan.checkAgainAt !== undefined) times.push(plan.checkAgainAt);
    const awaiting = plan.verdicts.filter(({ reason }) => TRAFFIC.has(reason));
    this.#traffic.keepsWaiting(
      formatKey(key),
      awaiting.map(({ cluster }) => cluster),
    );
    const lapse = awaiting.length > 0 ? this.#traffic.nextLapse() : undefined;
    if (lapse !== undefined) times.push(lapse);
    return times.length === 0 ? done : checkAgainAt(times.reduce((a, b) => (b < a ? b : a)));
  }

  #view(binding: Binding): TasksView {
    const { informers } = this.#context;
    const left = tasksOf(binding).map(({ fromCluster }) => fromCluster);
    const names = [...clusterNamesOf(binding), ...left];
    const traffic = this.#traffic.of(binding);
    const found = names.flatMap((name) => informers.clusters.get({ namespace: "", name }) ?? []);
    return {
      binding,
      works: worksByCluster(worksOf(this.#context, binding)),
      clusters: new Map(found.map((cluster) => [cluster.metadata.name, cluster])),
      outdated: new Set(),
      plugins: this.#plugins,
      ...(traffic !== undefined && { traffic }),
      ...this.#trust,
    };
  }

  /** Whether the server agrees that what counts as gone is gone. */
  async #isConfirmed(binding: Binding, plan: TasksPlan, signal: AbortSignal): Promise<boolean> {
    for (const { cluster, reason, fate } of plan.verdicts) {
      if (fate !== "cleared") continue;
      if (reason === "CopyGone" && (await this.#hasWork(binding, cluster, signal))) return false;
      if (reason === "Fenced" && !(await this.#isFenced(cluster, signal))) return false;
    }
    return true;
  }

  async #hasWork({ spec }: Binding, cluster: string, signal: AbortSignal): Promise<boolean> {
    const { kind, namespace = "", name } = spec.resource;
    const key = {
      namespace: executionNamespace(cluster),
      name: workName({ kind, namespace, name }),
    };
    const work = await this.#context.plane.get(works, key, { signal }).catch(ignoreMissing);
    return work !== undefined;
  }

  async #isFenced(name: string, signal: AbortSignal): Promise<boolean> {
    const key = { namespace: "", name };
    const cluster = await this.#context.plane.get(clusters, key, { signal }).catch(ignoreMissing);
    return cluster !== undefined && fenceOf(cluster, this.#trust) !== undefined;
  }

  async #write(binding: Binding, plan: TasksPlan, signal: AbortSignal): Promise<void> {
    const [changed] = plan.commands;
    if (changed === undefined) return;
    const ended = plan.verdicts.filter(({ fate }) => fate !== "kept");
    try {
      await this.#context.plane.update(bindingResource(keyOf(binding)), changed, { signal });
    } catch (error) {
      if (isLasting(error))
        for (const { cluster } of ended)
          this.#record(binding, {
            type: "Warning",
            reason: "EvictWorkloadFromClusterFailed",
            message: `Evict from cluster ${cluster} failed.`,
          });
      throw error;
    }
    for (const verdict of ended) {
      const { cluster, fate, reason } = verdict;
      this.#context.log.info("an eviction is over", {
        binding: formatKey(keyOf(binding)),
        cluster,
        fate,
        reason,
      });
      if (verdict.unconfirmed !== undefined)
        this.#record(binding, {
          type: "Warning",
          reason: "TrafficNotConfirmed",
          message: `The copy in cluster ${cluster} goes although it was not confirmed that it gets no requests: ${UNCONFIRMED[verdict.unconfirmed]}`,
        });
      this.#record(binding, eventOf(verdict));
    }
  }

  /** Reports, once, why old copies wait for a person or for health. */
  #tell(binding: Binding, plan: TasksPlan): void {
    const id = formatKey(keyOf(binding));
    const waiting = plan.verdicts.filter(({ fate, reason }) => fate === "kept" && TOLD.has(reason));
    if (waiting.length === 0) {
      this.#told.delete(id);
      return;
    }
    const text = JSON.stringify(waiting);
    if (this.#told.get(id) === text) return;
    this.#told.set(id, text);
    for (const verdict of waiting) this.#record(binding, eventOf(verdict));
  }

  #record(binding: Binding, event: RecordedEvent): void {
    recordOnWorkload(this.#context.events, binding, event);
  }
}

/** Reasons to wait that a person should know of. */
const TOLD: ReadonlySet<TaskReason> = new Set([
  "AwaitingFence",
  "DispatchingSuspended",
  "GracePeriodEnding",
  "LastHealthyCopy",
  "TrafficNotDrained",
  "LastServedCopy",
]);

/** Reasons to wait for load balancers: the end of a Lease may end the wait. */
const TRAFFIC: ReadonlySet<TaskReason> = new Set([
  "AwaitingTraffic",
  "TrafficNotDrained",
  "LastServedCopy",
]);

const UNCONFIRMED: Readonly<Record<UnconfirmedCause, string>> = {
  NoLoadBalancer: "no load balancer of this control plane serves its ingress.",
  ClusterSilent: "the cluster does not answer.",
  LimitOver: "a load balancer that runs did not confirm it within --traffic-drain-limit.",
};

/** Whether the verdict lets a copy go because others are, or may be, healthy. */
function restsOnHealth({ fate, reason }: TaskVerdict): boolean {
  return (
    fate === "cleared" && ["TargetsHealthy", "GracePeriodOver", "ReleasedByPerson"].includes(reason)
  );
}

function eventOf({ cluster, fate, reason }: TaskVerdict): RecordedEvent {
  if (reason === "BackInResult" || fate === "rolledBack")
    return {
      type: "Normal",
      reason: "EvictionAbandoned",
      message: `Leaving cluster ${cluster} is over: ${taskReasons[reason]}`,
    };
  if (fate === "cleared")
    return {
      type: "Normal",
      reason: "EvictWorkloadFromClusterSucceed",
      message: `Evict from cluster ${cluster} succeed.`,
    };
  const message = `Leaving cluster ${cluster}: ${taskReasons[reason]} ${remedyOf(reason, cluster)}`;
  return { type: "Warning", reason, message: message.trimEnd() };
}

function isGoing({ metadata }: Binding): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function ignoreMissing(error: unknown): undefined {
  if (isRefused(error, "NotFound")) return undefined;
  throw error;
}

/** Whether trying again by itself will not help: worth an Event. */
function isLasting(error: unknown): boolean {
  return error instanceof Refused && error.status.reason !== "Conflict";
}
