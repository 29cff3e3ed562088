/** Seeded bugs about copies that nobody knows of: they come late, or come back. */
import type { SimMutant } from "../mutant.ts";

export const lateMutants: readonly SimMutant[] = [
  {
    oracle: "gone-means-gone",
    promise: "H4",
    breaks: "a copy is made again without asking whether its Work is still there",
    file: "packages/controllers/src/member-side/execution/keep-work.ts",
    symbol: "isStillMeant",
    replace: "async () => true",
    caughtIn: ["two-leaders-one-never-said-so"],
  },
  {
    oracle: "one-cluster-at-a-time",
    promise: "E1",
    breaks: "a cluster counts as left while a copy may be on its way to it",
    file: "packages/controllers/src/member-side/execution/member-writes.ts",
    symbol: "MemberWrites.#failed",
    replace: "(error) => original(error)",
    caughtIn: ["arrives-after-it-was-given-up"],
  },
  {
    oracle: "members-hold-what-works-say",
    promise: "H5",
    breaks: "what a backup brings back stays",
    file: "packages/controllers/src/member-side/execution/cluster-execution.ts",
    symbol: "WorksOfCluster.#lookForStray",
    replace: "async () => done",
    caughtIn: ["restored-copy-goes"],
  },
];
