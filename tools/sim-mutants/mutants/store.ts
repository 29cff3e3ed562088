/** Seeded bugs for the oracles of group K: the store. */
import type { SimMutant } from "../mutant.ts";

export const storeMutants: readonly SimMutant[] = [
  {
    oracle: "deletion-is-final",
    promise: "K4",
    breaks: "an object with finalizers is removed at once",
    file: "packages/apiserver/src/verbs/deletion.ts",
    find: "const held = finalizers.length > 0 || strategy.isHeld?.(object) === true;",
    replace: "const held = strategy.isHeld?.(object) === true;",
    caughtIn: ["delete"],
  },
  {
    oracle: "acknowledged-writes-survive",
    promise: "K6",
    breaks: "a write is answered before it is on disk",
    file: "packages/apiserver/src/store/create-store.ts",
    find: "return write.durable;",
    replace: "return entry;",
    caughtIn: ["slow-disk"],
  },
  {
    oracle: "watches-tell-everything",
    promise: "K2",
    breaks: "a watch that resumes leaves one change out",
    file: "packages/apiserver/src/store/create-store.ts",
    find: "const first = table.history.indexAfter(from);",
    replace: "const first = table.history.indexAfter(from) + 1;",
    caughtIn: [
      { scenario: "propagate", write: 9, by: "crash after" },
      { scenario: "propagate", write: 46, by: "crash after" },
    ],
  },
];
