/** Members that pull run the product's agent, and what happens to it has its consequences. */
import { type Cluster, clusters, findCondition, isRefused } from "@lifeboat/api";
import { drainPromises } from "@lifeboat/base/adapters";
import { wellKnown } from "@lifeboat/core";
import { leases } from "@lifeboat/kit";
import { describe, expect, it } from "vitest";
import { runScenario } from "./scenario/run-scenario.ts";
import type { Fault, Scenario } from "./scenario/scenario.ts";
import { createSimulation, type Simulation } from "./simulation.ts";

const ports = { drain: drainPromises };

async function pullingWorld(): Promise<Simulation> {
  const simulation = await createSimulation(ports, {
    seed: 1,
    members: ["m1", "m2"],
    pull: ["m1"],
  });
  await simulation.advance("60s");
  return simulation;
}

function clusterOf({ plane }: Simulation, name: string): Promise<Cluster> | undefined {
  return plane.admin?.get(clusters, { namespace: "", name });
}

async function readyOf(simulation: Simulation, name: string): Promise<string | undefined> {
  return findCondition((await clusterOf(simulation, name))?.status?.conditions, "Ready")?.status;
}

describe("a member that pulls", () => {
  it("registers its Cluster and Lease, and is Ready; another one is pushed to", async () => {
    const simulation = await pullingWorld();
    expect((await clusterOf(simulation, "m1"))?.spec.syncMode).toBe("Pull");
    expect((await clusterOf(simulation, "m2"))?.spec.syncMode).toBe("Push");
    const key = { namespace: wellKnown.CLUSTER_NAMESPACE, name: "m1" };
    expect((await simulation.plane.admin?.get(leases, key))?.spec?.holderIdentity).toBe("m1");
    expect(await readyOf(simulation, "m1")).toBe("True");
  });

  it("acts with the rights of its agent alone", async () => {
    const { agents, plane } = await pullingWorld();
    const agent = agents.get("m1");
    if (agent === undefined) throw new Error("m1 has an agent");
    const asked = plane.clientOf(agent.user)?.get(clusters, { namespace: "", name: "m2" });
    await expect(asked).rejects.toSatisfy((error) => isRefused(error, "Forbidden"));
  });

  it.each<[string, (simulation: Simulation) => void]>([
    ["is dead", ({ agents }) => agents.get("m1")?.crash()],
    ["is cut off from the plane", (simulation) => simulation.wayTo("m1").set({ down: true })],
    ["stands still", ({ agents }) => agents.get("m1")?.pause(600_000)],
  ])("is Unknown when its agent %s", async (_how, happens) => {
    const simulation = await pullingWorld();
    happens(simulation);
    await simulation.advance("29s");
    expect(await readyOf(simulation, "m1")).toBe("True");
    await simulation.advance("20s");
    expect(await readyOf(simulation, "m1")).toBe("Unknown");
  });

  it("is not Ready when its agent is cut off from it, and not Unknown", async () => {
    const simulation = await pullingWorld();
    simulation.member("m1").link.set({ down: true });
    await simulation.advance("60s");
    expect(await readyOf(simulation, "m1")).toBe("False");
  });

  it("stays Ready when the clock of its agent jumps", async () => {
    const simulation = await pullingWorld();
    for (const stepMs of [-600_000, 1_200_000]) {
      simulation.agents.get("m1")?.stepClock(stepMs);
      for (let i = 0; i < 12; i += 1) {
        await simulation.advance("5s");
        expect(await readyOf(simulation, "m1")).toBe("True");
      }
    }
  });

  it("leaves, and is not back before a person registers it again", async () => {
    const simulation = await pullingWorld();
    simulation.user(
      async (plane) => void (await plane.delete(clusters, { namespace: "", name: "m1" })),
    );
    await simulation.advance("60s");
    const agent = simulation.agents.get("m1");
    expect(agent?.running).toBe(false);
    agent?.start();
    await simulation.advance("10s");
    // Its rights went with its Cluster: it cannot make the Cluster again.
    await expect(clusterOf(simulation, "m1")).rejects.toThrow("not found");
    simulation.join("m1");
    await simulation.advance("60s");
    expect(await readyOf(simulation, "m1")).toBe("True");
  });
});

const troubles: Readonly<Record<string, readonly Fault[]>> = {
  "its agent dies": [{ fault: "agent-crash", member: "m1", at: 31, downFor: 60 }],
  "its agent stands still": [{ fault: "agent-pause", member: "m1", at: 31, lasts: 120 }],
  "the clock of its agent jumps": [
    { fault: "agent-clock", member: "m1", at: 31, stepMs: -600_000 },
  ],
  "it is out of reach": [{ fault: "mass-failure", members: ["m1"], from: 31, until: 150 }],
  "its API is out of its agent's reach": [
    { fault: "link", link: "m1", from: 31, until: 120, conditions: { partition: "both" } },
  ],
  "it lies to its agent": [{ fault: "lies", member: "m1", how: "healthy", from: 31, until: 60 }],
  "its agent's identity is in other hands": [
    { fault: "agent-forges", member: "m1", from: 31, until: 90 },
  ],
};

describe("a failover to a member that pulls keeps every promise", () => {
  it.each(Object.entries(troubles))("when %s", async (_name, faults) => {
    const story: Scenario = {
      name: "a failover to a member that pulls",
      seed: 1,
      members: ["m1", "m2", "m3"],
      pull: ["m1", "m2"],
      failover: true,
      steps: [
        { at: 0, do: "workload", kind: "Deployment", name: "web", replicas: 2 },
        {
          at: 0,
          do: "policy",
          name: "web",
          selects: [{ kind: "Deployment", name: "web" }],
          affinities: [["m2"], ["m1"]],
        },
        { at: 30, do: "taint", member: "m2", effect: "NoExecute", on: true },
      ],
      faults,
    };
    const [one, again] = [await runScenario(ports, story), await runScenario(ports, story)];
    expect(one.violations).toEqual([]);
    expect(again.hash).toBe(one.hash);
  });
});
