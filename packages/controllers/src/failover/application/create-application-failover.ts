/**
 * Moves workloads away from clusters in which they do not get well, when their policy asks for it
 * (`failover.application`).
 *
 *   observe (caches) ──▶ decideApplication ──▶ due? target and state ──▶ one write of the binding
 *
 * 1. Since when a copy is unhealthy is on the binding, so a restart neither shortens nor restarts the wait.
 * 2. Before a workload is evicted the server is asked once more what its copy reports.
 * 3. Before an episode is over because every copy is healthy, these are rendered again: health counts only for copies that
 *    are what they should be now.
 * 4. Nothing is evicted to nowhere (D8) or without its state (D12): such a workload is held with the reason, and tried
 *    again when clusters or the binding change, and every half minute.
 * 5. What a move needs is promised to it from the decision on: of many that fail together only so many go as have room.
 * 6. One cluster is left in one write; the next one at the next reconcile.
 */
import {
  type Cluster,
  equalJson,
  findCondition,
  formatKey,
  isRefused,
  keyOf,
  type ObjectKey,
  parseKey,
  Refused,
  type Work,
  works,
} from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { clusterNamesOf, taskOf } from "@lifeboat/core/binding";
import {
  type ApplicationPlan,
  applicationPurgeMode,
  type ApplicationView,
  decideApplication,
  evictApplication,
  hasNowhereElse,
  isKeptOut,
} from "@lifeboat/core/failover/application";
import { decideLeaving, type Held, type LeavingDecision } from "@lifeboat/core/failover/leaving";
import { isLetBack, type PlacementView } from "@lifeboat/core/placement";
import { aggregatedItems } from "@lifeboat/core/propagation/aggregation";
import { clusterOfWork } from "@lifeboat/core/propagation/works";
import {
  checkAgainAt,
  createController,
  done,
  type Outcome,
  ownKey,
  type RecordedEvent,
  type Service,
  watching,
} from "@lifeboat/kit";
import {
  type Binding,
  bindingOf,
  bindingResource,
  bindingsBy,
  bindingsOfWork,
  policyOf,
  recordOnWorkload,
  watchingBindings,
} from "../../context/bindings.ts";
import { watchingSteps } from "../../context/clock-steps.ts";
import type { PlaneContext } from "../../context/context.ts";
import {
  outdatedIn,
  OUTDATED_MS,
  watchingRenderings,
  worksOf,
} from "../../context/observe-works.ts";

export interface ApplicationFailoverOptions {
  /** The gate StatefulFailoverInjection: whether workloads carry state. */
  readonly statefulFailoverInjection: boolean;
}

const CONCURRENCY = 4;
const HELD_AGAIN_MS = 30_000;
const CACHE_BEHIND_MS = 1000;

/** Builds the controller. */
export function createApplicationFailover(
  context: PlaneContext,
  options: ApplicationFailoverOptions,
): readonly Service[] {
  const failovers = new ApplicationFailovers(context, options);
  const { informers } = context;
  return [
    createController(context, {
      name: "application-failover",
      concurrency: CONCURRENCY,
      watches: [
        watchingSteps(context),
        ...watchingBindings(informers, (old, now) =>
          isConcerned(now) || isConcerned(old) ? ownKey(old, now) : [],
        ),
        watching(informers.works, (old, now) =>
          isSameReport(old, now) ? [] : keysOf(bindingsOfWork(informers, now ?? old)),
        ),
        watching(informers.clusters, (old, now) => [
          ...bindingsOfCluster(context, old, now),
          ...(hasSameFit(old, now) ? [] : failovers.heldKeys()),
        ]),
        ...watchingRenderings(context),
        watching(informers.propagationPolicies, () => []),
        watching(informers.clusterPropagationPolicies, () => []),
      ],
      reconcile: (key, signal) => failovers.look(key, signal),
    }),
  ];
}

/** Whether there is something to remember or to forget. */
function isConcerned(binding: Binding | undefined): boolean {
  if (binding === undefined) return false;
  const { annotations = {} } = binding.metadata;
  return (
    binding.spec.failover?.application !== undefined ||
    annotations[wellKnown.UNHEALTHY_SINCE] !== undefined ||
    annotations[wellKnown.EVICTED_FROM] !== undefined
  );
}

