/** Members that lie, hold back, refuse and have a clock of their own: what they may harm, and what not. */
import { drainPromises } from "@lifeboat/base/adapters";
import { describe, expect, it } from "vitest";
import { type Lie, lies } from "../network/lies.ts";
import { createSimulation, type Simulation } from "../simulation.ts";
import { arrangeFault } from "./faults.ts";
import { joinedImages } from "./joined-images.ts";
import { type Outcome, runScenario } from "./run-scenario.ts";
import type { Fault, Scenario, Step } from "./scenario.ts";
import { takeStep } from "./steps.ts";

const ports = { drain: drainPromises };
const WEB = { kind: "Deployment", name: "web" } as const;
const SETTINGS = { kind: "ConfigMap", name: "settings" } as const;

function scenario(name: string, faults: readonly Fault[], more: readonly Step[] = []): Scenario {
  const steps: readonly Step[] = [
    { at: 0, do: "workload", ...WEB, replicas: 2 },
    { at: 0, do: "workload", ...SETTINGS },
    { at: 0, do: "policy", name: "all", selects: [WEB, SETTINGS] },
    ...more,
  ];
  return { name, seed: 1, members: ["m1", "m2"], failover: true, steps, faults };
}

/** Runs it, with every promise kept. */
async function kept(given: Scenario): Promise<Outcome> {
  const outcome = await runScenario(ports, given, { quietMs: 60_000 });
  expect(outcome.violations).toEqual([]);
  return outcome;
}

async function world(): Promise<Simulation> {
  const members = ["m1", "m2"];
  const images = await joinedImages(ports, members);
  const simulation = await createSimulation(ports, { seed: 1, members, images });
  await simulation.advance("15s");
  for (const step of scenario("", []).steps) takeStep(simulation, step);
  await simulation.advance("10s");
  return simulation;
}

function arrange(simulation: Simulation, ...faults: readonly Fault[]): void {
  for (const fault of faults) arrangeFault(simulation, fault, () => undefined);
}

/** What the plane shows of a workload in a member. */
function shown({ ledger }: Simulation, binding: string, member: string): unknown {
  const object = ledger.find("plane", "work.karmada.io/resourcebindings", `default/${binding}`)
    ?.object as { readonly status?: { readonly aggregatedStatus?: readonly Shown[] } } | undefined;
  return object?.status?.aggregatedStatus?.find(({ clusterName }) => clusterName === member);
}

interface Shown {
  readonly clusterName: string;
}

const copyIn = ({ ledger }: Simulation, member: string) =>
  ledger.find(member, "apps/deployments", "default/web")?.object.metadata;

const lie = (how: Lie, from: number, until: number): Fault => ({
  fault: "lies",
  member: "m1",
  how,
  from,
  until,
});

