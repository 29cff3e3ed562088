/** Seeded bugs for the oracles of bounds (K10) and of how long things take (group L). */
import type { SimMutant } from "../mutant.ts";

export const livenessMutants: readonly SimMutant[] = [
  {
    oracle: "evacuations-are-forgotten",
    promise: "K10",
    breaks: "every evacuation is kept",
    file: "packages/core/src/failover/evacuation/record.ts",
    find: "const KEPT = 10;",
    replace: "const KEPT = 1000;",
    caughtIn: ["flapping-for-hours"],
  },
  {
    oracle: "no-slice-outlives-its-evacuation",
    promise: "K10",
    breaks: "slices stay when their evacuation is deleted",
    file: "packages/apiserver/src/housekeeping/decide-collection.ts",
    find: '    return { kind: "delete", policy: policyOf(object) };',
    replace:
      '    return object.kind === "EvacuationSlice" ? { kind: "nothing" } : { kind: "delete", policy: policyOf(object) };',
    caughtIn: ["flapping-for-hours"],
  },
  {
    oracle: "failover-is-in-time",
    promise: "L-2",
    breaks: "every eviction uses up twenty tokens",
    file: "packages/core/src/failover/evacuation/budget.ts",
    find: 'return { kind: "reserve", tokens, reservedUntil: addMs(now, Math.ceil(tokens * tokenMs)) };',
    replace:
      'return { kind: "reserve", tokens, reservedUntil: addMs(now, Math.ceil(20 * tokens * tokenMs)) };',
    caughtIn: ["lost-cluster"],
  },
  {
    oracle: "no-member-waits-for-another",
    promise: "L-3",
    breaks: "what is carried out in members is carried out one after the other",
    file: "packages/controllers/src/member-side/execution/cluster-execution.ts",
    find: "reconcile: (key, signal) => this.#look(key, signal),",
    replace:
      "reconcile: (key, signal) => ((globalThis as any).line = ((globalThis as any).line ?? Promise.resolve()).catch(() => undefined).then(() => this.#look(key, signal))),",
    caughtIn: ["one-slow-member"],
  },
];
