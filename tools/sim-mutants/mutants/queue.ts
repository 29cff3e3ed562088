/** Seeded bugs for the oracles of group C: the queue of evictions and its rate. */
import type { SimMutant } from "../mutant.ts";

export const queueMutants: readonly SimMutant[] = [
  {
    oracle: "evictions-keep-the-rate",
    promise: "D6",
    breaks: "tokens come a hundred times too fast",
    file: "packages/core/src/evacuation/budget.ts",
    find: "const tokenMs = 1000 / rate;",
    replace: "const tokenMs = 10 / rate;",
    caughtIn: ["fail-gracefully"],
  },
];
