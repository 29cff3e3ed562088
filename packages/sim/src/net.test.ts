/**
 * The net: a fixed set of scenarios in which every promise must hold. Seeded bugs (tools/sim-mutants) show that each oracle catches
 * something here. What is whole is in fuzz tests: net.fuzz.test.ts, and faults at every write in scenario/every-write-1.fuzz.test.ts
 * and its twin. Scenarios that once broke a promise are in corpus.test.ts, so that both run at the same time.
 */
import { describe, it } from "vitest";
import { randomKeeps, slowDiskKeeps } from "./net.suite.ts";
import type { Disturbance } from "./scenario/every-write.ts";
import { expectSameEnd } from "./scenario/every-write.suite.ts";
import { goldenScenarios } from "./scenario/golden.ts";

const WAYS: readonly (readonly Disturbance[])[] = [
  ["crash after"],
  ["lost answer"],
  ["crash before", "crash after"],
];

describe("every promise holds", () => {
  // Each story has another write, so that deaths and lost answers meet all parts of the product.
  it.each(goldenScenarios.map(({ name }, i) => [name, 5 + ((i * 7) % 30), i] as const))(
    "in the story %s, undisturbed and the same with a fault at write %i",
    (name, first, i) => expectSameEnd(name, { first, step: Infinity, by: WAYS[i % 3] ?? [] }),
  );

  it.each([1, 2, 3])("in the random scenario %i", randomKeeps);

  it.each([25])("when a slow disk dies with the plane at write %i", slowDiskKeeps);
});
