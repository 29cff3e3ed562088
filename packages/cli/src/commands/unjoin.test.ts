/** What is still on a cluster is said in one line. */
import { describe, expect, it } from "vitest";
import { describeLoad } from "./unjoin.ts";

describe("describeLoad", () => {
  it.each([
    [{ bindings: 0, examples: [], works: 0 }, "nothing is on cluster(m1)"],
    [
      { bindings: 1, examples: ["default/web"], works: 1 },
      "still on cluster(m1): 1 binding (default/web) and 1 Work",
    ],
    [
      { bindings: 4, examples: ["a/a", "b/b", "c/c"], works: 9 },
      "still on cluster(m1): 4 bindings (a/a, b/b, c/c, …) and 9 Works",
    ],
    [{ bindings: 1, examples: ["held"], works: 0 }, "still on cluster(m1): 1 binding (held)"],
    [
      { bindings: 0, examples: [], works: 1 },
      "no workload is on cluster(m1); 1 Work for namespaces and the like will go",
    ],
  ])("%o", (load, line) => {
    expect(describeLoad("m1", { ...load, shares: [] })).toBe(line);
  });
});
