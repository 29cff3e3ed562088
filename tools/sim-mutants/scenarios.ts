/** Finds the scenarios that seeded bugs are caught in. */
import { readdirSync, readFileSync } from "node:fs";
import { goldenScenarios, type Scenario } from "@lifeboat/sim";

const FOLDERS = ["./scenarios/", "../../packages/sim/corpus/"];

/** The scenario of this name: a golden one, one of scenarios/ beside this file, or one of the corpus. */
export function findScenario(name: string): Scenario {
  const golden = goldenScenarios.find((scenario) => scenario.name === name);
  if (golden !== undefined) return golden;
  for (const folder of FOLDERS) {
    const url = new URL(folder, import.meta.url);
    if (!readdirSync(url).includes(`${name}.json`)) continue;
    const scenario = JSON.parse(readFileSync(new URL(`${name}.json`, url), "utf8")) as Scenario;
    return { ...scenario, name };
  }
  throw new Error(`no scenario is called ${name}`);
}
