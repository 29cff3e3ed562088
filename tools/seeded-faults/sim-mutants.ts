/**
 * Seeded bugs for the oracles of the simulation: each breaks one promise in the product, and the oracle of that promise must
 * say so. `npm run sim:mutants` puts them in one at a time.
 */
import type { SeededFault } from "./faults.ts";

export interface SimMutant extends SeededFault {
  /** Which oracle must speak. */
  readonly oracle: string;
  /** The part of the net in which it does, as a pattern of test names. */
  readonly caughtIn: string;
}

const NET = ["packages/sim/src/net.test.ts"];
const UNDISTURBED = "undisturbed";

export const simMutants: readonly SimMutant[] = [
  {
    oracle: "works-live-in-their-namespace",
    promise: "H2",
    breaks: "copies for all clusters are marked as the first cluster's",
    file: "packages/core/src/rendering/render.ts",
    find: "[WORK_NAMESPACE]: key.namespace,",
    replace: '[WORK_NAMESPACE]: "karmada-es-m1",',
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "deletion-is-final",
    promise: "K4",
    breaks: "an object with finalizers is removed at once",
    file: "packages/apiserver/src/verbs/deletion.ts",
    find: "const held = finalizers.length > 0 || strategy.isHeld?.(object) === true;",
    replace: "const held = strategy.isHeld?.(object) === true;",
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "no-orphan-work",
    promise: "H1",
    breaks: "a Work stays in a cluster that a policy no longer names",
    file: "packages/core/src/works/decide-works.ts",
    find: "if (isGoing(work) || targets.wanted.has(cluster)) continue;",
    replace: "if (isGoing(work) || targets.wanted.size > 0) continue;",
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "every-target-has-its-work",
    promise: "H5",
    breaks: "the first Work that is missing is never made",
    file: "packages/core/src/works/decide-works.ts",
    find: "const creates = isBarred ? [] : synced.creates;",
    replace: "const creates = isBarred ? [] : synced.creates.slice(1);",
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "placed-as-asked",
    promise: "H5",
    breaks: "a duplicated workload leaves one cluster out",
    file: "packages/core/src/placement/place.ts",
    find: "return byName(fits.map(({ candidate: { name } }) => targetOf(name, replicas)));",
    replace:
      "return byName(fits.slice(1).map(({ candidate: { name } }) => targetOf(name, replicas)));",
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "members-hold-what-works-say",
    promise: "H5",
    breaks: "a copy that is ours is never changed",
    file: "packages/core/src/applying/apply.ts",
    find: 'if (isSame(object, observed)) return success("UpToDate", []);',
    replace: 'if (ours || isSame(object, observed)) return success("UpToDate", []);',
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "status-comes-back",
    promise: "H5",
    breaks: "the report of the first cluster is left out",
    file: "packages/core/src/aggregation/items.ts",
    find: "return items.sort((a, b) => compareText(a.clusterName, b.clusterName));",
    replace: "return items.slice(1).sort((a, b) => compareText(a.clusterName, b.clusterName));",
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "nothing-is-left-going",
    promise: "H4",
    breaks: "execution does not let a Work go whose objects are gone",
    file: "packages/controllers/src/execution/cluster-execution.ts",
    find: "const rest = finalizers.filter((finalizer) => finalizer !== wellKnown.EXECUTION_FINALIZER);",
    replace: "const rest = finalizers;",
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "quiet-at-rest",
    promise: "H7",
    breaks: "the transition time of a cluster's conditions moves at every look",
    file: "packages/core/src/health/cluster-status.ts",
    find: "...(conditions.length > 0 && { conditions }),",
    replace:
      "conditions: conditions.map((one) => ({ ...one, lastTransitionTime: new Date(now).toISOString() })),",
    caughtBy: NET,
    caughtIn: UNDISTURBED,
  },
  {
    oracle: "acknowledged-writes-survive",
    promise: "K6",
    breaks: "a write is answered before it is on disk",
    file: "packages/apiserver/src/store/create-store.ts",
    find: "return write.durable;",
    replace: "return entry;",
    caughtBy: NET,
    caughtIn: "slow disk",
  },
  {
    oracle: "watches-tell-everything",
    promise: "K2",
    breaks: "a watch that resumes leaves one change out",
    file: "packages/apiserver/src/store/create-store.ts",
    find: "const first = table.history.indexAfter(from);",
    replace: "const first = table.history.indexAfter(from) + 1;",
    caughtBy: NET,
    caughtIn: "ends as if nothing had happened: propagate",
  },
  {
    oracle: "last-copy-stays",
    promise: "D9",
    breaks: "a copy goes before the one that takes its place is healthy",
    file: "packages/core/src/works/decide-works.ts",
    find: "if (wanted.size > 0) return false;",
    replace: "if (wanted.size > 0) return true;",
    caughtBy: NET,
    caughtIn: "then: move",
  },
  {
    oracle: "evictions-keep-the-rate",
    promise: "D6",
    breaks: "tokens come a hundred times too fast",
    file: "packages/core/src/evacuation/budget.ts",
    find: "const tokenMs = 1000 / rate;",
    replace: "const tokenMs = 10 / rate;",
    caughtBy: NET,
    caughtIn: "then: fail-gracefully",
  },
  {
    oracle: "no-eviction-is-left",
    promise: "D8",
    breaks: "a task is never cleared",
    file: "packages/core/src/eviction/decide-tasks.ts",
    find: 'if (fate === "cleared") binding = without(binding, task);',
    replace: "if (tasks.length < 0) binding = without(binding, task);",
    caughtBy: NET,
    caughtIn: "then: fail-gracefully",
  },
];
