/**
 * What hurt the users of such systems, as tests: each incident by the number under which it was collected. Here nothing is
 * lost, nothing moves that should not, and what moves ends.
 *
 * B-13, B-14 and B-17 concern parts that are still to come.
 */
import { clusters, evacuations, resourceBindings, works } from "@lifeboat/api";
import {
  deployment,
  type Fleet,
  type FleetOptions,
  newCluster,
  oneOf,
  resources,
} from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import type { ControllersOptions } from "../../src/controllers.ts";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";

let fleet: Fleet;
let hands: Hands;
afterEach(() => fleet.close());

/** Keeps new work away, so that everything begins elsewhere. */
const FULL = { key: "full", effect: "NoSchedule" };

const ON: Partial<ControllersOptions> = { failover: true };

async function open(
  members: readonly string[],
  options: Partial<ControllersOptions> = ON,
  fleetOptions: FleetOptions = {},
): Promise<void> {
  ({ fleet, hands } = await failoverFleet(members, options, fleetOptions));
}

const resourceOf = (name: string): { apiVersion: string; kind: string; name: string } => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  name,
});

async function run(
  name: string,
  placement: object = oneOf("m1", "m2"),
  more: object = {},
  replicas = 1,
): Promise<void> {
  await hands.create(
    policyFor(resourceOf(name), { placement, ...more }),
    resources.deployments,
    deployment(name, { replicas }),
  );
}

const divided = (...names: readonly string[]): object => ({
  clusterAffinity: { clusterNames: names },
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    weightPreference: { dynamicWeight: "AvailableReplicas" },
  },
});

async function scale(name: string, replicas: number): Promise<void> {
  const key = { namespace: "default", name };
  const body = { spec: { replicas } };
  await fleet.plane.patch(resources.deployments, key, { type: "merge", body });
}

const readyIn = async (member: string, name = "web"): Promise<unknown> => {
  const copy = await hands.copy(member, resources.deployments, { namespace: "default", name });
  return (copy?.["status"] as { readyReplicas?: number } | undefined)?.readyReplicas;
};

describe("nothing is lost", () => {
  it("B-1: a workload without another place stays where it is, held with the reason", async () => {
    await open(["m1", "m2"]);
    await run("web", oneOf("m1"));
    await hands.taint("m1");
    await fleet.advance("20m");
    expect(await hands.placement()).toBe("m1");
    expect(await readyIn("m1")).toBe(1);
    const { items } = await fleet.plane.list(evacuations);
    expect(items[0]?.status).toMatchObject({ phase: "Held", entries: { held: 1 } });
    expect(await hands.events("ResourceBinding", "web-deployment")).toContain("EvictionHeld");
  });

  it("B-2: a cluster that was away for hours finds everything as it was when it returns", async () => {
    await open(["m1", "m2"]);
    await run("web", { clusterAffinity: { clusterNames: ["m1"] } });
    const configMap = { apiVersion: "v1", kind: "ConfigMap", name: "settings" };
    await hands.create(policyFor(configMap, { placement: oneOf("m1") }), resources.configMaps, {
      ...configMap,
      metadata: { name: "settings", namespace: "default" },
      data: { a: "b" },
    });
    fleet.member("m1").link.setFault({ kind: "partition" });
    await fleet.advance("3h");
    expect(await hands.condition("m1", "Ready")).toBe("False");
    fleet.member("m1").link.setFault(undefined);
    await fleet.advance("5m");
    expect(await readyIn("m1")).toBe(1);
    const key = { namespace: "default", name: "settings" };
    expect(await hands.copy("m1", resources.configMaps, key)).toBeDefined();
  });

  it("B-3: scaling while a cluster is away keeps what runs there and places only the difference", async () => {
    await open(["m1", "m2"], {});
    await run("web", divided("m1", "m2"), {}, 4);
    const before = (await hands.binding()).spec.clusters ?? [];
    const onM1 = before.find(({ name }) => name === "m1")?.replicas ?? 0;
    expect(onM1).toBeGreaterThan(0);
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("60s");
    expect(await hands.condition("m1", "Ready")).toBe("False");
    await scale("web", 10);
    await fleet.advance("30s");
    const after = (await hands.binding()).spec.clusters ?? [];
    expect(after.find(({ name }) => name === "m1")?.replicas).toBe(onM1);
    expect(after.reduce((sum, { replicas = 0 }) => sum + replicas, 0)).toBe(10);
  });

  it("B-5: a member whose answers are empty or wrong loses nothing", async () => {
    await open(["m1", "m2"]);
    await run("web");
    fleet.member("m1").link.setFault({ kind: "errors" });
    await fleet.advance("10m");
    fleet.member("m1").link.setFault(undefined);
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("m1");
    expect(await readyIn("m1")).toBe(1);
  });

  it("B-6: restarts of the control plane delete nothing", async () => {
    await open(["m1", "m2"]);
    await run("web", { clusterAffinity: { clusterNames: ["m1", "m2"] } });
    const uids = async (): Promise<readonly (string | undefined)[]> => [
      (await hands.copy("m1"))?.metadata.uid,
      (await hands.copy("m2"))?.metadata.uid,
    ];
    const before = await uids();
    for (let i = 0; i < 5; i++) {
      await fleet.restart();
      await fleet.advance(i * 700);
    }
    await fleet.advance("60s");
    expect(await uids()).toEqual(before);
    expect(
      (await fleet.plane.list(works)).items.filter(
        ({ metadata }) => metadata.deletionTimestamp !== undefined,
      ),
    ).toEqual([]);
  });
});