function keysOf(bindings: readonly Binding[]): readonly ObjectKey[] {
  return bindings.filter(isConcerned).map(keyOf);
}

function isSameReport(old: Work | undefined, now: Work | undefined): boolean {
  if (old === undefined || now === undefined) return false;
  return equalJson(healthsOf(old), healthsOf(now));
}

function healthsOf(work: Work): readonly unknown[] {
  return aggregatedItems([work]).map(({ clusterName, health }) => [clusterName, health ?? ""]);
}

/** The bindings on a cluster that begins or ceases to answer. */
function bindingsOfCluster(
  { informers }: PlaneContext,
  old: Cluster | undefined,
  now: Cluster | undefined,
): readonly ObjectKey[] {
  if (old !== undefined && now !== undefined && readyOf(old) === readyOf(now)) return [];
  return keysOf(bindingsBy(informers, "cluster", (now ?? old)?.metadata.name ?? ""));
}

function readyOf({ status }: Cluster): string {
  return findCondition(status?.conditions, "Ready")?.status ?? "";
}

/** Whether a cluster is for placement what it was, but for its room: that changes all the time. */
function hasSameFit(old: Cluster | undefined, now: Cluster | undefined): boolean {
  if (old === undefined || now === undefined) return false;
  return (
    old.metadata.generation === now.metadata.generation &&
    equalJson(old.metadata.labels, now.metadata.labels) &&
    equalJson(old.status?.apiEnablements, now.status?.apiEnablements) &&
    equalJson(old.status?.conditions, now.status?.conditions)
  );
}

class ApplicationFailovers {
  readonly #context: PlaneContext;
  readonly #options: ApplicationFailoverOptions;
  /** By binding: why it cannot leave, as it was reported. */
  readonly #held = new Map<string, string>();

  constructor(context: PlaneContext, options: ApplicationFailoverOptions) {
    this.#context = context;
    this.#options = options;
  }

  heldKeys(): readonly ObjectKey[] {
    return [...this.#held.keys()].map(parseKey);
  }

  async look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { clock, informers, time } = this.#context;
    const binding = bindingOf(informers, key);
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) {
      this.#held.delete(formatKey(key));
      return done;
    }
    const view = this.#view(binding);
    let plan = decideApplication(view, time.moment());
    let isOutdated = false;
    if (plan.reason === "Well" && isLetBack(binding, plan.remembered)) {
      const outdated = await outdatedIn(this.#context, binding, signal);
      plan = decideApplication({ ...view, outdated }, time.moment());
      isOutdated = !isLetBack(binding, plan.remembered);
    }
    const [cluster] = plan.due;
    if (cluster !== undefined) return this.#leave(view, plan, cluster, signal);
    this.#held.delete(formatKey(key));
    for (const changed of plan.commands) await this.#update(changed, signal);
    for (const event of plan.events) this.#record(binding, event);
    if (isOutdated) return checkAgainAt(addMs(clock.now(), OUTDATED_MS));
    // What clusters can take changes all the time, and is not followed here.
    if (isKeptOut(plan.remembered)) return checkAgainAt(addMs(clock.now(), HELD_AGAIN_MS));
    return plan.checkAgainAt === undefined ? done : checkAgainAt(plan.checkAgainAt);
  }

  #view(binding: Binding): ApplicationView {
    const { informers, time } = this.#context;
    const found = clusterNamesOf(binding).flatMap(
      (name) => informers.clusters.get({ namespace: "", name }) ?? [],
    );
    return {
      binding,
      works: worksOf(this.#context, binding),
      clusters: new Map(found.map((cluster) => [cluster.metadata.name, cluster])),
      outdated: new Set(),
      hasNowhereElse:
        isKeptOut(binding) && hasNowhereElse(this.#placementOf(binding), time.moment()),
    };
  }

  #placementOf(binding: Binding): PlacementView {
    const { targetRoom, time } = this.#context;
    return targetRoom.viewOf(binding, time.moment());
  }

