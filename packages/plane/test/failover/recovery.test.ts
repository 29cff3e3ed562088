/** A cluster that recovers while its workloads are on their way: the table of seed 001, row by row (D13). */
import { evacuations, resourceBindings } from "@lifeboat/api";
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

async function evicted(placement: object, replicas = 1) {
  const template = deployment("web", { replicas });
  await hands.create(policyFor(web, { placement }), resources.deployments, template);
  await hands.taint("m1");
  await hands.evict("m1");
}

describe("scheduling succeeded", () => {
  it("new instance running, task not cleared: the migration is completed", async () => {
    await fleet.close();
    ({ fleet, hands } = await failoverFleet(["m1", "m2"], { evictPlugins: ["InScheduleResult"] }));
    await evicted(oneOf("m1", "m2"));
    await fleet.advance("20s");
    expect(await hands.copy("m2")).toMatchObject({ status: { readyReplicas: 1 } });
    await hands.untaint("m1");
    await fleet.advance("60s");
    expect(await hands.placement()).toBe("m2 -m1");
    // The way that lets old copies go is on again.
    const binding = await hands.binding();
    expect(binding.spec.clusters?.map(({ name }) => name)).toEqual(["m2"]);
  });

  it("new instance running, task cleared: the workload stays in the new cluster", async () => {
    await evicted(oneOf("m1", "m2"));
    await fleet.advance("20s");
    await hands.untaint("m1");
    await fleet.advance("60s");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.works()).toBe("m2");
    expect(await hands.copy("m1")).toBeUndefined();
  });

  it("new instance not running, task not cleared: it waits until the migration is complete", async () => {
    fleet.member("m2").link.setFault({ kind: "errors" });
    await evicted(oneOf("m1", "m2"));
    await fleet.advance("10s");
    await hands.untaint("m1");
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.copy("m1")).toMatchObject({ status: { readyReplicas: 1 } });
    fleet.member("m2").link.setFault(undefined);
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.copy("m1")).toBeUndefined();
  });

  it("new instance not running, task cleared by hand: the result stands, and the last healthy copy with it", async () => {
    fleet.member("m2").link.setFault({ kind: "errors" });
    await evicted(oneOf("m1", "m2"));
    await fleet.advance("10s");
    const { spec, ...binding } = await hands.binding();
    const { gracefulEvictionTasks: _tasks, ...rest } = spec;
    await fleet.plane.update(resourceBindings, { ...binding, spec: rest });
    await hands.untaint("m1");
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.copy("m1")).toMatchObject({ status: { readyReplicas: 1 } });
    fleet.member("m2").link.setFault(undefined);
    await fleet.advance("3m");
    expect(await hands.copy("m1")).toBeUndefined();
    expect(await hands.copy("m2")).toMatchObject({ status: { readyReplicas: 1 } });
  });
});

describe("scheduling is complete but its result is empty", () => {
  it("goes back to the former result, and the task is gone", async () => {
    await hands.taint("m2", { key: "maintenance", effect: "NoSchedule" });
    await evicted(oneOf("m1", "m2"));
    await fleet.advance("30s");
    expect(await hands.placement()).toBe("-m1");
    await hands.untaint("m1");
    await fleet.advance("10s");
    expect(await hands.placement()).toBe("m1");
    const { spec } = await hands.binding();
    expect(spec.gracefulEvictionTasks).toBeUndefined();
    expect(await hands.works()).toBe("m1");
    expect(await hands.copy("m1")).toMatchObject({ status: { readyReplicas: 1 } });
    expect(await hands.events("ResourceBinding", "web-deployment")).toContain("EvictionAbandoned");
  });
});

describe("scheduling failed", () => {
  it("goes back to the former result when the constraints cannot be met", async () => {
    const placement = {
      clusterAffinity: { clusterNames: ["m1", "m2"] },
      spreadConstraints: [{ spreadByField: "cluster", maxGroups: 2, minGroups: 2 }],
    };
    await evicted(placement);
    await fleet.advance("30s");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.copy("m1")).toBeDefined();
    await hands.untaint("m1");
    await fleet.advance("10s");
    expect((await hands.placement()).split(" ").toSorted()).toEqual(["m1", "m2"]);
    expect(await hands.works()).toBe("m1, m2");
  });

  it("goes back, replicas and all, when the rest may not take more of a divided workload", async () => {
    const template = deployment("web", { replicas: 4 });
    const placement = {
      clusterAffinity: { clusterNames: ["m1", "m2"] },
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Weighted",
        weightPreference: { dynamicWeight: "AvailableReplicas" },
      },
    };
    await hands.create(policyFor(web, { placement }), resources.deployments, template);
    const before = (await hands.binding()).spec.clusters;
    expect(before).toEqual([
      { name: "m1", replicas: 2 },
      { name: "m2", replicas: 2 },
    ]);
    await hands.taint("m2", { key: "maintenance", effect: "NoSchedule" });
    await hands.taint("m1");
    await hands.evict("m1");
    await fleet.advance("30s");
    expect(await hands.placement()).toBe("m2 -m1");
    await hands.untaint("m1");
    await fleet.advance("10s");
    expect(await hands.placement()).toMatch(/^(m1 m2|m2 m1)$/);
    const after = (await hands.binding()).spec.clusters;
    expect(after).toHaveLength(2);
    expect(after).toEqual(expect.arrayContaining([...(before ?? [])]));
  });

  it("and a crash before the rollback changes nothing of it", async () => {
    await hands.taint("m2", { key: "maintenance", effect: "NoSchedule" });
    await evicted(oneOf("m1", "m2"));
    await fleet.advance("5s");
    await hands.untaint("m1");
    await fleet.restart();
    await fleet.restart();
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.works()).toBe("m1");
  });
});

describe("an eviction that no taint caused", () => {
  it("is not taken back", async () => {
    await hands.create(
      policyFor(web, { placement: oneOf("m1", "m2") }),
      resources.deployments,
      deployment("web"),
    );
    await hands.evict("m1", { producer: "descheduler", reason: "ByHand" });
    await fleet.advance("20s");
    expect(await hands.placement()).not.toContain("-");
    expect((await hands.works()).split(", ")).toHaveLength(1);
  });
});

describe("a cluster that fails again while its first evacuation is being finished", () => {
  it("is emptied: the end of the first one takes nobody out of the line of the second", async () => {
    await fleet.close();
    const slow = { failover: true, resourceEvictionRate: 1 / 60 };
    ({ fleet, hands } = await failoverFleet(["m1", "m2", "m3"], slow));
    await hands.taint("m2", { key: "full", effect: "NoSchedule" });
    for (const name of ["a", "b"])
      await hands.create(
        policyFor({ ...web, name }, { placement: oneOf("m1", "m2") }),
        resources.deployments,
        deployment(name),
      );
    await hands.untaint("m2");
    fleet.member("m2").link.setFault({ kind: "errors" });
    await hands.taint("m1");
    await fleet.advance("5s");
    expect(await hands.placement("a-deployment")).toBe("m2 -m1");
    await hands.untaint("m1");
    await fleet.advance("5s");
    await hands.taint("m1");
    await fleet.advance("5s");
    fleet.member("m2").link.setFault(undefined);
    await fleet.advance("5m");
    expect(await hands.placement("a-deployment")).toBe("m2");
    expect(await hands.placement("b-deployment")).toBe("m2");
    const { items } = await fleet.plane.list(evacuations);
    expect(items.map(({ status }) => status?.phase)).toEqual(["Abandoned", "Completed"]);
  });
});
