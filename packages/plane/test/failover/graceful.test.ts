/** Graceful eviction: the old copy goes when the new one is healthy, never before, and never by time alone (D9). */
import { resourceBindings, works } from "@lifeboat/api";
import { deployment, type Fleet, oneOf, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";

let fleet: Fleet;
let hands: Hands;

const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

beforeEach(async () => {
  ({ fleet, hands } = await failoverFleet(["m1", "m2", "m3"]));
});
afterEach(() => fleet.close());

async function start(placement: object = oneOf("m1", "m2"), template = deployment("web")) {
  await hands.create(policyFor(web, { placement }), resources.deployments, template);
}

describe("a workload that leaves a cluster gracefully", () => {
  it("runs in both until the new copy is healthy, and then in the new one alone", async () => {
    await start();
    expect(await hands.placement()).toBe("m1");
    await hands.taint("m1");
    await hands.evict("m1");
    await fleet.settle();
    expect(await hands.works()).toBe("m1, m2");
    expect(await hands.copy("m1")).toBeDefined();
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.works()).toBe("m2");
    expect(await hands.copy("m1")).toBeUndefined();
    expect(await hands.copy("m2")).toMatchObject({ status: { readyReplicas: 1 } });
    expect(await hands.events("ResourceBinding", "web-deployment")).toContain(
      "EvictWorkloadFromClusterSucceed",
    );
    expect(await hands.events("Deployment", "web")).toContain("EvictWorkloadFromClusterSucceed");
  });

  it("keeps its old copy for as long as the new one is not healthy", async () => {
    await start();
    fleet.member("m2").link.setFault({ kind: "errors" });
    await hands.taint("m1");
    await hands.evict("m1");
    await fleet.advance("15m");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.copy("m1")).toMatchObject({ status: { readyReplicas: 1 } });
    fleet.member("m2").link.setFault(undefined);
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.copy("m1")).toBeUndefined();
  });

  it("ends the same way when the control plane dies in the middle, and rests then", async () => {
    await start();
    await hands.taint("m1");
    await hands.evict("m1");
    await fleet.settle();
    for (let i = 0; i < 4; i++) {
      await fleet.restart();
      await fleet.advance("400ms");
    }
    await fleet.advance("60s");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.works()).toBe("m2");
    const versionOf = async () => [
      (await fleet.plane.list(resourceBindings)).metadata.resourceVersion,
      (await fleet.plane.list(works)).metadata.resourceVersion,
    ];
    const before = await versionOf();
    await fleet.advance("5m");
    expect(await versionOf()).toEqual(before);
  });

  it("does not trust a copy whose cluster has fallen silent", async () => {
    await start();
    fleet.member("m2").link.setFault({ kind: "errors" });
    await hands.taint("m1");
    await hands.evict("m1");
    await fleet.advance("2m");
    expect(await hands.condition("m2", "Ready")).toBe("False");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.copy("m1")).toBeDefined();
  });

  it("stays where a person wants it: a task that is taken away by hand is over", async () => {
    await start();
    fleet.member("m2").link.setFault({ kind: "errors" });
    await hands.taint("m1");
    await hands.evict("m1");
    await fleet.advance("5s");
    const binding = await hands.binding();
    const { gracefulEvictionTasks: _tasks, ...spec } = binding.spec;
    await fleet.plane.update(resourceBindings, {
      ...binding,
      spec: { ...spec, clusters: [{ name: "m1", replicas: 1 }] },
    });
    await fleet.advance("60s");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.copy("m1")).toMatchObject({ status: { readyReplicas: 1 } });
  });

  it("is cleared for a resource without health once it is applied", async () => {
    const configMap = { apiVersion: "v1", kind: "ConfigMap", name: "settings" };
    await hands.create(
      policyFor(configMap, { placement: oneOf("m1", "m2") }),
      resources.configMaps,
      { ...configMap, metadata: { name: "settings", namespace: "default" }, data: { a: "b" } },
    );
    await hands.taint("m1");
    await hands.evict("m1", {}, "settings-configmap");
    await fleet.advance("10s");
    expect(await hands.placement("settings-configmap")).toBe("m2");
    const key = { namespace: "default", name: "settings" };
    expect(await hands.copy("m1", resources.configMaps, key)).toBeUndefined();
  });
});

describe("without plugins", () => {
  it("nothing is let go", async () => {
    await fleet.close();
    ({ fleet, hands } = await failoverFleet(["m1", "m2"], { evictPlugins: [] }));
    await start();
    await hands.taint("m1");
    await hands.evict("m1");
    await fleet.advance("5m");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.works()).toBe("m1, m2");
  });
});

describe("mode Never", () => {
  it("keeps the old copy until a person says otherwise, and even then not the last healthy one", async () => {
    await start();
    await hands.taint("m1");
    await hands.evict("m1", { purgeMode: "Never", producer: "somebody", reason: "Test" });
    await fleet.advance("5m");
    expect(await hands.placement()).toBe("m2 -m1");
    const release = async () => {
      const binding = await hands.binding();
      const tasks = (binding.spec.gracefulEvictionTasks ?? []).map((task) => ({
        ...task,
        suppressDeletion: false,
      }));
      await fleet.plane.update(resourceBindings, {
        ...binding,
        spec: { ...binding.spec, gracefulEvictionTasks: tasks },
      });
    };
    await release();
    await fleet.advance("10s");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.copy("m1")).toBeUndefined();
  });
});