  async #leave(
    view: ApplicationView,
    plan: ApplicationPlan,
    cluster: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { clock, informers, targetRoom } = this.#context;
    const work = view.works.find((one) => clusterOfWork(one) === cluster);
    const decision = this.#decide(view.binding, plan, cluster, work);
    if (decision.outcome === "held") {
      this.#hold(view.binding, cluster, decision);
      for (const changed of plan.commands) await this.#update(changed, signal);
      return checkAgainAt(addMs(clock.now(), HELD_AGAIN_MS));
    }
    // Others are decided while this one is written.
    targetRoom.promise(view.binding, decision.targets);
    let isWritten = false;
    try {
      if (work !== undefined && !(await this.#isUnchanged(work, signal)))
        return checkAgainAt(addMs(clock.now(), CACHE_BEHIND_MS));
      await this.#evict(plan, cluster, decision, signal);
      isWritten = true;
      return done;
    } finally {
      const now = bindingOf(informers, keyOf(view.binding)) ?? view.binding;
      if (!isWritten) targetRoom.forget(now);
    }
  }

  /** Whether the workload may leave the cluster, and what it carries. */
  #decide(
    binding: Binding,
    { due }: ApplicationPlan,
    cluster: string,
    work: Work | undefined,
  ): LeavingDecision {
    const { informers, templates, time } = this.#context;
    return decideLeaving(
      {
        cluster,
        failing: "application",
        purgeMode: applicationPurgeMode(binding),
        placement: this.#placementOf(binding),
        leaving: new Set(due),
        state: {
          work,
          policy: policyOf(informers, binding),
          enabled: this.#options.statefulFailoverInjection,
          template: templates.get(binding.spec.resource),
        },
      },
      time.moment(),
    );
  }

  #hold(binding: Binding, cluster: string, { reason, message }: Held): void {
    const id = formatKey(keyOf(binding));
    const text = `Leaving cluster ${cluster} is held (${reason}): ${message}`;
    if (this.#held.get(id) === text) return;
    this.#held.set(id, text);
    this.#record(binding, { type: "Warning", reason: "EvictionHeld", message: text });
    this.#context.log.info("a failing application cannot leave its cluster", {
      binding: id,
      cluster,
      reason,
      message,
    });
  }

  /** Whether the server still has what the cache has about a copy. */
  async #isUnchanged({ metadata, status }: Work, signal: AbortSignal): Promise<boolean> {
    const key = { namespace: metadata.namespace ?? "", name: metadata.name };
    try {
      const work = await this.#context.plane.get(works, key, { signal });
      return work.metadata.generation === metadata.generation && equalJson(work.status, status);
    } catch (error) {
      if (isRefused(error, "NotFound")) return false;
      throw error;
    }
  }

  async #evict(
    { remembered }: ApplicationPlan,
    cluster: string,
    { carried, warnings }: Extract<LeavingDecision, { outcome: "leave" }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log } = this.#context;
    const evicted = evictApplication(remembered, cluster, carried, clock.now());
    try {
      await this.#update(evicted, signal);
    } catch (error) {
      if (error instanceof Refused && error.status.reason !== "Conflict")
        this.#record(remembered, {
          type: "Warning",
          reason: "EvictWorkloadFromClusterFailed",
          message: `Evict from cluster ${cluster} failed.`,
        });
      throw error;
    }
    const id = formatKey(keyOf(remembered));
    this.#held.delete(id);
    const task = taskOf(evicted, cluster);
    log.info("a failing application leaves its cluster", {
      binding: id,
      cluster,
      reason: task?.reason,
      purgeMode: task?.purgeMode,
    });
    this.#record(remembered, {
      type: "Normal",
      reason: "EvictionDecided",
      message: task?.message ?? "",
    });
    for (const warning of warnings)
      this.#record(remembered, { type: "Warning", reason: "StateNotPreserved", message: warning });
  }

  async #update(binding: Binding, signal: AbortSignal): Promise<void> {
    await this.#context.plane.update(bindingResource(keyOf(binding)), binding, { signal });
  }

  #record(binding: Binding, event: RecordedEvent): void {
    recordOnWorkload(this.#context.events, binding, event);
  }
}
