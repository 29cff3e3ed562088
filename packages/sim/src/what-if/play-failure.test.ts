/**
 * What a played failure tells of each workload. That it agrees with the failure that then happens is shown for random fleets in
 * `agreement.suite.ts`.
 */
import {
  type AnyObject,
  clusterResourceBindings,
  type KubeObject,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { drainPromises } from "@lifeboat/base/adapters";
import { workloadOf } from "@lifeboat/core/clusters";
import { sharesOf } from "@lifeboat/core/operating";
import { describe, expect, it } from "vitest";
import { joinedImages } from "../scenario/joined-images.ts";
import type { Step } from "../scenario/scenario.ts";
import { takeStep } from "../scenario/steps.ts";
import { createSimulation, type Simulation } from "../simulation.ts";
import { imagesFromSnapshot } from "../snapshot/images-from-snapshot.ts";
import { readSnapshot } from "../snapshot/read-snapshot.ts";
import { type PlayedFailure, playFailure } from "./play-failure.ts";

const ports = { drain: drainPromises };
const MEMBERS = ["m1", "m2", "m3", "m4"];
const HOUR_MS = 3_600_000;
const failedTaint = (
  effect: "NoExecute" | "PreferNoExecute",
  addAfter: number,
  statuses: readonly ("False" | "Unknown")[] = ["False", "Unknown"],
): Step => ({
  at: 2,
  do: "taint-policy",
  name: "failed",
  condition: "Ready",
  statuses,
  effect,
  addAfter,
  removeAfter: 5,
});

interface World {
  readonly simulation: Simulation;
  readonly failover: boolean;
}

async function startWorld(
  steps: readonly Step[],
  failover = true,
  pull: readonly string[] = [],
): Promise<World> {
  const simulation = await createSimulation(ports, {
    seed: 7,
    members: MEMBERS,
    pull,
    images: await joinedImages(ports, MEMBERS, pull),
    controllers: { failover },
  });
  for (const step of steps)
    simulation.clock.after(step.at * 1000, () => takeStep(simulation, step));
  await simulation.advance("5m");
  return { simulation, failover };
}

async function play(
  { simulation, failover }: World,
  fail: readonly string[],
): Promise<PlayedFailure> {
  const { plane, clock } = simulation;
  if (plane.admin === undefined) throw new Error("the plane does not serve");
  const snapshot = await readSnapshot(plane.admin, clock.now());
  const images = await imagesFromSnapshot(ports, snapshot);
  const request = { fail, controllers: { failover }, limitMs: HOUR_MS };
  return playFailure(ports, { snapshot, images }, request);
}

function read<T extends KubeObject>({ ledger }: Simulation, { group, plural }: Resource<T>): T[] {
  return ledger
    .objects("plane", `${group}/${plural}`)
    .map(({ object }: { readonly object: AnyObject }) => object as unknown as T);
}

function resultsOf(simulation: Simulation): ReadonlyMap<string, string> {
  const bindings: ResourceBinding[] = [
    ...read(simulation, resourceBindings),
    ...read(simulation, clusterResourceBindings),
  ];
  return new Map(bindings.map((one) => [workloadOf(one), sharesOf(one.spec.clusters ?? [])]));
}

const deployment = (name: string, replicas: number): Step => ({
  at: 1,
  do: "workload",
  kind: "Deployment",
  name,
  replicas,
});
const placedOn = (
  name: string,
  placement: Partial<Extract<Step, { readonly do: "policy" }>>,
): Step => ({
  at: 2,
  do: "policy",
  name,
  selects: [{ kind: "Deployment", name }],
  ...placement,
});

describe("a played failure", { timeout: 120_000 }, () => {
  it("tells what moves, what is held and why, and touches nothing", async () => {
    const world = await startWorld([
      deployment("web", 2),
      placedOn("web", { clusters: ["m1", "m2"], oneCopy: true }),
      deployment("pinned", 1),
      placedOn("pinned", { clusters: ["m1"] }),
      deployment("elsewhere", 1),
      placedOn("elsewhere", { clusters: ["m3"] }),
      failedTaint("NoExecute", 60),
    ]);
    const before = world.simulation.ledger.hash;
    const at = resultsOf(world.simulation).get("Deployment default/web")?.slice(0, 2) ?? "";
    const played = await play(world, [at]);
    expect(world.simulation.ledger.hash).toBe(before);

    const names = played.workloads.map(({ workload, reason }) => `${workload} ${reason}`);
    expect(names).toContain("Deployment default/web Moved");
    const moved = played.workloads.find(({ workload }) => workload.endsWith("/web"));
    expect(moved?.after).not.toContain(at);
    expect(moved?.leftAt).toBeGreaterThanOrEqual(90_000);
    expect(moved?.wholeAt).toBeGreaterThan(moved?.leftAt ?? 0);
    expect(played.clusters[0]?.failedAt).toBeGreaterThanOrEqual(90_000);
    expect(played.isCutOff).toBe(false);
    expect(played.untouched).toBeGreaterThan(0);

    const pinned = (await play(world, ["m1"])).workloads.find(({ workload }) =>
      workload.endsWith("/pinned"),
    );
    expect(pinned).toMatchObject({ reason: "Held", before: "m1:1", after: "m1:1" });
    expect(pinned?.message).toContain("NoTarget");
  });

  it.each([
    ["GateOff", [failedTaint("NoExecute", 5)], false],
    ["NotTainted", [], true],
    ["Exempt", [failedTaint("PreferNoExecute", 5)], true],
  ] as const)("tells why a workload stays: %s", async (reason, steps, failover) => {
    const world = await startWorld(
      [deployment("web", 1), placedOn("web", { clusters: ["m1"] }), ...steps],
      failover,
    );
    const { workloads } = await play(world, ["m1"]);
    expect(workloads).toMatchObject([{ workload: "Deployment default/web", reason }]);
  });

  it.each([
    [["Unknown"], "Moved"],
    [["False"], "NotTainted"],
  ] as const)(
    "a Pull cluster falls silent: with a rule for %s it is %s",
    async (statuses, reason) => {
      const steps = [
        deployment("web", 2),
        placedOn("web", { clusters: ["m1", "m2"], divided: true, aggregated: true }),
        failedTaint("NoExecute", 5, statuses),
      ];
      const world = await startWorld(steps, true, ["m1", "m2", "m3"]);
      const at = resultsOf(world.simulation).get("Deployment default/web")?.slice(0, 2) ?? "";
      const played = await play(world, [at]);
      expect(played.workloads).toMatchObject([{ reason }]);
      expect(played.clusters[0]?.notReadyAt).toBeGreaterThanOrEqual(40_000);
      expect(played.clusters[0]?.notReadyAt).toBeLessThanOrEqual(50_000);
    },
  );

  it("stops where most Pull clusters fall silent at once: the control plane may be cut off", async () => {
    const steps = [
      deployment("web", 1),
      placedOn("web", { clusters: ["m1", "m2"], divided: true, aggregated: true }),
      failedTaint("NoExecute", 5),
    ];
    const world = await startWorld(steps, true, ["m1", "m3"]);
    const { workloads } = await play(world, ["m1", "m3"]);
    const [web] = workloads;
    expect(web).toMatchObject({ reason: "Queued", before: "m1:1", after: "m1:1" });
    expect(web?.message).toContain("PlaneMayBeIsolated");
  });

  it("tells a copy too few from a workload that is gone", async () => {
    const world = await startWorld([
      deployment("web", 2),
      placedOn("web", {}),
      deployment("parts", 4),
      placedOn("parts", { clusters: ["m1", "m2"], divided: true, spread: { min: 2 } }),
      failedTaint("NoExecute", 5),
    ]);
    const { workloads } = await play(world, ["m1"]);
    const reasons = workloads.map(({ workload, reason }) => `${workload} ${reason}`);
    expect(reasons).toContain("Deployment default/web Remains");
    expect(reasons).not.toContain("Deployment default/parts Remains");
  });

  it("tells that Directly waits for a fence", async () => {
    const world = await startWorld([
      deployment("web", 1),
      placedOn("web", { clusters: ["m1", "m2"], oneCopy: true, purgeMode: "Directly" }),
      failedTaint("NoExecute", 5),
    ]);
    const at = resultsOf(world.simulation).get("Deployment default/web")?.slice(0, 2) ?? "";
    const { workloads } = await play(world, [at]);
    expect(workloads).toMatchObject([{ reason: "AwaitingFence", after: "" }]);
  });

  it("tells that shares which are left are not the whole workload while it waits for a fence", async () => {
    const world = await startWorld([
      deployment("web", 4),
      placedOn("web", {
        clusters: ["m1", "m2", "m3"],
        divided: true,
        spread: { min: 2, max: 2 },
        purgeMode: "Directly",
      }),
      failedTaint("NoExecute", 5),
    ]);
    const at = resultsOf(world.simulation).get("Deployment default/web")?.slice(0, 2) ?? "";
    const { workloads } = await play(world, [at]);
    expect(workloads).toMatchObject([{ reason: "AwaitingFence" }]);
    expect(workloads[0]?.after).not.toBe("");
  });
});
