/**
 * Bad input and members that are not well: each is told by a condition and an event, and has no effect on others.
 *
 * The fleet's members: m1 and m3 are well throughout; m2 is the one that things happen to.
 */
import { clusters, propagationPolicies } from "@lifeboat/api";
import { type Fleet, type LinkFault, widgetCrd } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds, MEMBERS, named, on, openFleet, Shop } from "./propagation.suite.ts";

let fleet: Fleet;
let shops = 0;
const open = (): Promise<Shop> => {
  shops += 1;
  return Shop.open(fleet, `bad-${shops}`);
};

beforeAll(async () => {
  fleet = await openFleet();
});
afterAll(() => fleet.close());

const condition = async (shop: Shop, binding: string, type: string): Promise<unknown> =>
  (await shop.binding(binding)).status?.conditions?.find((one) => one.type === type);
const ready = async (name: string): Promise<unknown> =>
  (await fleet.plane.get(clusters, { namespace: "", name })).status?.conditions?.find(
    ({ type }) => type === "Ready",
  );

describe("a policy", () => {
  it("that selects nothing is told so by an event, and others go on", async () => {
    const shop = await open();
    await shop.policy("nothing", { resourceSelectors: [named(kinds.deployments, "nobody")] });
    await shop.policy("something", { resourceSelectors: [named(kinds.deployments, "web")] });
    await shop.deploy("web");
    await fleet.advance("2m");
    const told = await shop.events("PropagationPolicy", "nothing");
    expect(told).toContainEqual(expect.objectContaining({ type: "Warning" }));
    expect(await shop.events("PropagationPolicy", "something")).toEqual([]);
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
  });

  it("that names a kind which does not exist waits for it, and takes the rest", async () => {
    const shop = await open();
    await shop.policy("p", {
      resourceSelectors: [
        { apiVersion: "nowhere.io/v1", kind: "Nothing" },
        named(kinds.deployments),
      ],
    });
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
  });

  it.each([
    ["that fits no cluster", on("nobody")],
    [
      "that contradicts itself",
      {
        placement: { clusterAffinity: { clusterNames: ["m1"], exclude: ["m1"] } },
      },
    ],
  ])("%s: Scheduled=False and an event say why, and nothing runs", async (_name, spec) => {
    const shop = await open();
    await shop.policy("p", spec);
    await shop.deploy("web");
    await shop.rest();
    expect(await condition(shop, "web-deployment", "Scheduled")).toMatchObject({
      status: "False",
      reason: "NoClusterFit",
      message: expect.stringContaining(
        "0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.",
      ) as unknown,
    });
    expect(await shop.reasons("Deployment", "web")).toContain("ScheduleBindingFailed");
    expect(await shop.where(kinds.deployments, "web")).toEqual([]);
  });
});

describe("a template", () => {
  it("whose API is missing in a member is not sent there, and follows when the API comes", async () => {
    const shop = await open();
    await fleet.plane.create(kinds.crds, widgetCrd());
    for (const member of ["m1", "m3"])
      await fleet.member(member).client.create(kinds.crds, widgetCrd());
    await fleet.advance("60s");
    await shop.policy("widgets", { resourceSelectors: [named(kinds.widgets)] });
    await shop.create(kinds.widgets, "w", { spec: { color: "green" } });
    await shop.policy("only", {
      resourceSelectors: [named(kinds.widgets, "there")],
      ...on("m2"),
    });
    await shop.create(kinds.widgets, "there", { spec: { color: "green" } });
    await fleet.advance("30s");
    expect((await shop.binding("w-widget")).spec.clusters?.map(({ name }) => name)).toEqual([
      "m1",
      "m3",
    ]);
    expect(await shop.where(kinds.widgets, "w")).toEqual(["m1", "m3"]);
    expect(await condition(shop, "there-widget", "Scheduled")).toMatchObject({
      status: "False",
      reason: "NoClusterFit",
      message: expect.stringContaining("did not have the API resource") as unknown,
    });
    expect(await shop.reasons("Widget", "there")).toContain("ScheduleBindingFailed");
    await fleet.member("m2").client.create(kinds.crds, widgetCrd());
    await fleet.advance("2m");
    expect(await shop.where(kinds.widgets, "w")).toEqual(MEMBERS);
    expect(await shop.where(kinds.widgets, "there")).toEqual(["m2"]);
  });

  it("that a member refuses is told on the binding, and the others have it", async () => {
    const shop = await open();
    // The namespace of the member is on its way out, so nothing can be made in it.
    const own = { namespace: "", name: shop.namespace };
    const { client } = fleet.member("m2");
    await client.patch(kinds.namespaces, own, {
      type: "merge",
      body: { spec: { finalizers: ["kubernetes"] }, metadata: { finalizers: ["test/held"] } },
    });
    await client.delete(kinds.namespaces, own);
    await shop.policy("p");
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1", "m3"]);
    expect(await condition(shop, "web-deployment", "FullyApplied")).toMatchObject({
      status: "False",
      reason: "FullyAppliedFailed",
    });
    const { status } = await shop.binding("web-deployment");
    const item = status?.aggregatedStatus?.find(({ clusterName }) => clusterName === "m2");
    expect(item).toMatchObject({ applied: false, health: "Unknown" });
    expect(item?.appliedMessage).toContain("Failed to apply all manifests (0/1)");
    expect(await shop.reasons("Deployment", "web")).toContain("SyncFailed");
    await client.patch(kinds.namespaces, own, {
      type: "merge",
      body: { metadata: { finalizers: null } },
    });
    await fleet.advance("5m");
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
  });
});

