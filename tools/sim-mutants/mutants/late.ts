/** Seeded bugs about requests that take effect after nobody waits for them any more. */
import type { SimMutant } from "../mutant.ts";

export const lateMutants: readonly SimMutant[] = [
  {
    oracle: "one-cluster-at-a-time",
    promise: "E1",
    breaks: "a cluster counts as left while a copy may be on its way to it",
    file: "packages/controllers/src/execution/member-writes.ts",
    find: "this.#late.lost();",
    replace: "this.#late.silent();",
    caughtIn: ["arrives-after-it-was-given-up"],
  },
];
