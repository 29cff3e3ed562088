/** A played edit agrees with the edit that is then made: the same workloads change, to the same clusters. */
import { propagationPolicies, type PropagationPolicy } from "@lifeboat/api";
import { drainPromises } from "@lifeboat/base/adapters";
import { describe, expect, it } from "vitest";
import { joinedImages } from "../scenario/joined-images.ts";
import type { Step } from "../scenario/scenario.ts";
import { takeStep } from "../scenario/steps.ts";
import { createSimulation, type Simulation } from "../simulation.ts";
import { imagesFromSnapshot } from "../snapshot/images-from-snapshot.ts";
import { readSnapshot } from "../snapshot/read-snapshot.ts";
import type { Manifest } from "./play.ts";
import { type PlayedChange, playChange } from "./play-change.ts";
import { playFailure } from "./play-failure.ts";

const ports = { drain: drainPromises };
const MEMBERS = ["m1", "m2", "m3"];

async function startWorld(clusters: readonly string[] = ["m1"]): Promise<Simulation> {
  const simulation = await createSimulation(ports, {
    seed: 7,
    members: MEMBERS,
    images: await joinedImages(ports, MEMBERS),
    controllers: { failover: true },
  });
  const steps: readonly Step[] = ["web", "other"].flatMap((name): readonly Step[] => [
    { at: 1, do: "workload", kind: "Deployment", name, replicas: 2 },
    {
      at: 2,
      do: "policy",
      name,
      selects: [{ kind: "Deployment", name }],
      clusters,
      divided: true,
      aggregated: true,
    },
  ]);
  for (const step of steps)
    simulation.clock.after(step.at * 1000, () => takeStep(simulation, step));
  await simulation.advance("5m");
  return simulation;
}

async function open(simulation: Simulation) {
  const { plane, clock } = simulation;
  if (plane.admin === undefined) throw new Error("the plane does not serve");
  const snapshot = await readSnapshot(plane.admin, clock.now());
  return { snapshot, images: await imagesFromSnapshot(ports, snapshot) };
}

const plan = async (simulation: Simulation, apply: readonly Manifest[]): Promise<PlayedChange> =>
  playChange(ports, await open(simulation), {
    apply,
    controllers: { failover: true },
    limitMs: 3_600_000,
  });

/** The policy of `web` with other clusters. */
const moved = (clusterNames: readonly string[]): Manifest & Pick<PropagationPolicy, "spec"> => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "web" },
  spec: {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
    placement: { clusterAffinity: { clusterNames } },
  },
});

describe("a played edit", { timeout: 120_000 }, () => {
  it("tells what it moves and what not, touches nothing, and is what the edit then does", async () => {
    const simulation = await startWorld();
    const before = simulation.ledger.hash;
    const played = await plan(simulation, [moved(["m2"])]);
    expect(simulation.ledger.hash).toBe(before);
    expect(played).toMatchObject({
      workloads: [
        {
          workload: "Deployment default/web",
          before: "m1:2",
          after: "m2:2",
          isWhole: true,
          message: "",
        },
      ],
      isCutOff: false,
    });
    expect(played.unchanged).toBeGreaterThan(0);

    simulation.user(async (plane) => {
      const found = await plane.get(propagationPolicies, { namespace: "default", name: "web" });
      const { spec } = moved(["m2"]);
      await plane.update(propagationPolicies, { ...found, spec: { ...found.spec, ...spec } });
    });
    await simulation.advance("5m");
    const results = simulation.ledger
      .objects("plane", "work.karmada.io/resourcebindings")
      .map(({ object }) => JSON.stringify(object["spec"]));
    expect(results.filter((spec) => spec.includes('"clusters":[{"name":"m2"'))).toHaveLength(1);
  });

  it("names a workload that nothing could take", async () => {
    const simulation = await startWorld();
    const { workloads } = await plan(simulation, [moved(["m9"])]);
    expect(workloads.map(({ isWhole }) => isWhole)).not.toContain(true);
  });

  it("is empty when nothing changes, and throws what admission refuses", async () => {
    const simulation = await startWorld();
    expect((await plan(simulation, [moved(["m1"])])).workloads).toEqual([]);
    const broken = { ...moved(["m1"]), spec: { resourceSelectors: [] } };
    await expect(plan(simulation, [broken])).rejects.toThrow(/resourceSelectors/);
    const unknown = { ...moved([]), kind: "Nothing" };
    await expect(plan(simulation, [unknown])).rejects.toThrow("does not serve Nothing");
  });

  it("goes on until a rate of 0 ends that a person set", async () => {
    const simulation = await startWorld(["m1", "m2"]);
    takeStep(simulation, { at: 0, do: "set-rate", perSecond: 0, lasts: 1200 });
    await simulation.advance("5s");
    const rule: Manifest & { readonly spec: unknown } = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterTaintPolicy",
      metadata: { name: "leave-m1" },
      spec: {
        targetCluster: { clusterNames: ["m1"] },
        matchConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["True"] }],
        taintsToAdd: [{ key: "example.com/leave", effect: "NoExecute", addOnMatchSeconds: 5 }],
      },
    };
    const { workloads, tookMs, isCutOff } = await plan(simulation, [rule]);
    expect(workloads.map(({ before, after }) => `${before} → ${after}`)).toEqual(["m1:2 → m2:2"]);
    expect(tookMs).toBeGreaterThan(1_180_000);
    expect(isCutOff).toBe(false);
  });

  it("a rule that is only planned counts in a played failure", async () => {
    const simulation = await startWorld();
    const rule: Manifest & { readonly spec: unknown } = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterTaintPolicy",
      metadata: { name: "failover" },
      spec: {
        matchConditions: [
          { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
        ],
        taintsToAdd: [{ key: "example.com/failed", effect: "NoExecute", addOnMatchSeconds: 60 }],
      },
    };
    const request = { fail: ["m1"], controllers: { failover: true }, limitMs: 3_600_000 };
    const from = await open(simulation);
    const without = await playFailure(ports, from, request);
    expect(without.clusters[0]?.failedAt).toBeUndefined();
    const withRule = await playFailure(ports, from, { ...request, apply: [rule] });
    expect(withRule.clusters[0]?.failedAt).toBeGreaterThanOrEqual(60_000);
  });
});
