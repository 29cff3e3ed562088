/** Each fault does what it says, and is over when it is. */
import { drainPromises } from "@lifeboat/base/adapters";
import { wellKnown } from "@lifeboat/core";
import { describe, expect, it } from "vitest";
import { createSimulation, type Simulation } from "../simulation.ts";
import { arrangeFault, healAll } from "./faults.ts";
import { joinedImages } from "./joined-images.ts";
import { type Fault, longestWindowOf, type Step } from "./scenario.ts";
import { takeStep } from "./steps.ts";

const ports = { drain: drainPromises };
const members = ["m1", "m2"];

async function world(): Promise<Simulation> {
  const images = await joinedImages(ports, members);
  const simulation = await createSimulation(ports, { seed: 1, members, images });
  await simulation.advance("15s");
  return simulation;
}

const of = { kind: "ConfigMap", name: "settings" } as const;
const propagated: readonly Step[] = [
  { at: 0, do: "workload", ...of },
  { at: 0, do: "policy", name: "p", selects: [of], clusters: ["m1"] },
];

function arrange(simulation: Simulation, ...faults: readonly Fault[]): void {
  for (const fault of faults) arrangeFault(simulation, fault, () => undefined);
}

function take(simulation: Simulation, steps: readonly Step[]): void {
  for (const step of steps) takeStep(simulation, step);
}

/** The copy in m1; undefined: there is none. */
function copy({ ledger }: Simulation): { readonly data?: object } | undefined {
  return ledger.find("m1", "/configmaps", "default/settings")?.object as never;
}

function clusterText({ ledger }: Simulation, name: string): string {
  return JSON.stringify(ledger.find("plane", "cluster.karmada.io/clusters", `/${name}`)?.object);
}

const writesOf = ({ ledger }: Simulation): number =>
  ledger.rows.filter(({ server }) => server === "plane").length;

describe("a fault", { timeout: 60_000 }, () => {
  it("of the process: the plane stands still, and does later what it did not do", async () => {
    const simulation = await world();
    arrange(simulation, { fault: "pause", at: 0, lasts: 60 });
    await simulation.settle();
    take(simulation, propagated);
    const before = writesOf(simulation);
    await simulation.advance("59s");
    expect(writesOf(simulation)).toBe(before);
    await simulation.advance("5s");
    expect(copy(simulation)).toBeDefined();
    expect(simulation.plane.lives).toBe(1);
  });

  it("of two leaders: both work, and the second is gone afterwards", async () => {
    const simulation = await world();
    const writers = new Set<string>();
    simulation.writes.onWrite(({ from }) => writers.add(from));
    arrange(simulation, { fault: "two-leaders", from: 0, until: 60 });
    await simulation.advance("10s");
    take(simulation, propagated);
    await simulation.advance("10s");
    expect([...writers].toSorted()).toEqual(["plane#1", "second#1"]);
    expect(copy(simulation)).toBeDefined();
    await simulation.advance("60s");
    writers.clear();
    take(simulation, [{ at: 0, do: "workload", ...of, version: 2 }]);
    await simulation.advance("10s");
    expect([...writers]).toEqual(["plane#1"]);
  });

  it.each(["older", "newer"] as const)("of data of an %s version: it is used", async (data) => {
    const simulation = await world();
    take(simulation, propagated);
    await simulation.advance("5s");
    arrange(simulation, { fault: "upgrade", at: 0, downFor: 1, data });
    await simulation.advance("5s");
    take(simulation, [{ at: 0, do: "workload", ...of, version: 2 }]);
    await simulation.advance("10s");
    expect(copy(simulation)?.data).toEqual({ version: "2" });
    expect(simulation.planeDisk.damage).toEqual([]);
  });

  it("of a member's backup: what came later is gone, and comes again", async () => {
    const simulation = await world();
    arrange(simulation, {
      fault: "member-restored",
      member: "m1",
      backupAt: 0,
      at: 20,
      downFor: 5,
    });
    await simulation.advance("1s");
    take(simulation, propagated);
    await simulation.advance("18s");
    expect(copy(simulation)).toBeDefined();
    await simulation.advance("2s");
    expect(copy(simulation)).toBeUndefined();
    await simulation.advance("120s");
    expect(copy(simulation)).toBeDefined();
  });

  it("of a foreign object: it keeps its place until its owner takes it away", async () => {
    const simulation = await world();
    arrange(simulation, { fault: "foreign-object", member: "m1", ...of, from: 0, until: 30 });
    await simulation.settle();
    take(simulation, propagated);
    await simulation.advance("25s");
    expect(copy(simulation)?.data).toEqual({ version: "9" });
    expect(JSON.stringify(copy(simulation))).not.toContain(wellKnown.MANAGED);
    await simulation.advance("10m");
    expect(copy(simulation)?.data).toEqual({ version: "1" });
  });

  it.each(["quota", "webhook", "forbidden", "full"] as const)(
    "of refused writes (%s): nothing arrives until it is over",
    async (refuse) => {
      const simulation = await world();
      arrange(simulation, {
        fault: "link",
        link: "m1",
        from: 0,
        until: 30,
        conditions: { refuse },
      });
      await simulation.settle();
      take(simulation, propagated);
      await simulation.advance("29s");
      expect(copy(simulation)).toBeUndefined();
      await simulation.advance("10m");
      expect(copy(simulation)).toBeDefined();
    },
  );

  it("of missed events: what was missed is found by listing again", async () => {
    const simulation = await world();
    const conditions = { missEvents: 1 };
    arrange(simulation, { fault: "link", link: "plane", from: 0, until: 60, conditions });
    await simulation.settle();
    take(simulation, propagated);
    await simulation.advance("1s");
    expect(simulation.planeLink.injected).toBeGreaterThan(0);
    await simulation.advance("3m");
    expect(copy(simulation)).toBeDefined();
  });

  it("of a flapping member: it is out of reach and back, in turns", async () => {
    const simulation = await world();
    const { link } = simulation.member("m1");
    const seen: boolean[] = [];
    arrange(simulation, {
      fault: "flap",
      member: "m1",
      from: 0,
      until: 30,
      downFor: 10,
      upFor: 10,
    });
    for (let second = 0; second < 3; second++) {
      await simulation.advance(second === 0 ? 5000 : 10_000);
      seen.push(link.conditions?.down === true);
    }
    expect(seen).toEqual([true, false, true]);
    await simulation.advance("5s");
    expect(link.conditions).toBeUndefined();
  });

  it("of a member that is gone: until everything is healed", async () => {
    const simulation = await world();
    arrange(simulation, { fault: "member-gone", member: "m1", at: 0 });
    await simulation.advance("2m");
    expect(clusterText(simulation, "m1")).not.toContain('"reason":"ClusterReady"');
    healAll(simulation);
    await simulation.advance("2m");
    expect(clusterText(simulation, "m1")).toContain('"reason":"ClusterReady"');
  });
});

