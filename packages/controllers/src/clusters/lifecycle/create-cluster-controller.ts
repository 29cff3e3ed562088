/**
 * Gives a Cluster its finalizer and its execution namespace, and lets it go in order when it is deleted (D22).
 *
 * 1. What is to be done is decided by `decideLifecycle` in core; here are only its view and its commands.
 * 2. Before the execution namespace is deleted the server is asked once more whether a binding needs the cluster; before it
 *    is made, whether the Cluster is to stay: a process whose cache is behind would make it as often as others delete it.
 * 3. Changes of bindings and Works concern a Cluster only while it leaves; a Cluster that stays costs nothing.
 * 4. The condition Leaving is written when its reason changes; its counts follow at most every five seconds. A reason that
 *    another writer changed a moment ago waits (../../context/recent-writes.ts).
 * 5. An execution namespace that was made too late all the same belongs to no Cluster, and is taken away.
 */
import {
  type AnyObject,
  type Cluster,
  clusters,
  findCondition,
  hasCondition,
  isRefused,
  type KubeList,
  namespaces,
  type ObjectKey,
  setCondition,
  type Work,
  works,
} from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { type PlannedCondition, wellKnown } from "@lifeboat/core";
import {
  decideLifecycle,
  type LifecycleCommand,
  type LifecyclePlan,
  type LifecycleView,
  stuckOn,
} from "@lifeboat/core/clusters";
import {
  clusterOfExecutionNamespace,
  executionNamespace,
} from "@lifeboat/core/propagation/rendering";
import {
  checkAgainAt,
  createController,
  done,
  Informer,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import {
  type Binding,
  bindingResource,
  bindingsBy,
  bindingsOfWork,
  watchingBindings,
} from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { bindingClusters } from "../../context/informers.ts";
import { RecentWrites } from "../../context/recent-writes.ts";
import { deleteWorks, ignoring, isHeld, releaseWorks } from "./leaving-works.ts";

/** How many clusters are reconciled at the same time. */
const CONCURRENCY = 4;
const PAGE_SIZE = 500;
/** How often the counts in the condition may be written while nothing else changes. */
const COUNTS_EVERY_MS = 5000;

/** Builds the controller and the informer of execution namespaces that it needs. */
export function createClusterController(context: PlaneContext): readonly Service[] {
  const executionNamespaces = new Informer<AnyObject>(context, context.plane, namespaces, {
    labelSelector: `${wellKnown.SYSTEM}=true`,
  });
  const lifecycle = new ClusterLifecycle(context, executionNamespaces);
  const { informers, connections } = context;
  const isLeaving = (name: string): boolean =>
    informers.clusters.get({ namespace: "", name })?.metadata.deletionTimestamp !== undefined;
  const leavingOf = (names: Iterable<string>): readonly ObjectKey[] =>
    [...names].filter(isLeaving).map((name) => ({ namespace: "", name }));
  const controller = createController(context, {
    name: "cluster",
    concurrency: CONCURRENCY,
    watches: [
      watching(informers.clusters, ownKey),
      watching(executionNamespaces, (old, now) => {
        const name = clusterOfExecutionNamespace((now ?? old)?.metadata.name ?? "");
        return name === undefined ? [] : [{ namespace: "", name }];
      }),
      watching(informers.works, (old, now) => {
        const name = clusterOfExecutionNamespace((now ?? old)?.metadata.namespace ?? "");
        return leavingOf(name === undefined ? [] : [name]);
      }),
      ...watchingBindings(informers, (old, now) =>
        leavingOf(new Set([...clustersOf(old), ...clustersOf(now)])),
      ),
      {
        whenSynced: (signal) => connections.whenSynced(signal),
        subscribe: (add) => connections.onChange((name) => leavingOf([name]).forEach(add)),
      },
    ],
    reconcile: (key, signal) => lifecycle.look(key, signal),
  });
  return [executionNamespaces, controller];
}

function clustersOf(binding: Binding | undefined): readonly string[] {
  return binding === undefined ? [] : bindingClusters(binding);
}

const NO_NEEDS: Pick<LifecycleView, "bindings" | "stuck"> = { bindings: 0, stuck: [] };

function isPull({ spec }: Cluster): boolean {
  return spec.syncMode === "Pull";
}

class ClusterLifecycle {
  readonly #context: PlaneContext;
  readonly #namespaces: Informer<AnyObject>;
  /** When the condition of a leaving cluster was last written; a restart may write it once sooner. */
  readonly #toldAt = new Map<string, Instant>();
  readonly #recentWrites = new RecentWrites();

  constructor(context: PlaneContext, executionNamespaces: Informer<AnyObject>) {
    this.#context = context;
    this.#namespaces = executionNamespaces;
  }

  async look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const cluster = this.#context.informers.clusters.get(key);
    if (cluster === undefined) {
      this.#toldAt.delete(key.name);
      await this.#removeOrphan(key, signal);
      return done;
    }
    // A Cluster that is gone meanwhile gets nothing more: a namespace made now would stay for ever.
    const again = await this.#act(cluster, signal).catch(ignoring("NotFound"));
    return again === undefined ? done : checkAgainAt(again);
  }

  async #act(cluster: Cluster, signal: AbortSignal): Promise<Instant | undefined> {
    const plan = decideLifecycle(this.#view(cluster));
    const told = await this.#tell(cluster, plan, signal);
    for (const command of plan.commands) await this.#carryOut(told.cluster, command, signal);
    return told.again;
  }

  #view(cluster: Cluster): LifecycleView {
    const { informers, connections } = this.#context;
    const { name, finalizers, deletionTimestamp, annotations } = cluster.metadata;
    const isLeaving = deletionTimestamp !== undefined;
    const all = isLeaving ? informers.works.byIndex("cluster", executionNamespace(name)) : [];
    return {
      name,
      hasFinalizer: finalizers?.includes(wellKnown.CLUSTER_FINALIZER) === true,
      isLeaving,
      isForced: annotations?.[wellKnown.FORCE_REMOVAL] === "true",
      isPull: isPull(cluster),
      isReachable:
        hasCondition(cluster.status?.conditions, "Ready") &&
        connections.of(name).kind !== "unusable",
      namespace: namespaceState(this.#namespaces.get(namespaceKey(name))),
      ...(isLeaving ? this.#needs(name, all) : NO_NEEDS),
      works: all.length,
      heldWorks: all.filter(isHeld).length,
    };
  }

  /**
   * The bindings that name the cluster, and those that have left it in their schedule but keep their copy: the binding
   * controller takes a copy away only when another is healthy (D9), and the namespace would take it at once.
   */
  #needs(cluster: string, found: readonly Work[]): Pick<LifecycleView, "bindings" | "stuck"> {
    const naming = bindingsBy(this.#context.informers, "cluster", cluster);
    const ids = new Set(naming.map(({ metadata }) => metadata.uid));
    for (const work of found)
      for (const { metadata } of this.#keepersOf(work)) ids.add(metadata.uid);
    return { bindings: ids.size, stuck: stuckOn(cluster, naming) };
  }

  /** The binding that a Work belongs to, where both are there to stay. */
  #keepersOf(work: Work): readonly Binding[] {
    if (work.metadata.deletionTimestamp !== undefined) return [];
    return bindingsOfWork(this.#context.informers, work).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
  }

  /** Brings the condition up to date; answers the cluster as it is then, and when its counts are due. */
  async #tell(
    cluster: Cluster,
    plan: LifecyclePlan,
    signal: AbortSignal,
  ): Promise<{ readonly cluster: Cluster; readonly again?: Instant }> {
    const [wanted] = plan.conditions;
    if (wanted === undefined) return { cluster };
    const { events, plane, time } = this.#context;
    const { name, uid } = cluster.metadata;
    const moment = time.moment();
    const { now, due: dueTime } = moment;
    const conditions = setCondition(cluster.status?.conditions, wanted, now);
    if (conditions === cluster.status?.conditions) return { cluster };
    const isNews = this.#isNews(cluster, wanted);
    const due = dueTime(this.#toldAt.get(name) ?? now, COUNTS_EVERY_MS);
    if (!isNews && this.#toldAt.has(name) && now < due) return { cluster, again: due };
    const content = [wanted.status, wanted.reason];
    const held = isNews ? this.#recentWrites.heldUntil(uid, content, moment) : undefined;
    if (held !== undefined) return { cluster, again: held };
    const status = { ...cluster.status, conditions };
    const updated = await plane.update(
      clusters,
      { ...cluster, status },
      { subresource: "status", signal },
    );
    this.#toldAt.set(name, now);
    if (isNews) this.#recentWrites.note(uid, content, now);
    if (isNews) for (const event of plan.events) events.record(updated, event);
    return { cluster: updated };
  }

  #isNews(cluster: Cluster, wanted: PlannedCondition): boolean {
    const old = findCondition(cluster.status?.conditions, wanted.type);
    return old?.status !== wanted.status || old.reason !== wanted.reason;
  }

  async #carryOut(cluster: Cluster, command: LifecycleCommand, signal: AbortSignal): Promise<void> {
    switch (command) {
      case "AddFinalizer":
        return this.#setFinalizers(cluster, (old) => [...old, wellKnown.CLUSTER_FINALIZER], signal);
      case "RemoveFinalizer":
        return this.#removeFinalizer(cluster, signal);
      case "CreateNamespace":
        return this.#reported(cluster, "CreateExecutionSpace", () =>
          this.#createNamespace(cluster, signal),
        );
      case "DeleteNamespace":
        return this.#reported(cluster, "RemoveExecutionSpace", () =>
          this.#deleteNamespace(cluster, signal),
        );
      case "DeleteWorks":
        if (await this.#mayEmpty(cluster, signal))
          await deleteWorks(this.#context, cluster, signal);
        return;
      case "ReleaseWorks":
        return releaseWorks(this.#context, cluster, signal);
    }
  }

  async #removeFinalizer(cluster: Cluster, signal: AbortSignal): Promise<void> {
    // A namespace that the cache does not know yet would stay behind for ever: it is made to show instead.
    if (await this.#labelNamespace(cluster.metadata.name, signal)) return;
    await this.#setFinalizers(
      cluster,
      (old) => old.filter((one) => one !== wellKnown.CLUSTER_FINALIZER),
      signal,
    );
  }

  async #setFinalizers(
    cluster: Cluster,
    change: (old: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { name, resourceVersion, finalizers = [] } = cluster.metadata;
    const body = { metadata: { resourceVersion, finalizers: [...change(finalizers)] } };
    await this.#context.plane.patch(
      clusters,
      { namespace: "", name },
      { type: "merge", body },
      { signal },
    );
  }

  /** Runs one step on the execution namespace and records an Event about how it went. */
  async #reported(
    cluster: Cluster,
    step: "CreateExecutionSpace" | "RemoveExecutionSpace",
    run: () => Promise<string | undefined>,
  ): Promise<void> {
    const { events } = this.#context;
    try {
      const message = await run();
      if (message !== undefined)
        events.record(cluster, { type: "Normal", reason: `${step}Succeed`, message });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      events.record(cluster, { type: "Warning", reason: `${step}Failed`, message });
      throw error;
    }
  }

  async #createNamespace(of: Cluster, signal: AbortSignal): Promise<string | undefined> {
    const { plane } = this.#context;
    const { name: cluster } = of.metadata;
    const { name } = namespaceKey(cluster);
    if (!(await this.#isToStay(of, signal))) return undefined;
    const labels = { [wellKnown.SYSTEM]: "true" };
    try {
      const metadata = { name, labels };
      await plane.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata }, { signal });
      return `Created execution space(${name}) for cluster(${cluster})`;
    } catch (error) {
      if (!isRefused(error, "AlreadyExists")) throw error;
    }
    // It is there, and the cache either lags or does not see it for want of the label.
    await this.#labelNamespace(cluster, signal);
    return undefined;
  }

  /** Asks the server itself whether a Cluster is there and not leaving; if not, its next change brings the next reconcile. */
  async #isToStay({ metadata }: Cluster, signal: AbortSignal): Promise<boolean> {
    const key = { namespace: "", name: metadata.name };
    const { metadata: now } = await this.#context.plane.get(clusters, key, { signal });
    return now.uid === metadata.uid && now.deletionTimestamp === undefined;
  }

  /** Takes away the execution namespace of a Cluster that is not there, unless a Work is in it. */
  async #removeOrphan(cluster: ObjectKey, signal: AbortSignal): Promise<void> {
    const { plane } = this.#context;
    const key = namespaceKey(cluster.name);
    const namespace = this.#namespaces.get(key);
    if (namespace === undefined || namespaceState(namespace) !== "active") return;
    const found = await plane.get(clusters, cluster, { signal }).catch(ignoring("NotFound"));
    if (found !== undefined) return;
    const { items } = await plane.list(works, { namespace: key.name, limit: 1, signal });
    if (items.length > 0) return;
    const preconditions = { uid: namespace.metadata.uid };
    await plane.delete(namespaces, key, { preconditions, signal }).catch(ignoring("NotFound"));
  }

  /** Puts our label on the execution namespace; answers whether there is one. */
  async #labelNamespace(cluster: string, signal: AbortSignal): Promise<boolean> {
    const body = { metadata: { labels: { [wellKnown.SYSTEM]: "true" } } };
    const found = await this.#context.plane
      .patch(namespaces, namespaceKey(cluster), { type: "merge", body }, { signal })
      .catch(ignoring("NotFound"));
    return found !== undefined;
  }

  async #deleteNamespace(cluster: Cluster, signal: AbortSignal): Promise<string | undefined> {
    const { plane } = this.#context;
    const { name } = cluster.metadata;
    if (!(await this.#mayEmpty(cluster, signal))) return undefined;
    const key = namespaceKey(name);
    if (isPull(cluster)) {
      const { items } = await plane.list(works, { namespace: key.name, limit: 1, signal });
      if (items.length > 0) return undefined;
    }
    const uid = this.#namespaces.get(key)?.metadata.uid;
    if (uid === undefined) return undefined;
    await plane
      .delete(namespaces, key, { preconditions: { uid }, signal })
      .catch(ignoring("NotFound"));
    return `Removed execution space(${key.name}) for cluster(${name})`;
  }

  /** The cache may lag behind a binding that was just placed here; its copy must not be torn down. */
  async #mayEmpty({ metadata: { name, annotations } }: Cluster, signal: AbortSignal) {
    const isForced = annotations?.[wellKnown.FORCE_REMOVAL] === "true";
    return isForced || !(await this.#isNeeded(name, signal));
  }

  /** Asks the server itself whether a binding has this cluster, or a copy in it. */
  async #isNeeded(cluster: string, signal: AbortSignal): Promise<boolean> {
    const { plane } = this.#context;
    const namespace = executionNamespace(cluster);
    const { items } = await plane.list(works, { namespace, signal });
    if (items.some((work) => this.#keepersOf(work).length > 0)) return true;
    for (const scope of ["", "any"]) {
      const resource = bindingResource({ namespace: scope, name: "" });
      let token = "";
      do {
        const page: KubeList<Binding> = await plane.list(resource, {
          limit: PAGE_SIZE,
          continue: token,
          signal,
        });
        if (page.items.some((binding) => bindingClusters(binding).includes(cluster))) return true;
        token = page.metadata.continue ?? "";
      } while (token !== "");
    }
    return false;
  }
}

function namespaceKey(cluster: string): ObjectKey {
  return { namespace: "", name: executionNamespace(cluster) };
}

function namespaceState(namespace: AnyObject | undefined): LifecycleView["namespace"] {
  if (namespace === undefined) return "absent";
  return namespace.metadata.deletionTimestamp === undefined ? "active" : "ending";
}
