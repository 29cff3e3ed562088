/** The rows "scheduling", "spread_by_region", "rescheduling", "tainttoleration" and "schedule_priority" of the reference. */
import { clusters, propagationPolicies } from "@lifeboat/api";
import type { Fleet } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fields, kinds, named, on, openFleet, Shop } from "./propagation.suite.ts";

let fleet: Fleet;
let shops = 0;
const open = (): Promise<Shop> => {
  shops += 1;
  return Shop.open(fleet, `sched-${shops}`);
};

const REGIONS = { m1: "north", m2: "north", m3: "south", m4: "south" } as const;

beforeAll(async () => {
  fleet = await openFleet(Object.keys(REGIONS));
  for (const [name, region] of Object.entries(REGIONS)) await amend(name, { spec: { region } });
  await fleet.advance("5s");
});
afterAll(() => fleet.close());

function amend(name: string, body: object): Promise<unknown> {
  return fleet.plane.patch(
    clusters,
    { namespace: "", name },
    { type: "merge", body: body as never },
  );
}

const spread = (...constraints: readonly Fields[]): Fields => ({
  placement: { spreadConstraints: constraints },
});
const byCluster = (minGroups: number, maxGroups: number): Fields => ({
  spreadByField: "cluster",
  minGroups,
  maxGroups,
});
const scheduled = async (shop: Shop): Promise<unknown> =>
  (await shop.binding("web-deployment")).status?.conditions?.find(
    ({ type }) => type === "Scheduled",
  );

describe("scheduling: label and group constraints", () => {
  it.each<readonly [string, Fields, number]>([
    ["at most two", spread(byCluster(1, 2)), 2],
    ["exactly three", spread(byCluster(3, 3)), 3],
    ["as many as there are", spread(byCluster(1, 9)), 4],
  ])("spread %s", async (_name, placement, count) => {
    const shop = await open();
    await shop.policy("p", placement);
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toHaveLength(count);
  });

  it("more groups than clusters: nothing is scheduled, with a condition and an event", async () => {
    const shop = await open();
    await shop.policy("p", spread(byCluster(9, 9)));
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual([]);
    expect(await scheduled(shop)).toMatchObject({ status: "False" });
    expect(await shop.reasons("Deployment", "web")).toContain("ScheduleBindingFailed");
  });

  it("Job: spread like any other", async () => {
    const shop = await open();
    await shop.policy("p", {
      resourceSelectors: [named(kinds.jobs)],
      ...spread(byCluster(2, 2)),
    });
    const template = {
      spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
    };
    await shop.create(kinds.jobs, "job", { spec: { template } });
    await shop.rest();
    expect(await shop.where(kinds.jobs, "job")).toHaveLength(2);
  });
});

describe("scheduling: ReplicaScheduling", () => {
  const divided = (weightPreference?: Fields): Fields => ({
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Weighted",
      ...(weightPreference === undefined ? {} : { weightPreference }),
    },
  });
  const three = { clusterAffinity: { clusterNames: ["m1", "m2", "m3"] } };
  const weights = (...values: readonly number[]): Fields => ({
    staticWeightList: values.map((weight, i) => ({
      targetCluster: { clusterNames: [`m${i + 1}`] },
      weight,
    })),
  });

  it("duplicated, and rescheduled when replicas change", async () => {
    const shop = await open();
    await shop.policy("p", {
      placement: { ...three, replicaScheduling: { replicaSchedulingType: "Duplicated" } },
    });
    await shop.deploy("web", { replicas: 2 });
    await shop.rest();
    expect(await shop.replicas("web")).toEqual({ m1: 2, m2: 2, m3: 2 });
    await shop.edit(kinds.deployments, "web", { spec: { replicas: 3 } });
    await shop.rest();
    expect(await shop.replicas("web")).toEqual({ m1: 3, m2: 3, m3: 3 });
  });

  it("weighted nil: an even split with the remainder by Webster, and again when replicas change", async () => {
    const shop = await open();
    await shop.policy("p", { placement: { ...three, ...divided() } });
    await shop.deploy("web", { replicas: 6 });
    await shop.rest();
    expect(await shop.replicas("web")).toEqual({ m1: 2, m2: 2, m3: 2 });
    await shop.edit(kinds.deployments, "web", { spec: { replicas: 7 } });
    await shop.rest();
    const replicas = Object.values(await shop.replicas("web")).map(Number);
    expect(replicas.toSorted((a, b) => a - b)).toEqual([2, 2, 3]);
  });

  it("static weights", async () => {
    const shop = await open();
    await shop.policy("p", { placement: { ...three, ...divided(weights(3, 2, 1)) } });
    await shop.deploy("web", { replicas: 12 });
    await shop.rest();
    expect(await shop.replicas("web")).toEqual({ m1: 6, m2: 4, m3: 2 });
  });

  it("a weight list that names no chosen cluster divides evenly", async () => {
    const shop = await open();
    await shop.policy("p", {
      placement: {
        ...three,
        ...divided({
          staticWeightList: [{ targetCluster: { clusterNames: ["nobody"] }, weight: 2 }],
        }),
      },
    });
    await shop.deploy("web", { replicas: 3 });
    await shop.rest();
    expect(await shop.replicas("web")).toEqual({ m1: 1, m2: 1, m3: 1 });
  });

  it("Job completions split with its parallelism", async () => {
    const shop = await open();
    await shop.policy("p", {
      resourceSelectors: [named(kinds.jobs)],
      placement: { ...three, ...divided(weights(1, 1, 2)) },
    });
    await shop.create(kinds.jobs, "job", {
      spec: {
        parallelism: 4,
        completions: 8,
        template: {
          spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
        },
      },
    });
    await fleet.advance("2s");
    const copies = await shop.copies(kinds.jobs, "job");
    const parts = [...copies].map(([member, copy]) => {
      const { parallelism, completions } = (copy as unknown as { spec: Fields }).spec;
      return [member, parallelism, completions];
    });
    expect(parts).toEqual([
      ["m1", 1, 2],
      ["m2", 1, 2],
      ["m3", 2, 4],
    ]);
  });
});

