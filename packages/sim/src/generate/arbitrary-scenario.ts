/**
 * Random scenarios, by fast-check, so that a failing one shrinks: fewer steps, fewer faults, simpler times.
 *
 * Swarm: which kinds of steps and faults a scenario may have is drawn first, so that some runs have many of one kind and none
 * of another.
 */
import fc from "fast-check";
import type { Scenario, Step } from "../scenario/scenario.ts";
import { arbitraryFaults } from "./arbitrary-faults.ts";
import { arbitraryPlacements, arbitrarySteps } from "./arbitrary-steps.ts";

export interface Size {
  readonly members: readonly string[];
  /** How many workloads there may be. */
  readonly workloads: number;
  /** How many there are at the beginning, at least and at most. */
  readonly first: readonly [least: number, most: number];
  readonly steps: number;
  readonly faults: number;
}

export const SMALL: Size = {
  members: ["m1", "m2", "m3"],
  workloads: 6,
  first: [1, 3],
  steps: 10,
  faults: 4,
};

export const LARGE: Size = {
  members: ["m1", "m2", "m3", "m4", "m5"],
  workloads: 20,
  first: [20, 20],
  steps: 30,
  faults: 8,
};

export function arbitraryScenario(size: Size): fc.Arbitrary<Scenario> {
  const { members } = size;
  return fc
    .record({
      seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      syncDelayMs: fc.constantFrom(0, 0, 1, 5),
      options: arbitraryOptions,
      first: arbitraryPlacements(size),
      later: arbitrarySteps(size),
      faults: arbitraryFaults(size),
    })
    .map(({ seed, syncDelayMs, options, first, later, faults }) => ({
      name: `random ${seed}`,
      seed,
      members,
      syncDelayMs,
      ...options,
      // A gate that is off stays off.
      steps: [...first, ...later]
        .filter((step) => step.do !== "gate" || options.failover)
        .toSorted(byTime),
      faults,
    }));
}

type Options = Pick<Scenario, "statefulInjection" | "purgeMode" | "plugins" | "threshold"> & {
  readonly failover: boolean;
};

/** How the plane is started; what is not said is as the product has it. */
const arbitraryOptions: fc.Arbitrary<Options> = fc.record(
  {
    failover: fc.constantFrom(false, true, true),
    statefulInjection: fc.boolean(),
    purgeMode: fc.constantFrom("Directly" as const, "Gracefully" as const),
    plugins: fc.constant(["ResourceHealth"]),
    threshold: fc.constantFrom(10, 30),
  },
  { requiredKeys: ["failover"] },
);

function byTime(a: Step, b: Step): number {
  return a.at - b.at;
}
