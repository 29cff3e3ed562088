/** The rows "propagationpolicy Advanced" and "Suspension" of the reference. */
import { propagationPolicies, works } from "@lifeboat/api";
import type { Fleet } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterPolicy, kinds, MEMBERS, named, on, openFleet, Shop } from "./propagation.suite.ts";

let fleet: Fleet;
let shops = 0;
const open = (): Promise<Shop> => {
  shops += 1;
  return Shop.open(fleet, `change-${shops}`);
};

beforeAll(async () => {
  fleet = await openFleet();
});
afterAll(() => fleet.close());

const amend = (shop: Shop, name: string, spec: object): Promise<unknown> =>
  fleet.plane.patch(propagationPolicies, shop.key(name), {
    type: "merge",
    body: { spec: spec as never },
  });

describe("propagationpolicy Advanced", () => {
  it("add and replace selectors: what is no longer selected keeps running unclaimed", async () => {
    const shop = await open();
    await shop.policy("p", { resourceSelectors: [named(kinds.deployments, "a")], ...on("m1") });
    await shop.deploy("a");
    await shop.deploy("b");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "b")).toEqual([]);
    const selectors = (...names: string[]): object => ({
      resourceSelectors: names.map((name) => named(kinds.deployments, name)),
    });
    await amend(shop, "p", selectors("a", "b"));
    await shop.rest();
    expect(await shop.where(kinds.deployments, "b")).toEqual(["m1"]);
    await amend(shop, "p", selectors("b"));
    await shop.rest();
    expect(await shop.where(kinds.deployments, "a")).toEqual(["m1"]);
    const released = await shop.template(kinds.deployments, "a");
    expect(Object.keys(released.metadata.labels ?? {})).toEqual(["app"]);
  });

  it("toggle propagateDeps", async () => {
    const shop = await open();
    await shop.create(kinds.configMaps, "needed", { data: { a: "1" } });
    await shop.policy("p", on("m1"));
    await shop.deploy("web", {
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          containers: [
            { name: "c", image: "nginx:1.27", envFrom: [{ configMapRef: { name: "needed" } }] },
          ],
        },
      },
    });
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "needed")).toEqual([]);
    await amend(shop, "p", { propagateDeps: true });
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "needed")).toEqual(["m1"]);
    await amend(shop, "p", { propagateDeps: false });
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "needed")).toEqual([]);
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
  });

  it("change placement", async () => {
    const shop = await open();
    await shop.policy("p", on("m1", "m2"));
    await shop.deploy("web");
    await shop.rest();
    await amend(shop, "p", on("m2", "m3"));
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2", "m3"]);
  });

  it("delete policy strips labels and annotations, and what it propagated stays", async () => {
    const shop = await open();
    await shop.policy("p", on("m1"));
    await shop.deploy("web");
    await shop.rest();
    await shop.delete(propagationPolicies, "p");
    await shop.rest();
    await expect(fleet.plane.get(propagationPolicies, shop.key("p"))).rejects.toMatchObject({
      status: { code: 404 },
    });
    for (const object of [
      await shop.template(kinds.deployments, "web"),
      await shop.binding("web-deployment"),
    ]) {
      const keys = [
        ...Object.keys(object.metadata.labels ?? {}),
        ...Object.keys(object.metadata.annotations ?? {}),
      ];
      expect(keys.filter((key) => key.startsWith("propagationpolicy.karmada.io/"))).toEqual([]);
    }
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
  });

  it("rebinding to another policy reuses the binding", async () => {
    const shop = await open();
    await shop.policy("first", on("m1"));
    await shop.deploy("web");
    await shop.rest();
    const { uid } = (await shop.binding("web-deployment")).metadata;
    await shop.policy("second", on("m2"));
    await shop.delete(propagationPolicies, "first");
    await fleet.advance("60s");
    expect((await shop.binding("web-deployment")).metadata.uid).toBe(uid);
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
  });
});