describe("the switch", () => {
  it("B-4: while failover is off no taint of any origin moves anything", async () => {
    await open(["m1", "m2"], {});
    await run("web", oneOf("m1", "m2"), { failover: { cluster: { tolerationSeconds: 0 } } });
    await hands.taint("m1");
    await hands.taint("m1", { key: "soft", effect: "PreferNoExecute" });
    await fleet.advance("30m");
    expect(await hands.placement()).toBe("m1");
    expect(await readyIn("m1")).toBe(1);
  });
});

describe("what moves ends", () => {
  it("B-7: a cluster that is held is a candidate again once it recovers", async () => {
    await open(["m1", "m2"]);
    await run("web", oneOf("m1", "m2"));
    await hands.taint("m2", FULL);
    await hands.taint("m1");
    await fleet.advance("5m");
    expect(await hands.placement()).toBe("m1");
    await hands.untaint("m1");
    await fleet.advance("30s");
    await scale("web", 3);
    await fleet.advance("30s");
    expect(await hands.placement()).toBe("m1");
    expect(await readyIn("m1")).toBe(3);
    const { items } = await fleet.plane.list(evacuations);
    expect(items[0]?.status?.phase).toBe("Abandoned");
  });

  it("B-8: tasks do not stay when the cluster returns: what was scheduled is finished", async () => {
    await open(["m1", "m2"]);
    await run("web");
    await hands.taint("m1");
    await fleet.advance("3s");
    await hands.untaint("m1");
    await fleet.advance("60s");
    const { spec } = await hands.binding();
    expect(spec.gracefulEvictionTasks ?? []).toEqual([]);
    expect(spec.clusters).toHaveLength(1);
  });

  it("B-9: kinds without a notion of health are healthy once applied", async () => {
    await open(["m1", "m2"]);
    const configMap = { apiVersion: "v1", kind: "ConfigMap", name: "settings" };
    await hands.create(
      policyFor(configMap, { placement: oneOf("m1", "m2") }),
      resources.configMaps,
      {
        ...configMap,
        metadata: { name: "settings", namespace: "default" },
        data: { a: "b" },
      },
    );
    await hands.taint("m1");
    await fleet.advance("60s");
    expect(await hands.placement("settings-configmap")).toBe("m2");
  });

  it("B-10: two who write the binding at the same time never undo each other", async () => {
    await open(["m1", "m2", "m3"]);
    await run("web", oneOf("m1", "m2", "m3"));
    const stale = await hands.binding();
    await hands.taint("m1");
    await fleet.advance("3s");
    await expect(
      fleet.plane.update(resourceBindings, {
        ...stale,
        spec: { ...stale.spec, clusters: [{ name: "m1", replicas: 1 }] },
      }),
    ).rejects.toThrow(/modified|conflict/i);
    await fleet.advance("60s");
    expect(await hands.placement()).toBe("m2");
  });

  it("B-11, B-12: a failing application moves when its time is over, and not back where it failed", async () => {
    await open(["m1", "m2"]);
    const failover = {
      application: { decisionConditions: { tolerationSeconds: 5 }, purgeMode: "Directly" },
    };
    await run("web", oneOf("m1", "m2"), { failover, propagateDeps: true });
    expect(await hands.placement()).toBe("m1");
    fleet.member("m1").model.setFault({ kind: "pods-not-ready" });
    fleet.member("m2").model.setFault({ kind: "pods-not-ready" });
    await fleet.advance("30s");
    const [first] = (await hands.binding()).spec.clusters ?? [];
    expect(first?.name).toBe("m2");
    await fleet.advance("5m");
    expect((await hands.binding()).spec.clusters?.map(({ name }) => name)).not.toContain("m1");
  });
});