describe("a member", () => {
  const faults: readonly (readonly [string, LinkFault, string])[] = [
    ["that answers 500", { kind: "errors" }, "ClusterNotReady"],
    ["that hangs", { kind: "partition" }, "ClusterNotReachable"],
    ["that is unreachable", { kind: "down" }, "ClusterNotReachable"],
  ];

  it.each(faults)(
    "%s: a condition and an event say so, others are served, and it catches up when it is well",
    async (_name, fault, reason) => {
      const shop = await open();
      await shop.policy("p", { resourceSelectors: [named(kinds.deployments)] });
      fleet.member("m2").link.setFault(fault);
      await shop.deploy("early");
      await fleet.advance("2m");
      expect(await ready("m2")).toMatchObject({ status: "False", reason });
      expect(await ready("m1")).toMatchObject({ status: "True" });
      expect(await shop.where(kinds.deployments, "early")).toEqual(["m1", "m3"]);
      expect(await condition(shop, "early-deployment", "FullyApplied")).toMatchObject({
        status: "False",
      });
      const told = await shop.reasons("Deployment", "early");
      expect(told).toContain("SyncFailed");
      await shop.deploy("late");
      await shop.delete(kinds.deployments, "early");
      await fleet.advance("30s");
      expect(await shop.where(kinds.deployments, "late")).toEqual(["m1", "m3"]);
      fleet.member("m2").link.setFault(undefined);
      await fleet.advance("3m");
      expect(await ready("m2")).toMatchObject({ status: "True" });
      expect(await shop.where(kinds.deployments, "late")).toEqual(MEMBERS);
      expect(await shop.where(kinds.deployments, "early")).toEqual([]);
      expect(await shop.hasBinding("early-deployment")).toBe(false);
    },
  );

  it("that is slow slows nobody else", async () => {
    const shop = await open();
    fleet.member("m2").link.setFault({ kind: "slow", delayMs: 5000 });
    await shop.policy("p");
    await shop.deploy("web");
    await fleet.advance("4s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1", "m3"]);
    await fleet.advance("2m");
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
    fleet.member("m2").link.setFault(undefined);
    await fleet.advance("60s");
  });

  it("whose credential is wrong is told so, and works again with the right one", async () => {
    const shop = await open();
    fleet.member("m2").setToken("another");
    await shop.policy("p");
    await shop.deploy("web");
    await fleet.advance("2m");
    expect(await ready("m2")).toMatchObject({ status: "False" });
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1", "m3"]);
    fleet.member("m2").setToken("m2-token");
    await fleet.advance("3m");
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
  });
});

describe("refusals", () => {
  it("nothing of a refused policy is stored, and the answer names the field", async () => {
    const shop = await open();
    await expect(
      shop.policy("p", {
        placement: { spreadConstraints: [{ minGroups: 3, maxGroups: 2 }] },
      }),
    ).rejects.toMatchObject({
      status: {
        code: 422,
        details: {
          causes: expect.arrayContaining([
            expect.objectContaining({
              field: expect.stringContaining("spec.placement.spreadConstraints[0]") as unknown,
            }),
          ]) as unknown,
        },
      },
    });
    const { items } = await fleet.plane.list(propagationPolicies, { namespace: shop.namespace });
    expect(items).toEqual([]);
  });
});