describe("Suspension", () => {
  const image = (tag: string): object => ({
    spec: { template: { spec: { containers: [{ name: "c", image: `nginx:${tag}` }] } } },
  });

  it.each(["propagationpolicy", "clusterpropagationpolicy"])(
    "%s: binding and Work are suspended, Dispatching=False, WorkDispatching event with the literal messages, resumed by {} or nil",
    async (kind) => {
      const shop = await open();
      const suspended = { suspension: { dispatching: true }, ...on("m1") };
      if (kind === "propagationpolicy") await shop.policy("p", suspended);
      else
        await clusterPolicy(fleet, shop.namespace, {
          resourceSelectors: [{ ...named(kinds.deployments), namespace: shop.namespace }],
          ...suspended,
        });
      await shop.deploy("web");
      await shop.rest();
      expect((await shop.binding("web-deployment")).spec.suspension).toMatchObject({
        dispatching: true,
      });
      const work = await shop.work("m1", "web");
      expect(work?.spec.suspendDispatching).toBe(true);
      expect(work?.status?.conditions).toContainEqual(
        expect.objectContaining({
          type: "Dispatching",
          status: "False",
          reason: "SuspendDispatching",
          message: "Work dispatching is in a suspended state.",
        }),
      );
      expect(await shop.where(kinds.deployments, "web")).toEqual([]);
      if (kind !== "propagationpolicy") return;
      for (const none of [{}, null]) {
        await amend(shop, "p", { suspension: { dispatching: true } });
        await shop.rest();
        await amend(shop, "p", {
          suspension: none === null ? null : { dispatching: null },
        });
        await shop.rest();
        expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
        const resumed = await shop.work("m1", "web");
        expect(resumed?.status?.conditions).toContainEqual(
          expect.objectContaining({ type: "Dispatching", status: "True", reason: "Dispatching" }),
        );
      }
      const { name = "", namespace = "" } = work?.metadata ?? {};
      const messages = (await shop.events("Work", name, namespace))
        .filter(({ reason }) => reason === "WorkDispatching")
        .map(({ message }) => message);
      expect(messages).toEqual(
        expect.arrayContaining([
          "Work dispatching is in a suspended state.",
          "Work is being dispatched to member clusters.",
        ]),
      );
    },
  );

  it("on some clusters: the others go on, the copy there keeps running as it is, deletion is still carried out", async () => {
    const shop = await open();
    await shop.policy("p");
    await shop.deploy("web");
    await shop.rest();
    await amend(shop, "p", { suspension: { dispatchingOnClusters: { clusterNames: ["m2"] } } });
    await shop.rest();
    await shop.edit(kinds.deployments, "web", image("1.28") as never);
    await shop.rest();
    const images = [...(await shop.copies(kinds.deployments, "web"))].map(([member, copy]) => [
      member,
      JSON.stringify(copy).includes("nginx:1.28"),
    ]);
    expect(images).toEqual([
      ["m1", true],
      ["m2", false],
      ["m3", true],
    ]);
    await shop.delete(kinds.deployments, "web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual([]);
  });

  it("a restart in the middle neither resumes nor forgets", async () => {
    const shop = await open();
    await shop.policy("p", { suspension: { dispatching: true } });
    await shop.deploy("web");
    await fleet.advance("1s");
    await fleet.restart();
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual([]);
    await amend(shop, "p", { suspension: null });
    await fleet.restart();
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
  });

  it("at rest nothing is written, neither by time nor by a restart", async () => {
    await fleet.advance("5m");
    const before = (await fleet.plane.list(works)).items.map(
      ({ metadata }) => metadata.resourceVersion,
    );
    await fleet.restart();
    await fleet.advance("10m");
    const after = (await fleet.plane.list(works)).items.map(
      ({ metadata }) => metadata.resourceVersion,
    );
    expect(after).toEqual(before);
  });
});
