/**
 * cluster-monitor: finds out every few seconds which Pull clusters are silent, and whether so many are that the control plane
 * may be cut off itself.
 *
 * 1. A renewal of the cluster's Lease, or a report in the Cluster's status, is a message. Rules and times are in
 *    `core/failover/health/heartbeat.ts`; a skewed clock of an agent changes nothing.
 * 2. Before a cluster is marked, its Lease is read from the server: a watch that broke is no silence of the cluster (D20).
 * 3. Time in which this process stood still does not count.
 * 4. The condition PlaneMayBeIsolated on `EvacuationBudget/fleet` is shown here; that releases stop is decided by the releaser
 *    itself, from the Clusters (`core/failover/evacuation/isolation.ts`).
 */
import {
  type Cluster,
  clusters,
  findCondition,
  isRefused,
  namespaces,
  type ObjectKey,
  orNothing,
  Refused,
  setCondition,
} from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import {
  isolationCondition,
  isolationOf,
  PLANE_MAY_BE_ISOLATED,
} from "@lifeboat/core/failover/evacuation";
import {
  decideHeartbeat,
  hasReported,
  type HeartbeatGraces,
  type HeartbeatPlan,
  READY,
  watchedMs,
} from "@lifeboat/core/failover/health";
import { leases, NotSent, OutcomeUnknown, type Service } from "@lifeboat/kit";
import { clusterLastSuccess } from "../../context/cluster-metrics.ts";
import type { PlaneContext } from "../../context/context.ts";
import { FLEET_RECORD, isOutrun, swapRecordStatus } from "../../context/fleet-record.ts";

export interface ClusterMonitorOptions extends HeartbeatGraces {
  /** How often silence is looked for. */
  readonly periodMs: number;
}

/** What is known of one Pull cluster. */
interface Heard {
  readonly uid: string;
  cluster: Cluster;
  renewTime: string | undefined;
  /** When the last message was seen, by the monotonic clock; later by the time in which this process stood still. */
  since: number;
}

/** How many clusters are marked at the same time. */
const WRITES_AT_A_TIME = 16;

/** Builds the monitor. */
export function createClusterMonitor(
  context: PlaneContext,
  options: ClusterMonitorOptions,
): readonly Service[] {
  return [new ClusterMonitor(context, options)];
}

class ClusterMonitor implements Service {
  readonly name = "cluster-monitor";
  readonly #context: PlaneContext;
  readonly #options: ClusterMonitorOptions;
  readonly #heard = new Map<string, Heard>();
  readonly #lastSuccess;
  #hasNamespace = false;

  constructor(context: PlaneContext, options: ClusterMonitorOptions) {
    this.#context = context;
    this.#options = options;
    this.#lastSuccess = context.metrics.gauge(clusterLastSuccess);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers, clock } = this.#context;
    for (const source of [informers.clusters, informers.evacuationBudgets, informers.leases])
      if (!(await source.whenSynced(signal))) return;
    const hear = (name: string | undefined): void => this.#hear(name ?? "");
    const subscriptions = [
      informers.clusters.onChange((old, now) => hear((now ?? old)?.metadata.name)),
      informers.leases.onChange((old, now) => hear((now ?? old)?.metadata.name)),
    ];
    try {
      for (let last = clock.monotonic(); ;) {
        if (!(await sleep(clock, this.#options.periodMs, signal))) return;
        const now = clock.monotonic();
        this.#forgive(now - last - watchedMs(now - last, this.#options.periodMs), now);
        last = now;
        await this.#look(signal);
      }
    } finally {
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const name of this.#heard.keys()) this.#forget(name);
    }
  }

  /** Takes time in which this process stood still from the silence of all. */
  #forgive(stoodStillMs: number, now: number): void {
    for (const one of this.#heard.values()) one.since = Math.min(now, one.since + stoodStillMs);
  }

  async #look(signal: AbortSignal): Promise<void> {
    if (this.#heard.size > 0) await this.#attempt(() => this.#ensureNamespace(signal), signal);
    const silent = [...this.#heard.values()].filter(
      (one) => this.#decide(one).condition !== undefined,
    );
    for (let start = 0; start < silent.length; start += WRITES_AT_A_TIME)
      await Promise.all(
        silent
          .slice(start, start + WRITES_AT_A_TIME)
          .map((one) => this.#attempt(() => this.#mark(one, signal), signal)),
      );
    await this.#attempt(() => this.#tellIsolation(signal), signal);
  }

  /** What a failed write leaves undone is done by the next look. */
  async #attempt(act: () => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      if (!signal.aborted) await act();
    } catch (error) {
      const isTheirs =
        error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown;
      if (!isTheirs) throw error;
      if (!isRefused(error, "Conflict") && !signal.aborted)
        this.#context.log.warn("the silence of clusters could not be written", { error });
    }
  }

  /** Agents may write Leases there, and make no namespaces. */
  async #ensureNamespace(signal: AbortSignal): Promise<void> {
    if (this.#hasNamespace) return;
    const metadata = { name: wellKnown.CLUSTER_NAMESPACE };
    const key = { namespace: "", name: wellKnown.CLUSTER_NAMESPACE };
    const { plane } = this.#context;
    const found = await orNothing(plane.get(namespaces, key, { signal }));
    if (found === undefined)
      await plane.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata }, { signal });
    this.#hasNamespace = true;
  }

