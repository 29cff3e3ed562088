import { describe, expect, it } from "vitest";
import { idBase, nameCollision, nameProblem, podsOf, replicaList } from "./names.ts";

describe("names", () => {
  it("the identities of the seed's example, name for name", () => {
    const shares = new Map([
      ["c2", 4],
      ["c1", 4],
      ["c3", 3],
    ]);
    expect(replicaList(podsOf("store", { shares }))).toBe(
      "store-c1-0, store-c1-1, store-c1-2, store-c1-3, store-c2-0, store-c2-1, store-c2-2, store-c2-3, store-c3-0, store-c3-1, store-c3-2",
    );
  });

  it.each([
    ["52 characters", "s".repeat(26), "c".repeat(25), undefined],
    ["53 characters", "s".repeat(27), "c".repeat(25), "53 characters"],
    ["a dot", "store", "eu.west", "no DNS label"],
    ["a digit first", "1store", "c1", "no DNS label"],
  ])("%s", (_what, set, cluster, problem) => {
    const found = nameProblem(set, cluster);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });

  it.each([
    ["the example of D15", ["a-b", "a"], ["c", "b-c"], true],
    ["other clusters", ["a-b", "a"], ["c", "d"], false],
    ["one set alone never collides", ["a"], ["b", "b-c", "c"], false],
    ["a set that is named twice is one set", ["a", "a"], ["b"], false],
  ])("collision: %s", (_what, sets, clusters, collides) => {
    expect(nameCollision(sets, clusters) !== undefined).toBe(collides);
  });

  it("unique integers of two clusters never meet", () => {
    const numbers = new Map([
      ["c1", 1],
      ["c2", 2],
    ]);
    expect([idBase({ numbers }, "c1"), idBase({ numbers }, "c2")]).toEqual([10_000, 20_000]);
    expect(idBase({ numbers }, "c3")).toBeUndefined();
  });
});
