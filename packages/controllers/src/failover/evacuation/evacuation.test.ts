/** From a taint to workloads that moved, on the production composition. */
import { clusterTaintPolicies, propagationPolicies } from "@lifeboat/api";
import { configMap, deployment, type Fleet, reasonsAbout, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  allEvacuations,
  allSlices,
  bindingOf,
  bindings,
  budget,
  deployOn,
  DOWN,
  DRAIN,
  evacuation,
  evacuationFleet,
  placed,
  policy,
  setTaints,
  SINGLE,
  watchDecisions,
} from "./evacuation.suite.ts";

/** Whole fleets with all controllers. */
vi.setConfig({ testTimeout: 60_000 });

let fleet: Fleet;
afterEach(() => fleet.close());

describe("a cluster that becomes faulty", () => {
  it("is emptied at the rate, one workload every two seconds", async () => {
    fleet = await evacuationFleet();
    await deployOn(fleet, "web", 5, "m1");
    expect((await bindings(fleet)).map(placed)).toEqual(Array.from({ length: 5 }, () => ["m1"]));
    const decisions = watchDecisions(fleet);
    const start = fleet.clock.now();
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("30s");
    expect(decisions.map(({ at }) => at - start)).toEqual([0, 2000, 4000, 6000, 8000]);
    for (const binding of await bindings(fleet)) expect(placed(binding)).not.toContain("m1");
    expect(await evacuation(fleet, "m1-1")).toMatchObject({
      spec: { cluster: "m1" },
      status: {
        phase: "Completed",
        reason: "AllMoved",
        entries: { total: 5, queued: 0, evicted: 0, done: 5, held: 0, abandoned: 0, exempt: 0 },
        taints: [{ taint: { key: "down", effect: "NoExecute" }, slices: 1, recorded: true }],
      },
    });
    expect(await budget(fleet)).toMatchObject({
      status: { ratePerSecond: 0.5, reason: "FleetHealthy", failedClusters: 1, countedClusters: 3 },
    });
    expect(await reasonsAbout(fleet.plane, "web-0-deployment")).toContain("EvictionQueued");
    expect(await allEvacuations(fleet)).toHaveLength(1);
  });

  it("moves only workloads that ask for it when the taint is PreferNoExecute, after their own time", async () => {
    fleet = await evacuationFleet();
    const failover = { cluster: { tolerationSeconds: 100 } };
    await deployOn(fleet, "active", 1, "m1", SINGLE, { failover });
    await deployOn(fleet, "fixed", 1, "m1");
    await fleet.plane.create(clusterTaintPolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterTaintPolicy",
      metadata: { name: "detect-cluster-not-ready" },
      spec: {
        targetCluster: { clusterNames: ["m1", "m2"] },
        matchConditions: [
          { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
        ],
        taintsToAdd: [
          {
            key: "cluster.karmada.io/not-ready",
            effect: "PreferNoExecute",
            addOnMatchSeconds: 300,
            removeOnMismatchSeconds: 180,
          },
        ],
      },
    });
    const decisions = watchDecisions(fleet);
    const start = fleet.clock.now();
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("7m");
    expect(decisions).toEqual([]);
    await fleet.advance("1m");
    expect(decisions).toMatchObject([{ binding: "active-0-deployment", cluster: "m1" }]);
    const seconds = ((decisions[0]?.at ?? 0) - start) / 1000;
    // Up to ten seconds until the first probe fails, thirty of failing, the policy's and the workload's own time.
    expect(seconds).toBeGreaterThanOrEqual(430);
    expect(seconds).toBeLessThanOrEqual(452);
    const copy = { namespace: "default", name: "active-0" };
    const [target = ""] = placed(await bindingOf(fleet, "active-0-deployment"));
    expect(await fleet.member(target).client.get(resources.deployments, copy)).toMatchObject({
      status: { readyReplicas: 1 },
    });
    expect(placed(await bindingOf(fleet, "fixed-0-deployment"))).toEqual(["m1"]);
    fleet.member("m1").link.setFault(undefined);
    await fleet.advance("5m");
    expect(await evacuation(fleet, "m1-1")).toMatchObject({
      status: { phase: "Completed", entries: { done: 1, exempt: 1 } },
    });
    expect(await fleet.member("m1").client.list(resources.deployments)).toMatchObject({
      items: [{ metadata: { name: "fixed-0" } }],
    });
  });
});

describe("a drain", () => {
  it("takes a copy away where enough healthy ones stay, and moves others with what they need", async () => {
    fleet = await evacuationFleet();
    await fleet.plane.create(propagationPolicies, policy("all", {}));
    await fleet.plane.create(
      resources.deployments,
      deployment("everywhere", {}, { labels: { set: "all", app: "everywhere" } }),
    );
    await fleet.plane.create(resources.configMaps, configMap("settings", { a: "b" }));
    const labels = { app: "web-0" };
    const pinned = { ...SINGLE, clusterAffinity: { clusterNames: ["m1"] } };
    const web = policy("web", pinned, { propagateDeps: true });
    const created = await fleet.plane.create(propagationPolicies, web);
    await fleet.plane.create(
      resources.deployments,
      deployment(
        "web-0",
        {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              containers: [{ name: "c", image: "nginx:1.27" }],
              volumes: [{ name: "v", configMap: { name: "settings" } }],
            },
          },
        },
        { labels: { set: "web", ...labels } },
      ),
    );
    await fleet.advance("15s");
    await fleet.plane.update(propagationPolicies, {
      ...(await fleet.plane.get(propagationPolicies, { namespace: "default", name: "web" })),
      spec: { ...created.spec, placement: SINGLE as never },
    });
    await fleet.advance("10s");
    const settings = { namespace: "default", name: "settings" };
    await fleet.member("m1").client.get(resources.configMaps, settings);
    await setTaints(fleet, "m1", DRAIN);
    await fleet.advance("1m");
    expect(placed(await bindingOf(fleet, "everywhere-deployment"))).toEqual(["m2", "m3"]);
    const [target = ""] = placed(await bindingOf(fleet, "web-0-deployment"));
    expect(["m2", "m3"]).toContain(target);
    await fleet.member(target).client.get(resources.configMaps, settings);
    expect((await fleet.member("m1").client.list(resources.deployments)).items).toEqual([]);
    expect((await fleet.member("m1").client.list(resources.configMaps)).items).not.toContainEqual(
      expect.objectContaining({ metadata: expect.objectContaining({ name: "settings" }) }),
    );
    const names = (await allSlices(fleet)).flatMap(({ spec }) =>
      spec.entries.map(({ binding }) => binding.name),
    );
    expect(names.toSorted()).toEqual(["everywhere-deployment", "web-0-deployment"]);
    const before = (await fleet.plane.list(propagationPolicies)).metadata.resourceVersion;
    await fleet.advance("10m");
    expect((await fleet.plane.list(propagationPolicies)).metadata.resourceVersion).toBe(before);
  });
});
