/**
 * cluster-status: keeps `status` of every Push cluster what its member reports; in an agent, that of its own Cluster (Pull).
 *
 * A follower per cluster probes and collects by itself, so that a member that hangs delays no other; a reconcile of a
 * cluster only turns what its follower knows into a status, and writes it when it differs.
 *
 * 1. Thresholds and what an observation means are decided by `core/failover/health`; what the room is, by `core/placement/capacity`.
 * 2. The status is written only on change, and at most once per probe unless another condition is known or something becomes
 *    known for the first time. There are no heartbeats: `cluster_last_observed_timestamp_seconds` shows how fresh it is.
 * 3. Conditions of others and remedyActions stay as they are.
 * 4. A cluster that joins gets its first status with a count of its room, unless that takes longer than until the next probe.
 * 5. A cluster is followed from when it bears the finalizer of the cluster controller until it is gone, its deletion
 *    included: how its copies are removed depends on whether it can be reached.
 * 6. Where replicas share out members, only the replica that a member belongs to writes its status, and others probe it when they
 *    are asked.
 */
import { type Cluster, clusters, findCondition, type ObjectKey } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import {
  awaitsFirstCount,
  type ClusterKnowledge,
  decideClusterStatus,
  decideLimits,
  decideReady,
  READY,
  type ReadyThresholds,
  RESPONSES_WITHIN_LIMITS,
  UNCHANGED_STATUS,
} from "@lifeboat/core/failover/health";
import {
  type Client,
  type Controller,
  type ControllerWatch,
  createController,
  done,
  fencedClient,
  type KitPorts,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import type { PlaneInformers } from "../../context/informers.ts";
import type { MemberConnections } from "../../context/member-connections.ts";
import type { MemberShares } from "../../context/member-shares.ts";
import { MemberFollower } from "../../member-side/status/member-follower.ts";
import { type ClusterMetrics, declareClusterMetrics } from "./metrics.ts";

/** What it works on: in the control plane its context; in an agent the own Cluster alone, and the one member. */
export interface ClusterStatusContext extends KitPorts {
  readonly plane: Client;
  readonly informers: Pick<PlaneInformers, "clusters">;
  readonly connections: Omit<MemberConnections, "name" | "run" | "impersonatorOf">;
  readonly shares?: MemberShares;
}

export interface ClusterStatusOptions extends ReadyThresholds {
  /** Which clusters are followed; Push when absent. */
  readonly syncMode?: "Push" | "Pull";
  /** From the beginning of one probe to that of the next. */
  readonly updateFrequencyMs: number;
  /** How long a probe may take; the update frequency when absent. */
  readonly probeTimeoutMs?: number;
}

const CONCURRENCY = 8;

/** Builds the controller. */
export function createClusterStatus(
  context: ClusterStatusContext,
  options: ClusterStatusOptions,
): readonly Service[] {
  return [new ClusterStatus(context, options)];
}

class ClusterStatus implements Service {
  readonly name = "cluster-status";
  readonly #context: ClusterStatusContext;
  readonly #options: ClusterStatusOptions;
  readonly #metrics: ClusterMetrics;
  readonly #followers = new Map<string, MemberFollower>();
  readonly #controller: Controller;

  constructor(context: ClusterStatusContext, options: ClusterStatusOptions) {
    this.#context = context;
    this.#options = options;
    this.#metrics = declareClusterMetrics(context.metrics);
    this.#controller = createController(context, {
      name: this.name,
      concurrency: CONCURRENCY,
      watches: [
        watching(context.informers.clusters, ownKey),
        watchingConnections(context.connections),
        ...(context.shares === undefined ? [] : [watchingShares(context.shares)]),
      ],
      reconcile: (key) => this.#look(key),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#controller.run(signal);
    } finally {
      // Another replica may lead from now on: its series are the true ones.
      for (const name of this.#followers.keys()) this.#drop(name);
    }
  }

  async #look(key: ObjectKey): Promise<Outcome> {
    const { informers, connections, clock, shares } = this.#context;
    const cluster = informers.clusters.get(key);
    const isProbed =
      cluster !== undefined &&
      isFollowed(cluster, this.#options.syncMode ?? "Push") &&
      (shares === undefined || shares.probes(key.name));
    if (!isProbed) {
      this.#drop(key.name);
      return done;
    }
    const follower = this.#followerOf(cluster);
    const plane = this.#planeFor(cluster, follower);
    follower.use(connections.of(key.name), plane !== undefined);
    const { streak, collector } = follower;
    if (plane === undefined) this.#forgetSeries(key.name);
    if (streak === undefined || plane === undefined) return done;
    if (awaitsFirstCount(cluster.status, streak, collector?.hasRoom === true)) return done;
    const knowledge = this.#knowledgeOf(cluster, follower);
    const isSettled = follower.isSettled(cluster, knowledge);
    const plan = isSettled
      ? UNCHANGED_STATUS
      : decideClusterStatus(cluster.status, knowledge, clock.now());
    if (plan.status === undefined) follower.settle(cluster, knowledge);
    const status = plan.status ?? cluster.status;
    this.#measure(key.name, follower, isReady(status));
    // seed: nothing-to-write
    if (plan.status === undefined) return done;
    // What can wait is written after the next probe, which enqueues the cluster again; and two processes that know
    // different things must not overwrite each other without end.
    if (plan.routine ? follower.isWritten : follower.isContradicted(knowledge)) return done;
    await plane.update(clusters, { ...cluster, status: plan.status }, { subresource: "status" });
    follower.wrote(knowledge);
    this.#logReady(cluster, plan.status);
    return done;
  }

  /** The plane, for writes about this cluster; undefined: they are another replica's. */
  #planeFor(cluster: Cluster, { streak }: MemberFollower): Client | undefined {
    const { plane, shares } = this.#context;
    if (shares === undefined) return plane;
    const { name } = cluster.metadata;
    const ready = findCondition(cluster.status?.conditions, READY);
    // First what was observed: it may be what takes the member away from this replica.
    if (streak !== undefined)
      shares.observed(name, { streak, isKnownDown: ready?.status === "False" });
    const term = shares.termOf(name);
    return term && fencedClient(plane, term);
  }

  #knowledgeOf(cluster: Cluster, { streak, collector, since }: MemberFollower): ClusterKnowledge {
    const current = findCondition(cluster.status?.conditions, READY);
    const second = this.#context.shares?.opinionOf(cluster.metadata.name);
    const ready = streak && decideReady({ current, streak, second, ...this.#options }).condition;
    const collected = collector?.knowledge(cluster) ?? { conditions: [] };
    const limits = this.#limitsOf(cluster, since);
    const conditions = [ready, limits].filter((one) => one !== undefined);
    return { ...collected, conditions: [...conditions, ...collected.conditions] };
  }

  #limitsOf({ metadata, status }: Cluster, since: number) {
    const { connections, clock } = this.#context;
    return decideLimits({
      current: findCondition(status?.conditions, RESPONSES_WITHIN_LIMITS),
      excess: connections.excessOf(metadata.name),
      since,
      now: clock.monotonic(),
    });
  }

  #followerOf({ metadata: { name, uid } }: Cluster): MemberFollower {
    const known = this.#followers.get(name);
    if (known?.uid === uid) return known;
    known?.close();
    const { updateFrequencyMs, probeTimeoutMs = updateFrequencyMs } = this.#options;
    const follower = new MemberFollower(
      this.#context,
      uid,
      { updateFrequencyMs, probeTimeoutMs },
      () => this.#controller.enqueue({ namespace: "", name }),
    );
    this.#followers.set(name, follower);
    return follower;
  }

  #drop(name: string): void {
    const follower = this.#followers.get(name);
    if (follower === undefined) return;
    follower.close();
    this.#followers.delete(name);
    this.#context.shares?.observed(name, undefined);
    this.#forgetSeries(name);
  }

  #forgetSeries(name: string): void {
    const { duration: _duration, failures: _failures, ...gauges } = this.#metrics;
    for (const gauge of Object.values(gauges)) gauge.remove({ member_cluster: name });
  }

  #measure(name: string, follower: MemberFollower, ready: boolean): void {
    const { collector, streak } = follower;
    const { clock } = this.#context;
    const metrics = this.#metrics;
    const labels = { member_cluster: name };
    const age = clock.monotonic() - (streak?.last ?? 0);
    metrics.ready.set(ready ? 1 : 0, labels);
    metrics.lastObserved.set((clock.now() - age) / 1000, labels);
    const tookMs = follower.takeDurationMs();
    if (tookMs !== undefined) metrics.duration.observe(tookMs / 1000, labels);
    const isAnswered = streak?.observation.status === "True";
    if (isAnswered) metrics.lastSuccess.set((clock.now() - age) / 1000, labels);
    else if (tookMs !== undefined) metrics.failures.add(1, labels);
    if (collector?.hasRoom !== true) return;
    const { room } = collector;
    const { totalNum = 0, readyNum = 0 } = room.nodeSummary();
    metrics.nodes.set(totalNum, labels);
    metrics.readyNodes.set(readyNum, labels);
    metrics.memoryAllocatable.set(room.measure("allocatable", "memory"), labels);
    metrics.cpuAllocatable.set(room.measure("allocatable", "cpu"), labels);
    metrics.podsAllocatable.set(room.measure("allocatable", "pods"), labels);
    metrics.memoryAllocated.set(room.measure("allocated", "memory"), labels);
    metrics.cpuAllocated.set(room.measure("allocated", "cpu"), labels);
    metrics.podsAllocated.set(room.measure("allocated", "pods"), labels);
  }

  #logReady({ metadata, status: before }: Cluster, after: Cluster["status"]): void {
    const was = findCondition(before?.conditions, READY);
    const now = findCondition(after?.conditions, READY);
    if (now === undefined || was?.status === now.status) return;
    const { status, reason, message } = now;
    this.#context.log.info("a cluster's readiness changed", {
      cluster: metadata.name,
      status,
      reason,
      message,
    });
  }
}

function isFollowed({ metadata, spec }: Cluster, syncMode: "Push" | "Pull"): boolean {
  return (
    spec.syncMode === syncMode &&
    metadata.finalizers?.includes(wellKnown.CLUSTER_FINALIZER) === true
  );
}

function isReady(status: Cluster["status"]): boolean {
  return findCondition(status?.conditions, READY)?.status === "True";
}

function watchingShares(shares: MemberShares): ControllerWatch {
  return {
    whenSynced: (signal) => shares.whenSynced(signal),
    subscribe: (add) => shares.onChange((name) => add({ namespace: "", name })),
  };
}

function watchingConnections(connections: ClusterStatusContext["connections"]): ControllerWatch {
  return {
    whenSynced: (signal) => connections.whenSynced(signal),
    subscribe: (add) => {
      const look = (name: string): void => add({ namespace: "", name });
      const stops = [connections.onChange(look), connections.onExcess(look)];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
