/** Seeded bugs for the oracles of group D: graceful evictions. */
import type { SimMutant } from "../mutant.ts";

export const gracefulMutants: readonly SimMutant[] = [
  {
    oracle: "leaving-copies-stay",
    promise: "O-graceful-1",
    breaks: "the Work of a cluster that is left gracefully is removed at once",
    file: "packages/core/src/propagation/works/decide-works.ts",
    symbol: "markEvicted",
    replace: '(cluster, work) => [remove(cluster, prepared(work), work, "Evicted")]',
    caughtIn: ["fail-gracefully"],
  },
  {
    oracle: "tasks-end-for-a-reason",
    promise: "O-graceful-2",
    breaks: "a copy that exists counts as healthy",
    file: "packages/core/src/failover/eviction-tasks/view.ts",
    symbol: "isDependable",
    replace: "(view, name) => workIn(view, name) !== undefined",
    caughtIn: ["fail-gracefully"],
  },
  {
    oracle: "tasks-end-for-a-reason",
    promise: "O-graceful-4",
    breaks: "half a minute is enough to let an old copy go",
    file: "packages/core/src/failover/eviction-tasks/decide-tasks.ts",
    symbol: "whyOver",
    replace: `(view, task, moment) => {
      const isOld = moment.now > moment.due(createdAt(task) ?? moment.now, 30_000);
      return original(view, task, moment) ?? (isOld ? "GracePeriodOver" : undefined);
    }`,
    caughtIn: ["two-copies-one-slow"],
  },
  {
    oracle: "only-enabled-plugins-end-tasks",
    promise: "O-graceful-10",
    breaks: "all plugins are enabled, whatever the flag says",
    file: "packages/core/src/failover/eviction-tasks/plugins/registry.ts",
    symbol: "evictionPlugins",
    replace: "() => ALL",
    caughtIn: ["no-plugin"],
  },
  {
    oracle: "last-copy-stays",
    promise: "O-graceful-3",
    breaks: "a copy goes before the one that takes its place is healthy",
    file: "packages/core/src/propagation/works/decide-works.ts",
    symbol: "mayGo",
    replace: "(view, targets, work) => targets.wanted.size > 0 || original(view, targets, work)",
    caughtIn: ["move"],
  },
  {
    oracle: "last-copy-stays",
    promise: "O-graceful-3",
    breaks: "a copy that serves in part is not spared",
    file: "packages/core/src/propagation/works/decide-works.ts",
    symbol: "mayGo",
    replace: "(view, targets, work) => !isProvenHealthy(work) || original(view, targets, work)",
    caughtIn: ["scale-and-move"],
  },
  {
    oracle: "last-copy-stays",
    promise: "O-graceful-3",
    breaks: "that no cluster fitted a former placement counts for the new one",
    file: "packages/core/src/propagation/works/decide-works.ts",
    symbol: "isPlacedNowhere",
    replace: `({ metadata, ...binding }) => {
      const applied = { [APPLIED_PLACEMENT]: formatPlacement(binding.spec.placement) };
      const annotations = { ...metadata.annotations, ...applied };
      return original({ ...binding, metadata: { ...metadata, annotations } });
    }`,
    caughtIn: ["edited-before-it-was-tried"],
  },
  {
    oracle: "back-in-result-keeps-the-copy",
    promise: "O-graceful-5",
    breaks: "being placed in a cluster again ends a purge that is under way",
    file: "packages/core/src/failover/eviction-tasks/decide-tasks.ts",
    condition: "back-in-result",
    replace: "isInResult(view, task)",
    caughtIn: ["placed-back-by-hand-while-purged"],
  },
  {
    oracle: "no-cluster-is-left-and-kept",
    promise: "O-graceful-5",
    breaks: "being placed in a cluster again does not end leaving it",
    file: "packages/core/src/failover/eviction-tasks/plugins/in-schedule-result.ts",
    symbol: "inScheduleResult.passes",
    replace: "() => false",
    caughtIn: ["drained-and-back"],
  },
  {
    oracle: "taken-back-to-the-former-result",
    promise: "O-graceful-6",
    breaks: "an eviction that is taken back forgets how many replicas there were",
    file: "packages/core/src/failover/evacuation/evict.ts",
    symbol: "rollBack.former.replicas",
    replace: "1",
    caughtIn: ["directly-taken-back"],
  },
  {
    oracle: "never-turned-round-half-way",
    promise: "O-graceful-7",
    breaks: "a recovery takes back what was placed anew",
    file: "packages/core/src/failover/eviction-tasks/recovery.ts",
    symbol: "hasNoReplacement",
    replace: "() => true",
    caughtIn: ["recover-late"],
  },
  {
    oracle: "no-eviction-is-left",
    promise: "O-graceful-8",
    breaks: "a task is never cleared",
    file: "packages/core/src/failover/eviction-tasks/decide-tasks.ts",
    symbol: "without",
    replace: "(binding) => binding",
    caughtIn: ["fail-gracefully"],
  },
  {
    oracle: "what-has-no-health-leaves-too",
    promise: "O-graceful-9",
    breaks: "kinds without a notion of health are never healthy",
    file: "packages/core/src/propagation/interpretation/interpretation.ts",
    symbol: "defaultInterpreter.health",
    replace: '() => "Unknown"',
    caughtIn: ["without-health"],
  },
];
