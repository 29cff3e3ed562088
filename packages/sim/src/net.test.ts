/**
 * The net: a fixed set of scenarios in which every promise must hold. Seeded bugs (tools/sim-mutants) show
 * that each oracle catches something here. The whole exhaustive tier is in scenario/every-write-1.fuzz.test.ts and its twin.
 */
import { readdirSync, readFileSync } from "node:fs";
import { drainPromises } from "@lifeboat/base/adapters";
import { describe, expect, it } from "vitest";
import { scenarioOf } from "./generate/search.ts";
import { expectSameEnd } from "./scenario/every-write.suite.ts";
import { goldenScenarios } from "./scenario/golden.ts";
import { type Outcome, runScenario } from "./scenario/run-scenario.ts";
import type { Scenario } from "./scenario/scenario.ts";

const ports = { drain: drainPromises };
const corpus = new URL("../corpus/", import.meta.url);
/** Against runs that hang, not against slow machines. */
const LIMIT_MS = 300_000;

async function expectKept(scenario: Scenario): Promise<Outcome> {
  const outcome = await runScenario(ports, scenario);
  const broken = outcome.violations.map(({ oracle, says }) => `${oracle}: ${says}`);
  expect(broken, `${scenario.name}: ${broken.join("; ")}`).toEqual([]);
  return outcome;
}

describe("every promise holds", () => {
  it.each(goldenScenarios.map((scenario) => [scenario.name, scenario] as const))(
    "undisturbed, and the world rests then: %s",
    async (_, scenario) => {
      expect((await expectKept(scenario)).refused).toEqual([]);
    },
    LIMIT_MS,
  );

  it.each(readdirSync(corpus))(
    "in a scenario that once broke one: %s",
    async (file) => {
      await expectKept(JSON.parse(readFileSync(new URL(file, corpus), "utf8")) as Scenario);
    },
    LIMIT_MS,
  );

  it.each(Array.from({ length: 15 }, (_, i) => i + 1))(
    "in the random scenario %i",
    async (seed) => {
      await expectKept(scenarioOf(seed));
    },
    LIMIT_MS,
  );

  it(
    "when a slow disk dies with the plane",
    async () => {
      const [propagate] = goldenScenarios;
      if (propagate === undefined) throw new Error("there is a first golden scenario");
      for (const write of [5, 15, 25, 35])
        await expectKept({
          ...propagate,
          syncDelayMs: 5,
          faults: [{ fault: "crash-at-write", write, moment: "after", downFor: 2 }],
        });
    },
    LIMIT_MS,
  );
});

describe("a control plane that dies or loses an answer at one of its writes", () => {
  it.each(goldenScenarios.map(({ name }) => name))(
    "ends as if nothing had happened: %s",
    async (name) => expectSameEnd(name, { step: 61, first: 9 }),
    LIMIT_MS,
  );
});
