/** Which seeded bugs the CI puts in. */
import { describe, expect, it } from "vitest";
import { CI_COUNT, chooseForCommit } from "./choose.ts";
import type { SimMutant } from "./mutant.ts";
import { simMutants } from "./mutants.ts";

const mutants = Array.from({ length: 100 }, (_, i): SimMutant => {
  const breaks = `bug ${i}`;
  return {
    oracle: "o",
    promise: "A1",
    breaks,
    file: `${i}.ts`,
    symbol: "x",
    replace: "",
    caughtIn: [],
  };
});
const none = new Set<string>();

describe("the bugs of a commit", () => {
  it("are ten, the same ones every time", () => {
    const chosen = chooseForCommit(mutants, "abc", none);
    expect(chosen).toHaveLength(CI_COUNT);
    expect(chooseForCommit(mutants, "abc", none)).toEqual(chosen);
  });

  it("are all of them over many commits", () => {
    const seen = new Set<SimMutant>();
    for (let commit = 0; commit < 200; commit++)
      for (const mutant of chooseForCommit(mutants, `commit ${commit}`, none)) seen.add(mutant);
    expect(seen.size).toBe(mutants.length);
  });

  it("include those whose file has changed", () => {
    const changed = new Set(mutants.slice(0, 50).map(({ file }) => file));
    const chosen = chooseForCommit(mutants, "abc", changed);
    expect(chosen.filter(({ file }) => changed.has(file))).toHaveLength(50);
  });

  it.each([
    ["all of them", "packages/sim/src/oracles/reading.ts", 100],
    ["all of them", "packages/sim/corpus/story.json", 100],
    ["all of them", "tools/seeding/seed.ts", 100],
    ["ten", "packages/sim/src/oracles/reading.test.ts", CI_COUNT],
    ["ten", "packages/sim/TRACK_RECORD.md", CI_COUNT],
  ])("are %s when %s has changed", (_, file, count) => {
    expect(chooseForCommit(mutants, "abc", new Set([file]))).toHaveLength(count);
  });
});

it("no two seeded bugs for one oracle are called the same", () => {
  const names = simMutants.map(({ oracle, breaks }) => `${oracle}: ${breaks}`);
  expect(new Set(names).size).toBe(names.length);
});
