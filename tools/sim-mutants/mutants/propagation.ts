/** Seeded bugs for the oracles of group H: propagation. */
import type { SimMutant } from "../mutant.ts";

export const propagationMutants: readonly SimMutant[] = [
  {
    oracle: "works-live-in-their-namespace",
    promise: "H2",
    breaks: "copies for all clusters are marked as the first cluster's",
    file: "packages/core/src/rendering/render.ts",
    find: "[WORK_NAMESPACE]: key.namespace,",
    replace: '[WORK_NAMESPACE]: "karmada-es-m1",',
    caughtIn: ["propagate"],
  },
  {
    oracle: "no-orphan-work",
    promise: "H1",
    breaks: "a Work stays in a cluster that a policy no longer names",
    file: "packages/core/src/works/decide-works.ts",
    find: "if (isGoing(work) || targets.wanted.has(cluster)) continue;",
    replace: "if (isGoing(work) || targets.wanted.size > 0) continue;",
    caughtIn: ["update"],
  },
  {
    oracle: "every-target-has-its-work",
    promise: "H5",
    breaks: "the first Work that is missing is never made",
    file: "packages/core/src/works/decide-works.ts",
    find: "const creates = isBarred ? [] : synced.creates;",
    replace: "const creates = isBarred ? [] : synced.creates.slice(1);",
    caughtIn: ["propagate"],
  },
  {
    oracle: "members-hold-what-works-say",
    promise: "H5",
    breaks: "a copy that is ours is never changed",
    file: "packages/core/src/applying/apply.ts",
    find: 'if (isSame(object, observed)) return success("UpToDate", []);',
    replace: 'if (ours || isSame(object, observed)) return success("UpToDate", []);',
    caughtIn: ["update"],
  },
  {
    oracle: "status-comes-back",
    promise: "H5",
    breaks: "the report of the first cluster is left out",
    file: "packages/core/src/aggregation/items.ts",
    find: "return items.sort((a, b) => compareText(a.clusterName, b.clusterName));",
    replace: "return items.slice(1).sort((a, b) => compareText(a.clusterName, b.clusterName));",
    caughtIn: ["propagate"],
  },
  {
    oracle: "nothing-is-left-going",
    promise: "H4",
    breaks: "execution does not let a Work go whose objects are gone",
    file: "packages/controllers/src/execution/cluster-execution.ts",
    find: "const rest = finalizers.filter((finalizer) => finalizer !== wellKnown.EXECUTION_FINALIZER);",
    replace: "const rest = finalizers;",
    caughtIn: ["delete"],
  },
  {
    oracle: "quiet-at-rest",
    promise: "H7",
    breaks: "the transition time of a cluster's conditions moves at every look",
    file: "packages/core/src/health/cluster-status.ts",
    find: "...(conditions.length > 0 && { conditions }),",
    replace:
      "conditions: conditions.map((one) => ({ ...one, lastTransitionTime: new Date(now).toISOString() })),",
    caughtIn: ["propagate"],
  },
];
