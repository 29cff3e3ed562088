/** A few random histories; many are in the fuzz test. */
import fc from "fast-check";
import { it } from "vitest";
import { history, judgeHistory } from "./evacuation-history.suite.ts";

it(
  "keeps rate, record and queue right whatever happens (C1, C6, C7, C8)",
  { timeout: 120_000 },
  async () => {
    await fc.assert(fc.asyncProperty(history, judgeHistory), { numRuns: 8, seed: 5 });
  },
);
