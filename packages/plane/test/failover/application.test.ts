/** A workload that does not get well in its cluster moves to another one, without any gate (D18, D23). */
import { propagationPolicies, resourceBindings } from "@lifeboat/api";
import { deployment, type Fleet, oneOf, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";

let fleet: Fleet;
let hands: Hands;
afterEach(() => fleet.close());

const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const SINCE = "lifeboat.dev/unhealthy-since";
const FROM = "lifeboat.dev/evicted-from";

async function start(application: object, members = ["m1", "m2", "m3"], options = {}) {
  ({ fleet, hands } = await failoverFleet(members, options));
  const failover = {
    application: { decisionConditions: { tolerationSeconds: 60 }, ...application },
  };
  const spec = { placement: oneOf(...members), propagateDeps: true, failover };
  await hands.create(policyFor(web, spec), resources.deployments, deployment("web"));
  await fleet.advance("10s");
}

async function annotation(key: string): Promise<string | undefined> {
  return (await hands.binding()).metadata.annotations?.[key];
}

describe("a workload that is unhealthy", () => {
  it("stays for as long as its policy tolerates, then moves, and does not come back", async () => {
    await start({ purgeMode: "Gracefully" });
    await hands.sicken("m1");
    await fleet.advance("30s");
    expect(await hands.placement()).toBe("m1");
    expect(await annotation(SINCE)).toMatch(/^\{"m1":"2026-01-01T00:00:\d\dZ"\}$/);
    await hands.sicken("m2");
    await fleet.advance("40s");
    expect(await hands.placement()).toMatch(/^m[23] -m1$/);
    const [task] = (await hands.binding()).spec.gracefulEvictionTasks ?? [];
    expect(task).toMatchObject({
      reason: "ApplicationFailure",
      producer: "resource-binding-application-failover-controller",
      purgeMode: "Gracefully",
      gracePeriodSeconds: 600,
      clustersBeforeFailover: ["m1"],
    });
    await hands.cure("m1");
    await fleet.advance("4m");
    // By m2 or not, it ends up where it is well, and not in m1.
    expect(await hands.placement()).toBe("m3");
    expect(await annotation(SINCE)).toBeUndefined();
    expect(await annotation(FROM)).toBeUndefined();
    expect(await hands.works()).toBe("m3");
  });

  it.each([
    ["forward", 600_000],
    ["back", -600_000],
  ])("keeps its time when the clock jumps %s", async (_way, jumpMs) => {
    await start({ purgeMode: "Gracefully" });
    await hands.sicken("m1");
    await fleet.advance("30s");
    fleet.clock.step(jumpMs);
    await fleet.advance("28s");
    expect(await hands.placement()).toBe("m1");
    await fleet.advance("10s");
    expect(await hands.placement()).toMatch(/^m[23]/);
  });

  it("keeps its time through a restart, and loses it when it is well again", async () => {
    await start({ purgeMode: "Gracefully" });
    await hands.sicken("m1");
    await fleet.advance("40s");
    const since = await annotation(SINCE);
    expect(since).toBeDefined();
    await fleet.restart();
    await fleet.advance("5s");
    expect(await annotation(SINCE)).toBe(since);
    await hands.cure("m1");
    await fleet.advance("5s");
    expect(await annotation(SINCE)).toBeUndefined();
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("m1");
    const { resourceVersion } = (await fleet.plane.list(resourceBindings)).metadata;
    await fleet.advance("2m");
    expect((await fleet.plane.list(resourceBindings)).metadata.resourceVersion).toBe(
      resourceVersion,
    );
  });

  it("is held where no other cluster can take it, and says so", async () => {
    await start({}, ["m1"]);
    await hands.sicken("m1");
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.events("ResourceBinding", "web-deployment")).toContain("EvictionHeld");
  });

  it("is not moved because its cluster cannot be reached", async () => {
    await start({});
    await hands.sicken("m1");
    await fleet.advance("20s");
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("10m");
    expect(await hands.placement()).toBe("m1");
    expect(await annotation(SINCE)).toBeUndefined();
  });

  it("goes back nowhere in mode Directly either, and takes its state along", async () => {
    const rules = [{ aliasLabelName: "a.example/replicas", jsonPath: "{.replicas}" }];
    const application = { purgeMode: "Directly", statePreservation: { rules } };
    await start(application, ["m1", "m2"], { statefulFailoverInjection: true });
    await hands.sicken("m1");
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.copy("m1")).toBeUndefined();
    expect((await hands.copy("m2"))?.metadata.labels).toMatchObject({ "a.example/replicas": "1" });
    // Well again: the episode is over.
    expect(await annotation(FROM)).toBeUndefined();
  });

  it("carries nothing while the gate is off", async () => {
    const rules = [{ aliasLabelName: "a.example/replicas", jsonPath: "{.replicas}" }];
    await start({ purgeMode: "Directly", statePreservation: { rules } }, ["m1", "m2"]);
    await hands.sicken("m1");
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("m2");
    expect((await hands.copy("m2"))?.metadata.labels).not.toHaveProperty("a.example/replicas");
  });

  it("is held while a rule cannot be carried out, and moves once the policy is repaired", async () => {
    const rules = [{ aliasLabelName: "app", jsonPath: "{.replicas}" }];
    await start({ statePreservation: { rules } }, ["m1", "m2"], {
      statefulFailoverInjection: true,
    });
    await hands.sicken("m1");
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("m1");
    const policy = await fleet.plane.get(propagationPolicies, {
      namespace: "default",
      name: "web",
    });
    const { statePreservation: _rules, ...application } = policy.spec.failover?.application ?? {};
    const failover = { application } as NonNullable<typeof policy.spec.failover>;
    await fleet.plane.update(propagationPolicies, {
      ...policy,
      spec: { ...policy.spec, failover },
    });
    await fleet.advance("1m");
    expect(await hands.placement()).toMatch(/^m2/);
  });
});