describe("a member that lies", { timeout: 60_000 }, () => {
  it.each(lies)("harms nobody else, and is seen as it is afterwards: %s", async (how) => {
    const change: Step = { at: 30, do: "workload", ...WEB, replicas: 3, version: 2 };
    const { writes } = await kept(scenario(how, [lie(how, 15, 60)], [change]));
    expect(writes).toBeLessThan(1000);
  });

  it("is believed about its own copies, and about nothing else", async () => {
    const simulation = await world();
    arrange(simulation, lie("unready", 0, 60));
    await simulation.advance("30s");
    expect(shown(simulation, "web-deployment", "m1")).toMatchObject({ health: "Unhealthy" });
    expect(shown(simulation, "web-deployment", "m2")).toMatchObject({ health: "Healthy" });
    await simulation.advance("3m");
    expect(shown(simulation, "web-deployment", "m1")).toMatchObject({ health: "Healthy" });
  });

  it("leaves nothing behind in anybody's objects that was not asked for", async () => {
    const simulation = await world();
    arrange(simulation, lie("garbage", 0, 20));
    await simulation.advance("5m");
    expect(JSON.stringify(simulation.ledger.all("m2"))).not.toContain("polluted");
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("a copy that is held back by somebody's finalizer", { timeout: 60_000 }, () => {
  const stuck: Fault = { fault: "stuck-finalizer", member: "m1", ...WEB, from: 10, until: 90 };
  const leaves: Step = { at: 20, do: "taint", member: "m1", effect: "NoExecute", on: true };
  const oneOf = (purgeMode: "Directly" | "Gracefully"): Step => ({
    at: 0,
    do: "policy",
    name: "all",
    selects: [WEB],
    clusters: ["m1", "m2"],
    oneCopy: true,
    purgeMode,
  });
  /** When the first copy came to m2, in seconds. */
  const arrival = ({ timeline }: Outcome): number =>
    Number.parseFloat(timeline.find((line) => line.includes("m2 ADDED apps/deployments")) ?? "");

  it("is waited for in mode Directly, and not in mode Gracefully", async () => {
    const moved = (purgeMode: "Directly" | "Gracefully"): Promise<Outcome> => {
      const steps: readonly Step[] = [
        { at: 0, do: "workload", ...WEB, replicas: 2 },
        oneOf(purgeMode),
        leaves,
      ];
      return kept({ ...scenario(purgeMode, [stuck]), steps });
    };
    expect(arrival(await moved("Directly"))).toBeGreaterThanOrEqual(90);
    expect(arrival(await moved("Gracefully"))).toBeLessThan(30);
  });

  it("keeps its cluster from leaving, without a storm of writes", async () => {
    const unjoin: Step = { at: 20, do: "unjoin", member: "m1" };
    const { writes, timeline } = await kept(scenario("unjoin", [stuck], [unjoin]));
    const gone = timeline.find((line) => line.includes("DELETED cluster.karmada.io/clusters /m1"));
    expect(Number.parseFloat(gone ?? "")).toBeGreaterThanOrEqual(90);
    expect(writes).toBeLessThan(150);
  });
});

describe("a member that takes no token", { timeout: 60_000 }, () => {
  it("is not ready while that lasts, and is again", async () => {
    const simulation = await world();
    const clusterText = (): string =>
      JSON.stringify(simulation.ledger.find("plane", "cluster.karmada.io/clusters", "/m1")?.object);
    arrange(simulation, { fault: "unauthorized", member: "m1", from: 0, until: 120 });
    await simulation.advance("60s");
    expect(clusterText()).not.toContain('"reason":"ClusterReady"');
    await simulation.advance("3m");
    expect(clusterText()).toContain('"reason":"ClusterReady"');
  });

  it.each([-5, 0, 5])(
    "is followed with its next one, %s s around the change",
    async (oldEndsAfter) => {
      const rotated: Fault = { fault: "token-rotated", member: "m1", at: 20, oldEndsAfter };
      const change: Step = { at: 22, do: "workload", ...WEB, replicas: 2, version: 2 };
      const { convergedAfterMs } = await kept(scenario("rotated", [rotated], [change]));
      expect(convergedAfterMs).toBeLessThan(60_000);
    },
  );
});

describe("a member with a clock of its own", { timeout: 60_000 }, () => {
  it.each([-600_000, 600_000])("is treated as any other, %s ms off", async (stepMs) => {
    const faults: readonly Fault[] = [
      { fault: "member-clock", member: "m1", at: 0, stepMs },
      { fault: "member-crash", member: "m1", at: 30, downFor: 5 },
      { fault: "member-clock", member: "m2", at: 40, stepMs: -stepMs },
    ];
    const change: Step = { at: 45, do: "workload", ...WEB, replicas: 3, version: 2 };
    const { convergedAfterMs } = await kept(scenario("clocks", faults, [change]));
    expect(convergedAfterMs).toBeLessThan(60_000);
  });

  it("writes its own time", async () => {
    const simulation = await world();
    const stepMs = -600_000;
    arrange(simulation, { fault: "member-clock", member: "m1", at: 0, stepMs });
    await simulation.settle();
    takeStep(simulation, { at: 0, do: "drift", member: "m1", ...WEB, how: "delete" });
    await simulation.advance("10s");
    const [theirs = "", ours = ""] = ["m1", "m2"].map(
      (member) => copyIn(simulation, member)?.creationTimestamp,
    );
    expect(Date.parse(ours) - Date.parse(theirs)).toBeGreaterThan(500_000);
  });
});

describe("a second death", { timeout: 60_000 }, () => {
  it("comes so many writes after the first", async () => {
    const again = { after: 3, moment: "before" } as const;
    const fault: Fault = { fault: "crash-at-write", write: 10, moment: "after", downFor: 1, again };
    const { timeline } = await kept(scenario("twice", [fault]));
    expect(timeline.filter((line) => line.includes("crash-at-write"))).toHaveLength(2);
  });
});