describe("the longest wait of a scenario", () => {
  it.each<[string, readonly (readonly [string, number])[], number]>([
    ["how far a clock is set back", [["m1", -600_000]], 600],
    ["nothing for one that is set forward", [["m1", 600_000]], 0],
    [
      "the sum for one that is set back twice",
      [
        ["m1", -600_000],
        ["m1", -30_000],
      ],
      630,
    ],
    [
      "the longer for two",
      [
        ["m1", -600_000],
        ["m2", -30_000],
      ],
      600,
    ],
  ])("counts %s", (_what, clocks, seconds) => {
    const faults = clocks.map(([member, stepMs]): Fault => ({
      fault: "member-clock",
      member,
      at: 0,
      stepMs,
    }));
    const scenario = { name: "", seed: 1, members, threshold: 0, steps: [], faults };
    expect(longestWindowOf(scenario)).toBe(seconds);
  });

  const slow = { delayMs: [500, 5000] } as const;
  it.each<[string, Fault, number]>([
    ["is heard in time by a plane that stood still", { fault: "pause", at: 0, lasts: 21 }, 240],
    ["is heard late by a plane that stood still", { fault: "pause", at: 20, lasts: 5 }, 660],
    ["answers slowly", { fault: "link", link: "m1", conditions: slow, from: 0, until: 60 }, 660],
    ["answered slowly", { fault: "link", link: "m1", conditions: slow, from: 0, until: 12 }, 660],
    ["was slow before", { fault: "link", link: "m1", conditions: slow, from: 0, until: 11 }, 240],
    [
      "misses events",
      { fault: "link", link: "m1", conditions: { missEvents: 1 }, from: 0, until: 60 },
      240,
    ],
    [
      "is not the slow one",
      { fault: "link", link: "m2", conditions: slow, from: 0, until: 60 },
      240,
    ],
  ])("counts how long a liar is believed that %s", (_what, other, seconds) => {
    const liar: Fault = { fault: "lies", member: "m1", how: "empty", from: 19, until: 22 };
    const faults = [other, liar];
    const scenario = { name: "", seed: 1, members, threshold: 0, steps: [], faults };
    expect(longestWindowOf(scenario)).toBe(seconds);
  });
});