  /** A Cluster or its Lease changed: takes in whether that is a message. */
  #hear(name: string): void {
    const { informers, clock } = this.#context;
    const cluster = informers.clusters.get({ namespace: "", name });
    if (cluster?.spec.syncMode !== "Pull") {
      this.#forget(name);
      return;
    }
    const { uid } = cluster.metadata;
    const renewTime = informers.leases.get(leaseKey(name))?.spec?.renewTime;
    const known = this.#heard.get(name);
    const isMessage =
      known?.uid !== uid ||
      known.renewTime !== renewTime ||
      (known.cluster !== cluster && hasReported(known.cluster, cluster));
    const since = known === undefined || isMessage ? clock.monotonic() : known.since;
    this.#heard.set(name, { uid, cluster, renewTime, since });
    // What is seen first may be old: only a change is a message for certain.
    if (known?.uid === uid && isMessage)
      this.#lastSuccess.set(clock.now() / 1000, { member_cluster: name });
  }

  #forget(name: string): void {
    if (this.#heard.delete(name)) this.#lastSuccess.remove({ member_cluster: name });
  }

  #decide({ cluster, since }: Heard): HeartbeatPlan {
    const current = findCondition(cluster.status?.conditions, READY);
    const silentMs = this.#context.clock.monotonic() - since;
    return decideHeartbeat({ ...this.#options, current, silentMs });
  }

  async #mark(heard: Heard, signal: AbortSignal): Promise<void> {
    const { plane, clock, events, log } = this.#context;
    const { name } = heard.cluster.metadata;
    const lease = await orNothing(plane.get(leases, leaseKey(name), { signal }));
    const isRenewed = lease !== undefined && lease.spec?.renewTime !== heard.renewTime;
    const cluster = await orNothing(plane.get(clusters, { namespace: "", name }, { signal }));
    if (cluster === undefined || cluster.metadata.uid !== heard.uid) return;
    if (isRenewed || hasReported(heard.cluster, cluster)) {
      heard.since = clock.monotonic();
      heard.renewTime = lease?.spec?.renewTime;
      heard.cluster = cluster;
      return;
    }
    const { condition } = this.#decide({ ...heard, cluster });
    if (condition === undefined) return;
    const conditions = setCondition(cluster.status?.conditions, condition, clock.now());
    const status = { ...cluster.status, conditions };
    await plane.update(clusters, { ...cluster, status }, { subresource: "status", signal });
    const { reason, message } = condition;
    events.record(cluster, { type: "Warning", reason, message });
    log.warn("nothing is heard of a cluster", { cluster: name, reason });
  }

  async #tellIsolation(signal: AbortSignal): Promise<void> {
    const { informers, plane, clock, events } = this.#context;
    const budget = informers.evacuationBudgets.get(FLEET_RECORD);
    const isolation = isolationOf(informers.clusters.list(), budget?.spec.isolationAgreedAt);
    const shown = findCondition(budget?.status?.conditions, PLANE_MAY_BE_ISOLATED);
    // A fleet in which that never happened needs no condition.
    if (shown === undefined && !isolation.isIsolated) return;
    const condition = isolationCondition(isolation);
    if (shown?.status === condition.status && shown.message === condition.message) return;
    try {
      const record = await swapRecordStatus(
        plane,
        (now) => ({
          status: {
            ...now.status,
            conditions: setCondition(now.status?.conditions, condition, clock.now()),
          },
          answer: now,
        }),
        { signal },
      );
      if (shown?.status === condition.status) return;
      const { reason, message } = condition;
      const type = isolation.isIsolated ? "Warning" : "Normal";
      events.record(record, { type, reason, message });
    } catch (error) {
      if (!isOutrun(error)) throw error;
    }
  }
}

function leaseKey(name: string): ObjectKey {
  return { namespace: wellKnown.CLUSTER_NAMESPACE, name };
}
