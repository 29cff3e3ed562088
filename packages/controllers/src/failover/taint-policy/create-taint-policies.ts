/**
 * Carries out taint policies: one reconcile per Cluster, one write when its taints or what is remembered of them change. The
 * rules are in core/failover/taints.
 *
 * 1. Every state of a cluster's conditions that the informer reports reaches the decision, also those between two
 *    reconciles: a window is interrupted by a mismatch that lasted a millisecond.
 * 2. After a start the first reconcile of a cluster counts as unwatched, and so does the first after a state was dropped.
 * 3. Nothing is written by the cached policies alone: the server is asked for them first. Of two leaders, one that has not
 *    heard of a policy would take its taints off as often as the other sets them.
 */
import {
  type Cluster,
  clusters,
  clusterTaintPolicies,
  equalJson,
  type ObjectKey,
  Refused,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import {
  decideTaints,
  type PassedState,
  type TaintCommand,
  type TaintPlan,
  type TaintView,
} from "@lifeboat/core/failover/taints";
import {
  checkAgainAt,
  type ControllerWatch,
  createController,
  done,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import { watchingSteps } from "../../context/clock-steps.ts";
import type { PlaneContext } from "../../context/context.ts";

export interface TaintPoliciesOptions {
  /** The gate `Failover`: while it is off, policies add NoSchedule only. */
  readonly failover: boolean;
}

/** More states than this between two reconciles are not kept: the next one then counts as unwatched. */
const MAX_PASSED = 1000;

/** What a cluster went through since its last reconcile. */
interface Watched {
  passed: PassedState[];
  unwatched: boolean;
}

/** Builds the controller of taint policies. */
export function createTaintPolicies(
  context: PlaneContext,
  options: TaintPoliciesOptions,
): readonly Service[] {
  return [new TaintPolicies(context, options)];
}

class TaintPolicies implements Service {
  readonly name = "taint-policy";
  readonly #context: PlaneContext;
  readonly #options: TaintPoliciesOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(context: PlaneContext, options: TaintPoliciesOptions) {
    this.#context = context;
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#watched.clear();
    const { informers } = this.#context;
    const stopRecording = informers.clusters.onChange((old, now) => this.#record(old, now));
    try {
      await createController(this.#context, {
        name: this.name,
        concurrency: 1,
        watches: [
          watchingSteps(this.#context),
          watching(informers.clusters, ownKey),
          watching(informers.clusterTaintPolicies, () => this.#allClusters()),
          this.#clustersWhenPoliciesSynced(),
        ],
        reconcile: (key, signal) => this.#look(key, signal),
      }).run(signal);
    } finally {
      stopRecording();
    }
  }

  #allClusters(): readonly ObjectKey[] {
    return this.#context.informers.clusters
      .list()
      .map(({ metadata }) => ({ namespace: "", name: metadata.name }));
  }

  /** Without any policy there is still the record of a deleted one to clear away. */
  #clustersWhenPoliciesSynced(): ControllerWatch {
    const { clusterTaintPolicies } = this.#context.informers;
    return {
      whenSynced: (signal) => clusterTaintPolicies.whenSynced(signal),
      subscribe: (add) => {
        for (const key of this.#allClusters()) add(key);
        return () => {};
      },
    };
  }

  #record(old: Cluster | undefined, now: Cluster | undefined): void {
    const name = (now ?? old)?.metadata.name ?? "";
    if (now === undefined) {
      this.#watched.delete(name);
      return;
    }
    const watched = this.#watched.get(name);
    if (watched === undefined) {
      this.#watched.set(name, { passed: [], unwatched: true });
      return;
    }
    if (old === undefined || equalJson(conditionsOf(old), conditionsOf(now))) return;
    if (watched.passed.length >= MAX_PASSED) watched.unwatched = true;
    else watched.passed.push({ at: this.#context.clock.now(), conditions: conditionsOf(now) });
  }

  async #look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { informers, events } = this.#context;
    const cluster = informers.clusters.get(key);
    const watched = this.#watched.get(key.name);
    if (cluster === undefined || watched === undefined) return done;
    const { unwatched } = watched;
    // A copy: more states may pass while the write is under way.
    const passed = [...watched.passed];
    const { failover } = this.#options;
    const plan = await this.#decide({ cluster, passed, unwatched, failover }, signal);
    for (const command of plan.commands) {
      try {
        await this.#write(cluster, command);
      } catch (error) {
        if (isLasting(error))
          events.record(cluster, {
            type: "Warning",
            reason: "TaintClusterFailed",
            message: `The taints could not be written: ${error instanceof Error ? error.message : String(error)}`,
          });
        throw error;
      }
    }
    // Only now: a reconcile whose write failed must see the same history again.
    watched.passed = watched.passed.slice(passed.length);
    watched.unwatched = false;
    for (const event of plan.events) events.record(cluster, event);
    return plan.checkAgainAt === undefined ? done : checkAgainAt(plan.checkAgainAt);
  }

  async #decide(view: Omit<TaintView, "policies">, signal: AbortSignal): Promise<TaintPlan> {
    const { informers, plane, time } = this.#context;
    const policies = informers.clusterTaintPolicies.list();
    const plan = decideTaints({ ...view, policies }, time.moment());
    if (plan.commands.length === 0) return plan;
    const { items } = await plane.list(clusterTaintPolicies, { signal });
    return decideTaints({ ...view, policies: items }, time.moment());
  }

  async #write(cluster: Cluster, command: TaintCommand): Promise<void> {
    const { [wellKnown.TAINT_POLICIES]: _old, ...others } = cluster.metadata.annotations ?? {};
    const annotations =
      command.record === undefined
        ? others
        : { ...others, [wellKnown.TAINT_POLICIES]: command.record };
    const { taints: _taints, ...spec } = cluster.spec;
    await this.#context.plane.update(clusters, {
      ...cluster,
      metadata: { ...cluster.metadata, annotations },
      spec: command.taints.length === 0 ? spec : { ...spec, taints: command.taints },
    });
  }
}

function conditionsOf(cluster: Cluster): PassedState["conditions"] {
  return cluster.status?.conditions ?? [];
}

/** Whether trying again by itself will not help: worth an Event. */
function isLasting(error: unknown): boolean {
  return error instanceof Refused && error.status.reason !== "Conflict";
}
