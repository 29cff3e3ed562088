/** Seeded bugs for the oracles of group D: graceful evictions. */
import type { SimMutant } from "../mutant.ts";

export const gracefulMutants: readonly SimMutant[] = [
  {
    oracle: "last-copy-stays",
    promise: "D9",
    breaks: "a copy goes before the one that takes its place is healthy",
    file: "packages/core/src/works/decide-works.ts",
    find: "if (wanted.size > 0) return false;",
    replace: "if (wanted.size > 0) return true;",
    caughtIn: ["move"],
  },
  {
    oracle: "no-eviction-is-left",
    promise: "D8",
    breaks: "a task is never cleared",
    file: "packages/core/src/eviction/decide-tasks.ts",
    find: 'if (fate === "cleared") binding = without(binding, task);',
    replace: "if (tasks.length < 0) binding = without(binding, task);",
    caughtIn: ["fail-gracefully"],
  },
];
