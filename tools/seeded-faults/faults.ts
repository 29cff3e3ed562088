/**
 * Small faults, each of which breaks one promise of docs/promises.md. `npm run seeded-faults` puts them in one at a time, by a
 * transform at test time, and shows that the named tests fail. `find` must stand in the file exactly once: a fault that no
 * longer fits is an error, not a pass.
 */
export interface SeededFault {
  /** The row of docs/promises.md. */
  readonly promise: string;
  readonly breaks: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Paths of unit tests of which at least one must fail. */
  readonly caughtBy: readonly string[];
}

export const seededFaults: readonly SeededFault[] = [
  {
    promise: "K2",
    breaks: "a watcher that joins during a delivery gets the change again",
    file: "packages/apiserver/src/store/watcher-set.ts",
    find: "if (!this.#open || change.revision <= this.#seen) return;",
    replace: "if (!this.#open) return;",
    caughtBy: ["packages/apiserver/src/store/create-store.test.ts"],
  },
  {
    promise: "K3",
    breaks: "a write does not notice that the head has moved",
    file: "packages/apiserver/src/store/create-store.ts",
    find: "if (previous?.revision !== expected?.revision)",
    replace: "if (previous?.revision !== previous?.revision)",
    caughtBy: ["packages/apiserver/src/store/create-store.test.ts"],
  },
  {
    promise: "K3",
    breaks: "an update with a stale version is taken",
    file: "packages/apiserver/src/verbs/replace.ts",
    find: "if (version !== current.resourceVersion) throw",
    replace: "if (version === undefined) throw",
    caughtBy: ["testkit/src/client-suite.test.ts"],
  },
  {
    promise: "K4",
    breaks: "an object with finalizers is removed at once",
    file: "packages/apiserver/src/verbs/deletion.ts",
    find: "const held = finalizers.length > 0 || strategy.isHeld?.(object) === true;",
    replace: "const held = strategy.isHeld?.(object) === true;",
    caughtBy: ["testkit/src/client-suite.test.ts"],
  },
  {
    promise: "K10",
    breaks: "the queue of a watcher has no bound",
    file: "packages/apiserver/src/http/watch-stream.ts",
    find: "if (this.#frames.length <= maxQueuedFrames && this.#bytes <= maxQueuedBytes) return true;",
    replace: "if (maxQueuedFrames + maxQueuedBytes >= 0) return true;",
    caughtBy: ["packages/apiserver/src/http/watch-stream.test.ts"],
  },
  {
    promise: "D20",
    breaks: "a controller begins before its informers are synced",
    file: "packages/kit/src/controller.ts",
    find: "for (const watch of watches) if (!(await watch.whenSynced(signal))) return;",
    replace: "void watches;",
    caughtBy: ["packages/kit/src/controller.test.ts"],
  },
  {
    promise: "D9",
    breaks: "the last healthy copy is removed",
    file: "packages/core/src/works/decide-works.ts",
    find: "} else if (hasCover || mayGo(view, targets, work)) {",
    replace: "} else if (hasCover || cluster !== undefined) {",
    caughtBy: ["packages/core/src/works/decide-works.test.ts"],
  },
  {
    promise: "D10",
    breaks: "a new copy is made while the old one is still there",
    file: "packages/core/src/works/decide-works.ts",
    find: "const creates = isBarred ? [] : synced.creates;",
    replace: "const creates = synced.creates;",
    caughtBy: ["packages/core/src/works/decide-works.test.ts"],
  },
  {
    promise: "D19",
    breaks: "the gate answers before it has written down what it lets through",
    file: "packages/controllers/src/deletion-gate/create-deletion-gate.ts",
    find: "await this.#write(budget, plan);",
    replace: "await Promise.resolve();",
    caughtBy: ["packages/controllers/src/deletion-gate/create-deletion-gate.test.ts"],
  },
  {
    promise: "D21",
    breaks: "a copy that is evicted is left in the member because its template says preserve",
    file: "packages/core/src/works/decide-works.ts",
    find: "if (work.spec.preserveResourcesOnDeletion === true)",
    replace: "if (work.spec === undefined)",
    caughtBy: ["packages/core/src/works/decide-works.test.ts"],
  },
  {
    promise: "D9",
    breaks: "an old copy is let go while the new ones are not known to be healthy",
    file: "packages/core/src/eviction/plugins/resource-health.ts",
    find: "every(({ name }) => isDependable(view, name))",
    replace: 'every(({ name }) => name !== "")',
    caughtBy: ["packages/core/src/eviction/decide-tasks.test.ts"],
  },
  {
    promise: "D9",
    breaks: "a plugin, a person or a grace period takes the last healthy copy",
    file: "packages/core/src/eviction/view.ts",
    find: "if (old === undefined || isGoing(old) || !mayBeHealthy(old)) return true;",
    replace: 'if (old === undefined || old.metadata.name !== "") return true;',
    caughtBy: ["packages/core/src/eviction/decide-tasks.prop.test.ts"],
  },
  {
    promise: "D9",
    breaks: "a copy counts as healthy although its cluster has fallen silent",
    file: "packages/core/src/eviction/view.ts",
    find: "|| cluster === undefined || isSilent(cluster)) return false;",
    replace: "|| cluster === undefined) return false;",
    caughtBy: ["packages/core/src/eviction/decide-tasks.test.ts"],
  },
  {
    promise: "D9",
    breaks: "a grace period removes a healthy old copy",
    file: "packages/core/src/eviction/decide-tasks.ts",
    find: "const isUnhealthy = old === undefined || !mayBeHealthy(old);",
    replace: "const isUnhealthy = old === undefined || mayBeHealthy(old) || true;",
    caughtBy: ["packages/core/src/eviction/decide-tasks.test.ts"],
  },
  {
    promise: "D10",
    breaks: "a workload of mode Directly is placed anew while its old copy may run",
    file: "packages/core/src/eviction/decide-tasks.ts",
    find: 'if (isGoing(work) && operatorFence(cluster) !== undefined) return cleared("Fenced");',
    replace: 'if (isGoing(work)) return cleared("Fenced");',
    caughtBy: ["packages/core/src/eviction/decide-tasks.prop.test.ts"],
  },
  {
    promise: "D10",
    breaks: "a person's word counts although the cluster answers",
    file: "packages/core/src/eviction/fence.ts",
    find: "if (text === undefined || isAnswering(cluster)) return undefined;",
    replace: "if (text === undefined) return undefined;",
    caughtBy: ["packages/core/src/eviction/decide-tasks.test.ts"],
  },
  {
    promise: "D10",
    breaks: "the cache's word is taken for the absence of a Work",
    file: "packages/controllers/src/graceful-eviction/create-graceful-eviction.ts",
    find: 'if (reason === "CopyGone" && (await this.#hasWork(binding, cluster, signal))) return false;',
    replace: 'if (reason === "CopyGone" && this.#told.size < 0) return false;',
    caughtBy: ["packages/controllers/src/graceful-eviction/graceful-eviction.test.ts"],
  },
  {
    promise: "D11",
    breaks: "a cluster that returns with stale copies gets new work",
    file: "packages/core/src/eviction/stale-copies.ts",
    find: "if (isFalse === hasStale) return undefined;",
    replace: "if (isFalse === hasStale || hasStale) return undefined;",
    caughtBy: ["packages/core/src/eviction/stale-copies.test.ts"],
  },
  {
    promise: "D12",
    breaks: "state is kept although the cluster held only some of the replicas",
    file: "packages/core/src/state/state-to-carry.ts",
    find: "if (only?.name !== cluster || others.length > 0) return false;",
    replace: "if (only?.name !== cluster) return false;",
    caughtBy: ["packages/core/src/state/state-to-carry.test.ts"],
  },
  {
    promise: "D13",
    breaks: "a migration that was placed anew turns round when the cluster recovers",
    file: "packages/core/src/eviction/recovery.ts",
    find: "if (clusters.some(({ name }) => !before.includes(name))) return false;",
    replace: "if (before.length === 0) return false;",
    caughtBy: ["packages/core/src/eviction/decide-tasks.test.ts"],
  },
  {
    promise: "D23",
    breaks: "an application returns to the cluster it left as soon as the old copy is gone",
    file: "packages/core/src/application-failover/decide.ts",
    find: "if (isWell && !isMoving) return new Set();",
    replace: "if (!isMoving) return new Set();",
    caughtBy: ["packages/core/src/application-failover/decide.test.ts"],
  },
  {
    promise: "D23",
    breaks: "the loss of a cluster is taken for a failing application",
    file: "packages/core/src/application-failover/decide.ts",
    find: "const isHeard = cluster !== undefined && !isSilent(cluster);",
    replace: "const isHeard = cluster !== undefined;",
    caughtBy: ["packages/core/src/application-failover/decide.test.ts"],
  },
  {
    promise: "—",
    breaks: "a world does not draw from its seed",
    file: "testkit/src/world.ts",
    find: "createRandom(options.seed ?? 1)",
    replace: "createRandom(1)",
    caughtBy: ["testkit/src/mirror-controller.test.ts"],
  },
];

/** Which fault a test run carries; absent: none. Set by main.ts, read by vitest.config.ts. */
export const FAULT_VARIABLE = "LIFEBOAT_SEEDED_FAULT";
