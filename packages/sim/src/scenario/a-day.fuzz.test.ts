/** A day of a cluster that comes and goes: what the plane writes down of it does not grow (K10). */
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, it } from "vitest";
import { taintPolicy } from "./golden-failover.ts";
import { runScenario } from "./run-scenario.ts";
import type { Scenario, Step } from "./scenario.ts";

const DAY = 24 * 3600;

const workload = (name: string, ...clusters: readonly string[]): readonly Step[] => [
  { at: 0, do: "workload", kind: "Deployment", name, replicas: 1 },
  {
    at: 0,
    do: "policy",
    name,
    selects: [{ kind: "Deployment", name }],
    oneCopy: true,
    clusters,
  },
];

const scenario: Scenario = {
  name: "a day of flapping",
  seed: 1,
  members: ["m1", "m2", "m3"],
  failover: true,
  steps: [...workload("stays", "m1"), ...workload("goes", "m1", "m2"), taintPolicy(60, 60)],
  faults: [
    { fault: "flap", member: "m1", from: 20, until: DAY, downFor: 300, upFor: 300 },
    { fault: "flap", member: "m2", from: 320, until: DAY, downFor: 240, upFor: 360 },
  ],
};

it("ends with everything as it should be, and no more written down than after an hour", async () => {
  const outcome = await runScenario({ drain: drainPromises }, scenario);
  expect(outcome.violations).toEqual([]);
  expect(outcome.simulatedMs).toBeGreaterThan(DAY * 1000);
  const evacuations = [...outcome.ending.keys()].filter((key) =>
    key.includes("lifeboat.dev/evacuations "),
  );
  expect(evacuations.length).toBeGreaterThan(10);
  expect(evacuations.length).toBeLessThanOrEqual(2 * 12);
}, 600_000);
