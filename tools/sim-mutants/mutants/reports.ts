/** Seeded bugs for the oracles of what members report, and of members that lie. */
import type { SimMutant } from "../mutant.ts";

export const reportsMutants: readonly SimMutant[] = [
  {
    oracle: "reports-are-true",
    promise: "H5",
    breaks: "one ready replica less is shown",
    file: "packages/core/src/propagation/interpretation/statuses.ts",
    symbol: "reflectWorkload",
    replace: `(...all) => {
      const { readyReplicas, ...reflected } = original(...all);
      return readyReplicas === undefined
        ? reflected
        : { ...reflected, readyReplicas: readyReplicas - 1 };
    }`,
    caughtIn: ["propagate"],
  },
  {
    oracle: "reports-are-true",
    promise: "H5",
    breaks: "who was told wrong versions never lists again",
    file: "packages/kit/src/informer.ts",
    symbol: "Informer.#isTooEarlyToBelieve",
    replace: "() => true",
    caughtIn: ["liar-with-versions-of-its-own"],
  },
  {
    oracle: "reports-are-bounded",
    promise: "H8",
    breaks: "statuses of any size are kept",
    file: "packages/core/src/propagation/observing/bounds.ts",
    condition: "too-large",
    replace: "false",
    caughtIn: ["liar-with-much-to-say"],
  },
  {
    oracle: "reports-come-at-a-steady-pace",
    promise: "H8",
    breaks: "a copy that flaps is written about each time",
    file: "packages/core/src/propagation/observing/work-status.ts",
    symbol: "onlyGotBetter",
    replace: "() => false",
    caughtIn: ["liar-that-never-stops"],
  },
  {
    oracle: "reports-come-at-a-steady-pace",
    promise: "H8",
    breaks: "what another plane removes is made again at once",
    file: "packages/controllers/src/propagation/binding/create-binding-controller.ts",
    condition: "makes-nothing",
    replace: 'command.kind !== "update"',
    caughtIn: ["two-leaders-one-has-an-older-result"],
  },
];
