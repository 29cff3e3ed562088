import fc from "fast-check";
import { it } from "vitest";
import { history, judgeHistory } from "./evacuation-history.suite.ts";

it(
  "keeps rate, record and queue right in many random histories",
  { timeout: 3_600_000 },
  async () => {
    await fc.assert(fc.asyncProperty(history, judgeHistory), { numRuns: 40 });
  },
);
