/**
 * Execution in the control plane: one ClusterExecution for each cluster that is reached from here (Push).
 *
 * 1. A connection that changes (endpoint, credentials) replaces the execution of its cluster, and of no other.
 * 2. A cluster whose connection cannot be used is reported on its Works; one that is gone, or comes by itself (Pull), is
 *    left alone.
 * 3. Works, Clusters and scripts are watched once for all clusters.
 * 4. Where replicas share out members, only the executions of this replica's members run; each is built on clients that send no
 *    write once the member belongs to another replica.
 * 5. No Work is reconciled before Works, Clusters, connections and scripts are synced (D20).
 */
import { type Cluster, hasCondition, keyOf, type ObjectKey, type Work } from "@lifeboat/api";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { type Client, fencedClient, type Informer, type Service, type Term } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import {
  type ClusterExecution,
  type ClusterWorks,
  createClusterExecution,
} from "../../member-side/execution/cluster-execution.ts";
import { askBindings } from "../../member-side/execution/still-wanted.ts";
import { unreachableMember } from "./unreachable-member.ts";

/** Builds the execution of all Push clusters' Works. */
export function createExecution(context: PlaneContext): readonly Service[] {
  return [new Execution(context)];
}

interface Running {
  readonly execution: ClusterExecution;
  readonly stop: AbortController;
  readonly term: Term | undefined;
}

class Execution implements Service {
  readonly name = "execution";
  readonly #context: PlaneContext;
  readonly #works: WorksByCluster;
  readonly #running = new Map<string, Running>();
  /** Executions that run or are on their way out. */
  readonly #ending = new Set<Promise<void>>();
  #fail: ((error: unknown) => void) | undefined;

  constructor(context: PlaneContext) {
    this.#context = context;
    this.#works = new WorksByCluster(context.informers.works);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers, connections, interpretation, shares } = this.#context;
    for (const source of [informers.works, informers.clusters, connections, interpretation, shares])
      if (source !== undefined && !(await source.whenSynced(signal))) return;
    const failed = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
    });
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const subscriptions = [
      this.#works.start(),
      connections.onChange((cluster) => this.#connect(cluster)),
      interpretation.onChange((apiVersion, kind) => {
        for (const { execution } of this.#running.values()) execution.lookAtKind(apiVersion, kind);
      }),
      informers.clusters.onChange((old, now) => this.#clusterChanged(old, now)),
      ...(shares === undefined ? [] : [shares.onChange((cluster) => this.#share(cluster))]),
    ];
    try {
      for (const { metadata } of informers.clusters.list()) this.#connect(metadata.name);
      await Promise.race([stopped, failed]);
    } finally {
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const cluster of this.#running.keys()) this.#stop(cluster);
      await Promise.allSettled(this.#ending);
    }
  }

  #clusterChanged(old: Cluster | undefined, now: Cluster | undefined): void {
    if (now === undefined || !isReady(now) || (old !== undefined && isReady(old))) return;
    this.#running.get(now.metadata.name)?.execution.lookAgain();
  }

  /** A member that came to this replica or left it; one that stayed goes on as it is. */
  #share(cluster: string): void {
    if (this.#running.get(cluster)?.term !== this.#context.shares?.termOf(cluster))
      this.#connect(cluster);
  }

  #connect(cluster: string): void {
    this.#stop(cluster);
    const { events, interpretation, shares } = this.#context;
    const connection = this.#context.connections.of(cluster);
    const term = shares?.termOf(cluster);
    if (connection.kind === "none" || (shares !== undefined && term === undefined)) return;
    const fenced = (client: Client): Client => (term ? fencedClient(client, term) : client);
    const plane = fenced(this.#context.plane);
    const member =
      connection.kind === "connected"
        ? fenced(connection.client)
        : unreachableMember(connection.message);
    const limits = connection.kind === "connected" ? connection.limits : undefined;
    const works = this.#works.of(cluster);
    const execution = createClusterExecution(
      { ...this.#context, random: this.#context.random.fork(`execution ${cluster}`) },
      {
        cluster,
        plane,
        member,
        works,
        word: askBindings(this.#context, cluster),
        events,
        interpretation,
        own: () => this.#context.informers.clusters.get({ namespace: "", name: cluster }),
        ...(limits && { limits }),
      },
    );
    const stop = new AbortController();
    this.#running.set(cluster, { execution, stop, term });
    const ended = execution
      .run(stop.signal)
      .catch((error: unknown) => this.#fail?.(error))
      .finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Does not wait for calls under way: what they would write is refused, because it was decided on an older state. */
  #stop(cluster: string): void {
    this.#running.get(cluster)?.stop.abort();
    this.#running.delete(cluster);
  }
}

/** Hands changes of Works to the one cluster they concern. */
class WorksByCluster {
  readonly #informer: Informer<Work>;
  readonly #adders = new Map<string, Set<(key: ObjectKey) => void>>();

  constructor(informer: Informer<Work>) {
    this.#informer = informer;
  }

  start(): () => void {
    return this.#informer.onChange((old, now) => {
      const work = now ?? old;
      if (work === undefined) return;
      const key = keyOf(work);
      for (const add of this.#adders.get(key.namespace) ?? []) add(key);
    });
  }

  of(cluster: string): ClusterWorks {
    const namespace = executionNamespace(cluster);
    return {
      get: (key) => this.#informer.get(key),
      whenSynced: (signal) => this.#informer.whenSynced(signal),
      subscribe: (add) => {
        const adders = this.#adders.get(namespace) ?? new Set();
        this.#adders.set(namespace, adders.add(add));
        for (const work of this.#informer.byIndex("cluster", namespace)) add(keyOf(work));
        return () => {
          adders.delete(add);
          if (adders.size === 0 && this.#adders.get(namespace) === adders)
            this.#adders.delete(namespace);
        };
      },
    };
  }
}

function isReady({ status }: Cluster): boolean {
  return hasCondition(status?.conditions, "Ready");
}
