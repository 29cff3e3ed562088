/** The whole net: see net.test.ts. */
import { describe, it } from "vitest";
import { corpusFiles, corpusKeeps, randomKeeps, slowDiskKeeps } from "./net.suite.ts";

const SEEDS = Array.from({ length: 40 }, (_, i) => i + 4);

describe("every promise holds", () => {
  it.each(corpusFiles)("in a scenario that once broke one: %s", (file) => corpusKeeps(file));

  it.each(SEEDS)("in the random scenario %i", randomKeeps);

  it.each([5, 10, 15, 20, 30, 35])(
    "when a slow disk dies with the plane at write %i",
    slowDiskKeeps,
  );
});
