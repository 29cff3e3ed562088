/**
 * Random scenarios, by fast-check, so that a failing one shrinks: fewer steps, fewer faults, simpler times.
 *
 * Swarm: which kinds of steps and faults a scenario may have is drawn first, so that some runs have many of one kind and none
 * of another. In half of them a cluster fails in the middle, new copies start slowly, and faults gather around that: by chance
 * alone few would meet a failover on its way.
 */
import fc from "fast-check";
import type { Fault, Scenario, Step } from "../scenario/scenario.ts";
import { arbitraryAgentFaults, arbitraryFaults } from "./arbitrary-faults.ts";
import { arbitraryPlacements, arbitrarySteps, someOf } from "./arbitrary-steps.ts";
import { withFederated } from "./arbitrary-federated.ts";
import { withTraffic } from "./arbitrary-traffic.ts";

export interface Size {
  readonly members: readonly string[];
  /** How many workloads there may be. */
  readonly workloads: number;
  /** How many there are at the beginning, at least and at most. */
  readonly first: readonly [least: number, most: number];
  readonly steps: number;
  readonly faults: number;
  /** Some members pull; what else happens is what happens without. */
  readonly pull?: boolean;
  /** There are Remedies, ingresses and load balancers; what else happens is what happens without. */
  readonly traffic?: boolean;
  /** There are federated StatefulSets and a DNS server; what else happens is what happens without. */
  readonly federated?: boolean;
}

export const SMALL: Size = {
  members: ["m1", "m2", "m3"],
  workloads: 6,
  first: [1, 3],
  steps: 10,
  faults: 4,
};

/** The same worlds, in which some members pull. */
export const PULL: Size = { ...SMALL, pull: true };

/** The same worlds, with Remedies, ingresses and load balancers. */
export const TRAFFIC: Size = { ...SMALL, traffic: true };

/** The same worlds, with federated StatefulSets and a DNS server. */
export const FEDERATED: Size = { ...SMALL, federated: true };

export const LARGE: Size = {
  members: ["m1", "m2", "m3", "m4", "m5"],
  workloads: 20,
  first: [20, 20],
  steps: 30,
  faults: 8,
};

export function arbitraryScenario(size: Size): fc.Arbitrary<Scenario> {
  // Drawn after everything else: a seed means the same world with and without members that pull, traffic, and federated sets.
  if (size.federated === true) return withFederated(arbitraryWorld(size), size);
  if (size.traffic === true) return withTraffic(arbitraryWorld(size), size);
  return size.pull === true ? withAgents(arbitraryWorld(size), size) : arbitraryWorld(size);
}

function withAgents(worlds: fc.Arbitrary<Scenario>, size: Size): fc.Arbitrary<Scenario> {
  return fc
    .record({ world: worlds, pull: someOf(size.members), trouble: arbitraryAgentFaults(size) })
    .map(({ world, pull, trouble }) => ({
      ...world,
      pull,
      faults: [...world.faults, ...trouble.filter((fault) => isOfAgent(fault, pull))],
    }));
}

function isOfAgent(fault: Fault, pull: readonly string[]): boolean {
  if ("member" in fault) return pull.includes(fault.member);
  return "link" in fault && pull.includes(fault.link.split("/", 1)[0] ?? "");
}

function arbitraryWorld(size: Size): fc.Arbitrary<Scenario> {
  const { members } = size;
  return fc
    .record({
      seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      syncDelayMs: fc.constantFrom(0, 0, 1, 5),
      options: arbitraryOptions,
      first: arbitraryPlacements(size),
      later: arbitrarySteps(size),
      faults: arbitraryFaults(size),
      failure: fc.option(arbitraryFailure(members)),
    })
    .map(({ seed, syncDelayMs, options, first, later, faults, failure }) => ({
      name: `random ${seed}`,
      seed,
      members,
      syncDelayMs,
      ...options,
      ...(failure !== null && { failover: true }),
      // A gate that is off stays off.
      steps: [...first, ...later, ...(failure === null ? [] : failure.steps)]
        .filter((step) => step.do !== "gate" || options.failover)
        .toSorted(byTime),
      faults:
        failure === null
          ? faults
          : [...failure.faults, ...faults.map((fault) => gathered(fault, failure.at))],
    }));
}

interface Failure {
  readonly at: number;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
}

/** A cluster is tainted, and elsewhere pods take long to become ready. */
function arbitraryFailure(members: readonly string[]): fc.Arbitrary<Failure> {
  return fc
    .record({
      at: fc.integer({ min: 10, max: 60 }),
      member: fc.constantFrom(...members),
      effect: fc.constantFrom("NoExecute" as const, "NoExecute" as const, "drain" as const),
      delayMs: fc.constantFrom(0, 5000, 20_000),
    })
    .map(({ at, member, effect, delayMs }) => ({
      at,
      steps: [{ at, do: "taint", member, effect, on: true }],
      faults: members
        .filter((other) => other !== member && delayMs > 0)
        .map((other) => ({
          fault: "pods",
          member: other,
          kind: "start-late",
          delayMs,
          from: at - 1,
          until: at + 60,
        })),
    }));
}

/** Faults begin within so many seconds of the failure. */
const AROUND = 30;

function gathered(fault: Fault, failedAt: number): Fault {
  const near = (time: number): number => failedAt - 2 + (time % AROUND);
  if (fault.fault === "member-restored") return fault;
  if ("from" in fault) {
    const from = near(fault.from);
    return { ...fault, from, until: from + fault.until - fault.from };
  }
  return "at" in fault ? { ...fault, at: near(fault.at) } : fault;
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
