/** Seeded bugs for the oracles of what members report, and of members that lie. */
import type { SimMutant } from "../mutant.ts";

export const reportsMutants: readonly SimMutant[] = [
  {
    oracle: "reports-are-true",
    promise: "H5",
    breaks: "one ready replica less is shown",
    file: "packages/core/src/propagation/interpretation/statuses.ts",
    find: "for (const name of counters.nonZero) setNonZero(reflected, name, countAt(status, name));",
    replace:
      'for (const name of counters.nonZero) setNonZero(reflected, name, countAt(status, name) - (name === "readyReplicas" ? 1 : 0));',
    caughtIn: ["propagate"],
  },
  {
    oracle: "reports-are-true",
    promise: "H5",
    breaks: "who was told wrong versions never lists again",
    file: "packages/kit/src/informer.ts",
    find: "return now - this.#olderSince < SET_UP_ANEW_MS;",
    replace: "return now >= this.#olderSince;",
    caughtIn: ["liar-with-versions-of-its-own"],
  },
  {
    oracle: "reports-are-bounded",
    promise: "H8",
    breaks: "statuses of any size are kept",
    file: "packages/core/src/propagation/observing/bounds.ts",
    find: "if (size > MAX_SIZE)",
    replace: "if (size > MAX_SIZE * 1000)",
    caughtIn: ["liar-with-much-to-say"],
  },
  {
    oracle: "reports-come-at-a-steady-pace",
    promise: "H8",
    breaks: "a copy that flaps is written about each time",
    file: "packages/core/src/propagation/observing/work-status.ts",
    find: "if ((onlyNumbers || onlyGotBetter(old, status)) && due > now)",
    replace: "if (onlyNumbers && due > now)",
    caughtIn: ["liar-that-never-stops"],
  },
  {
    oracle: "reports-come-at-a-steady-pace",
    promise: "H8",
    breaks: "what another plane removes is made again at once",
    file: "packages/controllers/src/propagation/binding/create-binding-controller.ts",
    find: 'if (command.kind !== "create" && command.kind !== "update") return true;',
    replace: 'if (command.kind !== "update") return true;',
    caughtIn: ["two-leaders-make-and-remove"],
  },
];
