/** Seeded bugs for the oracles of bounds (K10) and of how long things take (group L). */
import type { SimMutant } from "../mutant.ts";

export const livenessMutants: readonly SimMutant[] = [
  {
    oracle: "evacuations-are-forgotten",
    promise: "K10",
    breaks: "every evacuation is kept",
    file: "packages/core/src/failover/evacuation/record.ts",
    symbol: "KEPT",
    replace: "1000",
    caughtIn: ["flapping-for-hours"],
  },
  {
    oracle: "no-slice-outlives-its-evacuation",
    promise: "K10",
    breaks: "slices stay when their evacuation is deleted",
    file: "packages/apiserver/src/housekeeping/decide-collection.ts",
    symbol: "decideCollection",
    replace: `(view) =>
      view.object.kind === "EvacuationSlice" ? { kind: "nothing" } : original(view)`,
    caughtIn: ["flapping-for-hours"],
  },
  {
    oracle: "failover-is-in-time",
    promise: "L-2",
    breaks: "every eviction uses up twenty tokens",
    file: "packages/core/src/failover/evacuation/budget.ts",
    symbol: "reserve",
    replace: `(view, now) => {
      const answer = original(view, now);
      if (answer.kind !== "reserve") return answer;
      return { ...answer, reservedUntil: addMs(now, 20 * (answer.reservedUntil - now)) };
    }`,
    caughtIn: ["lost-cluster"],
  },
  {
    oracle: "no-member-waits-for-another",
    promise: "L-3",
    breaks: "what is carried out in members is carried out one after the other",
    file: "packages/controllers/src/member-side/execution/cluster-execution.ts",
    symbol: "WorksOfCluster.constructor.reconcile",
    replace: `(...all) => {
      globalThis.line = (globalThis.line ?? Promise.resolve())
        .catch(() => undefined)
        .then(() => original(...all));
      return globalThis.line;
    }`,
    caughtIn: ["one-slow-member"],
  },
];