describe("the queue", () => {
  it("B-15: what tolerates for ever takes no place, and workloads go before configuration", async () => {
    await open(["m1", "m2"]);
    await hands.taint("m2", FULL);
    for (let i = 0; i < 5; i++) {
      const configMap = { apiVersion: "v1", kind: "ConfigMap", name: `c${i}` };
      await hands.create(
        policyFor(configMap, { placement: oneOf("m1", "m2") }),
        resources.configMaps,
        {
          ...configMap,
          metadata: { name: `c${i}`, namespace: "default" },
          data: {},
        },
      );
    }
    const tolerating = {
      ...oneOf("m1", "m2"),
      clusterTolerations: [{ key: "down", operator: "Exists" }],
    };
    await run("stays", tolerating);
    await run("web");
    await hands.untaint("m2");
    await hands.taint("m1");
    await fleet.advance("1s");
    expect((await hands.placement("web-deployment")).startsWith("m2")).toBe(true);
    await fleet.advance("60s");
    expect(await hands.placement("stays-deployment")).toBe("m1");
    const { items } = await fleet.plane.list(evacuations);
    expect(items[0]?.status?.entries).toMatchObject({ total: 7, exempt: 1, done: 6 });
  });

  it("B-16, B-18: the rate follows the state of the fleet, and is 0 when everything looks down", async () => {
    await open(["m1", "m2", "m3"]);
    await run("web", oneOf("m1", "m2", "m3"));
    for (const name of ["m1", "m2", "m3"]) await hands.taint(name);
    await fleet.advance("10m");
    expect(await hands.placement()).toBe("m1");
    const [evacuation] = (await fleet.plane.list(evacuations)).items;
    expect(evacuation?.status).toMatchObject({
      phase: "Braked",
      rate: { perSecond: 0, reason: "EverythingFailed" },
    });
    await hands.untaint("m2");
    await hands.untaint("m3");
    await fleet.advance("60s");
    expect(await hands.placement()).toBe("m2");
  });

  it("B-19: removing the taint that moves a workload saves it, though another taint stays", async () => {
    await open(["m1", "m2"], { ...ON, resourceEvictionRate: 0.1 });
    const tolerating = {
      ...oneOf("m1", "m2"),
      clusterTolerations: [{ key: "other", operator: "Exists" }],
    };
    await hands.taint("m2", FULL);
    await run("a", tolerating);
    await run("b", tolerating);
    await hands.untaint("m2");
    await hands.taint("m1");
    await hands.taint("m1", { key: "other", effect: "NoExecute" });
    await fleet.advance("2s");
    await hands.untaint("m1");
    await hands.taint("m1", { key: "other", effect: "NoExecute" });
    await fleet.advance("5m");
    expect(await hands.placement("b-deployment")).toBe("m1");
  });

  it("B-20: fifteen that move at once do not all count on the same room", async () => {
    const node = (pods: string) => [
      { name: "node-1", capacity: { cpu: "64", memory: "64Gi", pods } },
    ];
    await open(["m1"], { ...ON, resourceEvictionRate: 1000 }, { member: { nodes: node("40") } });
    const names = Array.from({ length: 15 }, (_, i) => `app${i}`);
    const placement = {
      ...divided("m1", "m2", "m3"),
      spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
    };
    for (const name of names) await run(name, placement);
    for (const [name, taken] of [
      ["m2", 30],
      ["m3", 35],
    ] as const) {
      await fleet.addMember(name);
      const filler = deployment("filler", { replicas: taken });
      await fleet.member(name).client.create(resources.deployments, filler);
      await fleet.advance("15s");
      await fleet.plane.create(resources.secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace: "karmada-cluster" },
        data: { token: btoa(`${name}-token`) },
      });
      await fleet.plane.create(clusters, newCluster(name));
      await fleet.advance("15s");
    }
    await hands.taint("m1");
    await fleet.advance("60s");
    const placed = await Promise.all(names.map((name) => hands.placement(`${name}-deployment`)));
    const on = (cluster: string): number => placed.filter((one) => one === cluster).length;
    expect([on("m2"), on("m3")]).toEqual([10, 5]);
  });
});
