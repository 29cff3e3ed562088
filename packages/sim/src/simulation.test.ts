/** The world itself: it is a function of its seed, deaths are final, and disks keep what they promised. */
import { type AnyObject, configMaps, namespaces, type New, works } from "@lifeboat/api";
import { drainPromises } from "@lifeboat/base/adapters";
import { describe, expect, it } from "vitest";
import { createSimulation, type Simulation } from "./simulation.ts";

const ports = { drain: drainPromises };
const settings: New<AnyObject> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", namespace: "default" },
};
const team: New<AnyObject> = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };

const start = (seed = 1): Promise<Simulation> =>
  createSimulation(ports, { seed, members: ["m1", "m2"] });

describe("a simulation", { timeout: 60_000 }, () => {
  it("is a function of its seed", async () => {
    const hashes: string[] = [];
    for (const seed of [1, 1, 2]) {
      const simulation = await start(seed);
      await simulation.advance("1m");
      hashes.push(simulation.ledger.hash);
    }
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  it("lets nothing of a dead plane be heard, and starts the next on the same disk", async () => {
    const simulation = await start();
    await simulation.advance("15s");
    const before = simulation.ledger.all("plane").length;
    simulation.crashPlane(60_000);
    const written = simulation.ledger.rows.length;
    await simulation.advance("59s");
    expect(simulation.ledger.rows.length).toBe(written);
    expect(simulation.plane.admin).toBeUndefined();
    await simulation.advance("30s");
    expect(simulation.plane.lives).toBe(2);
    expect(simulation.ledger.all("plane").length).toBe(before);
    expect(simulation.planeDisk.damage).toEqual([]);
  });

  it("makes people insist: what they want is done once, whenever the plane dies", async () => {
    const simulation = await start();
    simulation.crashPlane(5000);
    simulation.user(async (plane) => void (await plane.create(configMaps, settings)));
    await simulation.advance("2s");
    expect(simulation.allOrdersDone).toBe(false);
    await simulation.advance("10s");
    expect(simulation.allOrdersDone).toBe(true);
    expect(simulation.ledger.find("plane", "/configmaps", "default/settings")).toBeDefined();
  });

  it("kills the plane exactly before or exactly after a write", async () => {
    for (const moment of ["before", "after"] as const) {
      const simulation = await start();
      await simulation.advance("15s");
      const number = simulation.writes.count + 1;
      simulation.writes.plan({ number, moment, act: () => simulation.crashPlane(3_600_000) });
      simulation.user(async (plane) => void (await plane.create(namespaces, team)));
      await simulation.advance("5s");
      const held = simulation.ledger.objects("plane", `${works.group}/works`);
      const made = held.filter(({ key }) => key.includes("/team-"));
      expect([moment, made.length > 0]).toEqual([moment, moment === "after"]);
    }
  });

  it("gives every call over a broken link one of its four ends", async () => {
    const simulation = await start();
    const { link } = simulation.member("m1");
    link.set({ lose: 0.3, loseAnswer: 0.3, fail: 0.2, duplicate: 0.3, delayMs: [1, 50] });
    await simulation.advance("5m");
    link.set(undefined);
    expect(link.injected).toBeGreaterThan(0);
    await simulation.advance("5m");
    const cluster = simulation.ledger.find("plane", "cluster.karmada.io/clusters", "/m1");
    expect(JSON.stringify(cluster?.object)).toContain('"reason":"ClusterReady"');
  });
});