describe("spread_by_region", () => {
  it("region min 2 with cluster max 1: two clusters; then one region", async () => {
    const shop = await open();
    const byRegion = (groups: number): Fields => ({
      spreadByField: "region",
      minGroups: groups,
      maxGroups: groups,
    });
    await shop.policy("p", spread(byRegion(2), byCluster(1, 1)));
    await shop.deploy("web");
    await shop.rest();
    const two = await shop.where(kinds.deployments, "web");
    expect(new Set(two.map((name) => REGIONS[name as keyof typeof REGIONS]))).toEqual(
      new Set(["north", "south"]),
    );
    await fleet.plane.patch(propagationPolicies, shop.key("p"), {
      type: "merge",
      body: { spec: spread(byRegion(1), byCluster(1, 1)) as never },
    });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toHaveLength(1);
  });
});

describe("rescheduling", () => {
  it("label change: a duplicated Deployment leaves the cluster whose label no longer matches", async () => {
    const shop = await open();
    for (const name of ["m1", "m2"]) await amend(name, { metadata: { labels: { tier: "gold" } } });
    await shop.policy("p", {
      placement: { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } },
    });
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1", "m2"]);
    await amend("m1", { metadata: { labels: { tier: null } } });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
    await amend("m4", { metadata: { labels: { tier: "gold" } } });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2", "m4"]);
  });

  it("join and unjoin: Duplicated goes to a new cluster and leaves with it; Divided moves", async () => {
    const shop = await open();
    await shop.policy("p", { resourceSelectors: [named(kinds.deployments, "web")] });
    await fleet.addMember("m5");
    await fleet.join("m5", { region: "east" });
    await fleet.advance("60s");
    const spec = {
      placement: {
        clusterAffinity: { clusterNames: ["m1", "m5"] },
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Weighted",
        },
      },
    };
    await shop.policy("d", { resourceSelectors: [named(kinds.deployments, "divided")], ...spec });
    await shop.deploy("web");
    await shop.deploy("divided", { replicas: 4 });
    await fleet.advance("30s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1", "m2", "m3", "m4", "m5"]);
    expect(await shop.replicas("divided")).toEqual({ m1: 2, m5: 2 });
    await fleet.plane.delete(clusters, { namespace: "", name: "m5" });
    await fleet.advance("3m");
    const binding = await shop.binding("divided-deployment");
    expect(binding.spec.clusters).toEqual([{ name: "m1", replicas: 4 }]);
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1", "m2", "m3", "m4"]);
    expect(await shop.replicas("divided")).toEqual({ m1: 4 });
    expect((await fleet.plane.list(clusters)).items).toHaveLength(4);
  });
});

describe("tainttoleration", () => {
  it("every cluster gets a NoSchedule taint with its own value; the Deployment lands only on the tolerated one", async () => {
    const shop = await open();
    for (const name of Object.keys(REGIONS))
      await amend(name, { spec: { taints: [{ key: "own", value: name, effect: "NoSchedule" }] } });
    await fleet.advance("5s");
    await shop.policy("p", {
      placement: {
        clusterTolerations: [{ key: "own", operator: "Equal", value: "m3", effect: "NoSchedule" }],
      },
    });
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m3"]);
    await shop.policy("q", { resourceSelectors: [named(kinds.configMaps)], ...on("m1") });
    await shop.create(kinds.configMaps, "repelled");
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "repelled")).toEqual([]);
    for (const name of Object.keys(REGIONS)) await amend(name, { spec: { taints: null } });
    await fleet.advance("60s");
    expect(await shop.where(kinds.configMaps, "repelled")).toEqual(["m1"]);
  });
});
