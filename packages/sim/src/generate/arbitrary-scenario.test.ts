/** What is drawn: everything that the language has, within the size. */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { FEDERATED, LARGE, PULL, SMALL, TRAFFIC } from "./arbitrary-scenario.ts";
import { scenarioOf } from "./search.ts";

describe("random scenarios", () => {
  it("have every kind of step and fault, one time or another", () => {
    const drawn = new Set<string>();
    for (let seed = 1; seed <= 400; seed++) {
      const { steps, faults } = scenarioOf(seed);
      for (const step of steps) drawn.add(step.do);
      for (const fault of faults) drawn.add(fault.fault);
    }
    expect([...drawn].toSorted()).toEqual([...STEPS, ...FAULTS].toSorted());
  });

  it("are of the size that was asked for, with times in order", () => {
    for (const size of [SMALL, LARGE])
      for (let seed = 1; seed <= 20; seed++) {
        const { steps, members, faults } = scenarioOf(seed, size);
        const names = new Set(steps.flatMap((step) => (step.do === "workload" ? [step.name] : [])));
        expect(names.size).toBeGreaterThanOrEqual(size.first[0]);
        expect(names.size).toBeLessThanOrEqual(size.workloads);
        expect(members).toEqual(size.members);
        // Pods that start late in a failure come on top.
        expect(faults.length).toBeLessThanOrEqual(size.faults + size.members.length);
        expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).toSorted(ascending));
      }
  });

  it("are the same worlds when some members pull, with faults of agents besides", () => {
    const drawn = new Set<string>();
    for (let seed = 1; seed <= 200; seed++) {
      const { pull = [], faults, ...world } = scenarioOf(seed, PULL);
      const { faults: former, ...same } = scenarioOf(seed);
      expect(pull.length).toBeGreaterThan(0);
      expect(world).toEqual(same);
      expect(faults.slice(0, former.length)).toEqual(former);
      for (const fault of faults.slice(former.length)) {
        drawn.add(fault.fault);
        const of =
          "member" in fault ? fault.member : "link" in fault ? fault.link.split("/")[0] : "";
        expect(pull).toContain(of);
      }
    }
    expect([...drawn].toSorted()).toEqual([...AGENT_FAULTS, "link", "reset"].toSorted());
  });

  it("are the same worlds with traffic, and with what happens to it besides", () => {
    const drawn = new Set<string>();
    for (let seed = 1; seed <= 200; seed++) {
      const { balancers = [], detectors = [], ...whole } = scenarioOf(seed, TRAFFIC);
      const { steps, faults, ...world } = whole;
      const { steps: formerSteps, faults: former, ...same } = scenarioOf(seed);
      expect(world).toEqual(same);
      expect(faults.slice(0, former.length)).toEqual(former);
      expect(formerSteps.every((step) => steps.some((one) => isDeepStrictEqual(one, step)))).toBe(
        true,
      );
      for (const name of [...balancers, ...detectors]) drawn.add(name);
      for (const step of steps) drawn.add(step.do);
      for (const fault of faults.slice(former.length)) drawn.add(fault.fault);
    }
    expect([...drawn]).toEqual(expect.arrayContaining(TRAFFIC_ITEMS));
  });

  it("are the same worlds with federated sets, and with what people do with them besides", () => {
    const drawn = new Set<string>();
    for (let seed = 1; seed <= 100; seed++) {
      const { names, steps, faults, ...world } = scenarioOf(seed, FEDERATED);
      const { steps: formerSteps, faults: former, ...same } = scenarioOf(seed);
      expect([names, world]).toEqual([true, same]);
      expect(faults.slice(0, former.length)).toEqual(former);
      expect(formerSteps.every((step) => steps.some((one) => isDeepStrictEqual(one, step)))).toBe(
        true,
      );
      for (const step of steps) drawn.add(step.do);
      for (const fault of faults.slice(former.length)) drawn.add(fault.fault);
    }
    expect([...drawn]).toEqual(
      expect.arrayContaining(["federated", "forget", "let-go", "unjoin", "link"]),
    );
  });

  it("end with evacuations that go on, and with the gate as it was", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { steps } = scenarioOf(seed);
      expect(steps.findLast((step) => step.do === "gate")?.on ?? true).toBe(true);
      expect(steps.findLast((step) => step.do === "pause-evacuations")?.on ?? false).toBe(false);
    }
  });
});

const ascending = (a: number, b: number): number => a - b;

const STEPS = [
  "workload",
  "policy",
  "taint-policy",
  "override",
  "delete",
  "namespace",
  "taint",
  "join",
  "unjoin",
  "fence",
  "pause-evacuations",
  "gate",
  "place-by-hand",
  "drift",
];
const TRAFFIC_ITEMS = [
  "lb1",
  "lb2",
  "remedy",
  "ingress",
  "report",
  "actions-by-hand",
  "release-blocks",
  "balancer-crash",
  "m1/a",
  "m1/b",
  "names-fail",
  "detector-crash",
  "detector-pause",
  "link",
];
const AGENT_FAULTS = ["agent-crash", "agent-pause", "agent-clock", "agent-forges"];
const FAULTS = [
  "crash",
  "crash-at-write",
  "lost-answer-at-write",
  "pause",
  "two-leaders",
  "upgrade",
  "link",
  "reset",
  "flap",
  "mass-failure",
  "member-gone",
  "member-crash",
  "member-restored",
  "foreign-object",
  "lies",
  "stuck-finalizer",
  "unauthorized",
  "token-rotated",
  "member-clock",
  "pods",
  "disk-full",
  "disk-fail",
  "clock-skew",
  "clock-step",
];
