/** Every seeded fault and every seeded bug fits into the product as it is now. Running them takes minutes; this takes seconds. */
import { describe, expect, it } from "vitest";
import { listFiles, readText } from "../repository.ts";
import { seededFaults } from "../seeded-faults/faults.ts";
import { simMutants } from "../sim-mutants/mutants.ts";
import { undeclaredNames } from "./names.ts";
import { markersOf, putIn, type Seed } from "./seed.ts";

const seeds: readonly (Seed & { readonly breaks: string })[] = [...seededFaults, ...simMutants];
const isProduct = (file: string): boolean =>
  /^(packages\/[^/]+|testkit)\/src\/.*\.ts$/.test(file) && !/\.(test|suite|bench)\.ts$/.test(file);
const product = listFiles().filter(isProduct);

/** Every word of the product: a member that no file has by that name was renamed. */
const words = new Set(product.flatMap((file) => readText(file).match(/[\w$]+/g) ?? []));

describe.each(seeds.map((seed) => [seed.breaks, seed] as const))("%s", (_, seed) => {
  it("fits, and uses only names that are there", () => {
    const source = readText(seed.file);
    const changed = putIn(seed, source);
    expect(changed).not.toBe(source);
    // Otherwise a ReferenceError or a TypeError would be taken for a test that notices the fault.
    expect(undeclaredNames(seed.file, changed)).toEqual([]);
    const members = [...seed.replace.matchAll(/(?<!\.)\.#?([A-Za-z]\w*)/g)].map(
      ([, name = ""]) => name,
    );
    expect(members.filter((name) => !words.has(name))).toEqual([]);
  });
});

it("every marker in the product is of a seed, and its name is there once in its file", () => {
  const used = new Set(
    seeds.flatMap((seed) => {
      if ("symbol" in seed) return [];
      return `${seed.file}: ${"marked" in seed ? seed.marked : seed.condition}`;
    }),
  );
  const there = product
    .filter((file) => readText(file).includes("// seed: "))
    .flatMap((file) => markersOf(file, readText(file)).map((name) => `${file}: ${name}`));
  expect(there.toSorted()).toEqual([...used].toSorted());
});