describe("the grace period", () => {
  it("lets an unhealthy old copy go although the new one is not healthy either", async () => {
    await start({ purgeMode: "Gracefully", gracePeriodSeconds: 30 }, ["m1", "m2"]);
    await hands.sicken("m1");
    await hands.sicken("m2");
    await fleet.advance("75s");
    expect(await hands.placement()).toBe("m2 -m1");
    await fleet.advance("40s");
    expect(await hands.placement()).toBe("m2");
    // Both are ill: it stays where it is, and does not go in circles.
    await fleet.advance("5m");
    expect(await hands.placement()).toBe("m2");
    expect(await annotation(FROM)).toBe('["m1"]');
  });
});

describe("workloads that count on the same room", () => {
  const nodes = [{ name: "node-1", capacity: { cpu: "64", memory: "64Gi", pods: "6" } }];
  const nameOf = (i: number): string => `app${i}`;
  const bindingOf = (name: string): string => `${name}-deployment`;
  const uidIn = async (member: string, name: string): Promise<string | undefined> =>
    (await hands.copy(member, resources.deployments, { namespace: "default", name }))?.metadata.uid;

  /** Members with room for six pods each; m2 has room for one more. */
  async function startFull(members: readonly string[], failover: boolean): Promise<void> {
    ({ fleet, hands } = await failoverFleet(members, { failover }, { member: { nodes } }));
    const filler = deployment("filler", { replicas: 5 });
    await fleet.member("m2").client.create(resources.deployments, filler);
    await fleet.advance("15s");
  }

  /** A workload that has to be in one cluster whole, and leaves it in mode Directly. */
  async function run(name: string, home: string, failover: object): Promise<void> {
    const placement = {
      clusterAffinity: { clusterNames: [home, "m2"] },
      spreadConstraints: [{ spreadByField: "cluster", maxGroups: 1, minGroups: 1 }],
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Aggregated",
      },
    };
    const spec = { placement, propagateDeps: true, failover };
    await hands.create(policyFor({ ...web, name }, spec), resources.deployments, deployment(name));
    expect(await hands.placement(bindingOf(name))).toBe(home);
  }

  const failing = {
    application: { decisionConditions: { tolerationSeconds: 60 }, purgeMode: "Directly" },
  };

  it("D8: five fail together with room for one: one moves, four are held and keep their copies", async () => {
    await startFull(["m1", "m2"], false);
    const names = [0, 1, 2, 3, 4].map(nameOf);
    for (const name of names) await run(name, "m1", failing);
    const uids = await Promise.all(names.map((name) => uidIn("m1", name)));
    await hands.sicken("m1");
    await fleet.advance("3m");
    const placed = await Promise.all(names.map((name) => hands.placement(bindingOf(name))));
    expect(placed.toSorted()).toEqual(["m1", "m1", "m1", "m1", "m2"]);
    for (const [i, name] of names.entries()) {
      if (placed[i] === "m2") continue;
      // The same copy: it was not purged and made again.
      expect(await uidIn("m1", name)).toBe(uids[i]);
      const told = await hands.told("ResourceBinding", bindingOf(name), "EvictionHeld");
      expect(told[0]).toContain("Leaving cluster m1 is held (NoTarget)");
    }
  });

  it("D8: what an evacuation has evicted and nothing has placed yet keeps its room, also after a restart", async () => {
    await startFull(["m1", "m2", "m3"], true);
    await run("away", "m3", { cluster: { purgeMode: "Directly", tolerationSeconds: 0 } });
    await run("ill", "m1", failing);
    // A silent cluster: the purge waits for a fence.
    fleet.member("m3").link.setFault({ kind: "down" });
    await hands.taint("m3");
    await fleet.advance("20s");
    expect(await hands.placement("away-deployment")).toBe("-m3");
    await hands.sicken("m1");
    await fleet.advance("50s");
    await fleet.restart();
    await fleet.advance("90s");
    expect(await hands.placement("ill-deployment")).toBe("m1");
    expect(await uidIn("m1", "ill")).toBeDefined();
  });

  it("D8: what a failing application was promised is not free for an evacuation", async () => {
    await startFull(["m1", "m2", "m3"], true);
    await run("away", "m3", { cluster: { purgeMode: "Directly", tolerationSeconds: 0 } });
    await run("ill", "m1", failing);
    await hands.sicken("m1");
    await fleet.advance("59s");
    const uids = [await uidIn("m1", "ill"), await uidIn("m3", "away")];
    await hands.taint("m3");
    await fleet.advance("2m");
    const placed = await Promise.all(["ill", "away"].map((one) => hands.placement(bindingOf(one))));
    expect(placed.filter((one) => one === "m2")).toHaveLength(1);
    const kept = [await uidIn("m1", "ill"), await uidIn("m3", "away")];
    expect(kept.filter((uid, i) => uid === uids[i])).toHaveLength(1);
  });
});
