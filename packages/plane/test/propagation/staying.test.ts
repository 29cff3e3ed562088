/**
 * What is allowed to be in members, and what stays there: the rows "namespace", "resource_deletion_protection",
 * "porting_workloads", "migration_and_rollback" and "deploymentreplicassyncer" of the reference.
 */
import { clusters, orNothing, propagationPolicies } from "@lifeboat/api";
import { deployment, type Fleet, namespace } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds, MEMBERS, named, on, openFleet, Shop } from "./propagation.suite.ts";

let fleet: Fleet;
let shops = 0;
const open = (): Promise<Shop> => {
  shops += 1;
  return Shop.open(fleet, `stay-${shops}`);
};

beforeAll(async () => {
  fleet = await openFleet();
});
afterAll(() => fleet.close());

describe("namespace", () => {
  const where = async (name: string): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const member of [...MEMBERS, "m4"]) {
      const one = fleet.context.informers.clusters.get({ namespace: "", name: member });
      if (one === undefined) continue;
      const { client } = fleet.member(member);
      if (await orNothing(client.get(kinds.namespaces, { namespace: "", name })))
        found.push(member);
    }
    return found;
  };

  it("create and delete propagate, and a new cluster gets it", async () => {
    await fleet.plane.create(kinds.namespaces, namespace("coming"));
    await fleet.advance("15s");
    expect(await where("coming")).toEqual(MEMBERS);
    await fleet.addMember("m4");
    await fleet.join("m4");
    await fleet.advance("60s");
    expect(await where("coming")).toEqual([...MEMBERS, "m4"]);
    await fleet.plane.delete(kinds.namespaces, { namespace: "", name: "coming" });
    await fleet.advance("60s");
    expect(await where("coming")).toEqual([]);
    await fleet.plane.delete(clusters, { namespace: "", name: "m4" });
    await fleet.advance("60s");
  });

  it("its deletion takes what was propagated from it", async () => {
    const shop = await open();
    await shop.policy("p");
    await shop.deploy("web");
    await shop.rest();
    await fleet.plane.delete(kinds.namespaces, { namespace: "", name: shop.namespace });
    await fleet.advance("60s");
    expect(await where(shop.namespace)).toEqual([]);
    expect(
      await orNothing(fleet.plane.get(kinds.namespaces, { namespace: "", name: shop.namespace })),
    ).toBe(undefined);
  });
});

describe("resource_deletion_protection", () => {
  const LABEL = "resourcetemplate.karmada.io/deletion-protected";

  it("a protected template, and a protected namespace, cannot be deleted until the label is taken off", async () => {
    const shop = await open();
    await shop.policy("p");
    await shop.deploy("web", {}, { labels: { app: "web", [LABEL]: "Always" } });
    await shop.rest();
    await expect(shop.delete(kinds.deployments, "web")).rejects.toMatchObject({
      status: { code: 403 },
    });
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
    await shop.edit(kinds.deployments, "web", { metadata: { labels: { [LABEL]: null } } });
    await shop.delete(kinds.deployments, "web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual([]);
    const own = { namespace: "", name: shop.namespace };
    await shop.edit(kinds.namespaces, shop.namespace, {
      metadata: { labels: { [LABEL]: "Always" } },
    });
    await expect(fleet.plane.delete(kinds.namespaces, own)).rejects.toMatchObject({
      status: { code: 403 },
    });
  });
});

describe("porting_workloads", () => {
  const inMember = async (shop: Shop, member: string): Promise<string> => {
    const object = deployment("web", { replicas: 7 }, { namespace: shop.namespace });
    const made = await fleet.member(member).client.create(kinds.deployments, object);
    return made.metadata.uid;
  };

  it("conflict abort: an object that is not ours is never touched, and the binding says why", async () => {
    const shop = await open();
    const uid = await inMember(shop, "m1");
    await shop.policy("p");
    await shop.deploy("web");
    await shop.rest();
    const copies = await shop.copies(kinds.deployments, "web");
    expect(copies.get("m1")).toMatchObject({ metadata: { uid }, spec: { replicas: 7 } });
    expect(copies.get("m2")).toMatchObject({ spec: { replicas: 1 } });
    const { status } = await shop.binding("web-deployment");
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "FullyApplied",
        status: "False",
        reason: "FullyAppliedFailed",
      }),
    );
    const item = status?.aggregatedStatus?.find(({ clusterName }) => clusterName === "m1");
    expect(item?.applied).toBe(false);
    expect(item?.appliedMessage).toContain("already exists in the cluster");
    expect(await shop.reasons("Deployment", "web")).toContain("SyncFailed");
    await shop.delete(kinds.deployments, "web");
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
  });

  it.each(["policy", "template annotation"])(
    "conflict overwrite by %s: the object is adopted without being replaced",
    async (by) => {
      const shop = await open();
      const uid = await inMember(shop, "m1");
      await shop.policy("p", by === "policy" ? { conflictResolution: "Overwrite" } : {});
      const annotations = { "work.karmada.io/conflict-resolution": "overwrite" };
      await shop.deploy("web", {}, by === "policy" ? {} : { annotations });
      await shop.rest();
      const copy = (await shop.copies(kinds.deployments, "web")).get("m1");
      expect(copy).toMatchObject({
        metadata: { uid, labels: { "karmada.io/managed": "true" } },
        spec: { replicas: 1 },
      });
    },
  );
});

describe("migration_and_rollback", () => {
  it("adopted with Overwrite, then deletion with preserveResourcesOnDeletion leaves the object, clean of our marks", async () => {
    const shop = await open();
    const object = deployment("web", { replicas: 2 }, { namespace: shop.namespace });
    const { uid } = (await fleet.member("m1").client.create(kinds.deployments, object)).metadata;
    await shop.policy("p", {
      conflictResolution: "Overwrite",
      preserveResourcesOnDeletion: true,
      ...on("m1"),
    });
    await shop.deploy("web", { replicas: 2 });
    await shop.rest();
    await shop.delete(kinds.deployments, "web");
    await fleet.advance("60s");
    expect(await shop.hasBinding("web-deployment")).toBe(false);
    const left = (await shop.copies(kinds.deployments, "web")).get("m1");
    expect(left?.metadata.uid).toBe(uid);
    const marks = JSON.stringify([left?.metadata.labels, left?.metadata.annotations]);
    expect(marks).not.toContain("karmada.io");
  });

  it("preserving set after the fact counts, and taking it back too", async () => {
    const shop = await open();
    await shop.policy("p", on("m1"));
    await shop.deploy("kept");
    await shop.deploy("gone");
    await shop.rest();
    const preserve = (value: boolean): Promise<unknown> =>
      fleet.plane.patch(propagationPolicies, shop.key("p"), {
        type: "merge",
        body: { spec: { preserveResourcesOnDeletion: value } },
      });
    await preserve(true);
    await shop.rest();
    await shop.delete(kinds.deployments, "kept");
    await shop.rest();
    await preserve(false);
    await shop.rest();
    await shop.delete(kinds.deployments, "gone");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "kept")).toEqual(["m1"]);
    expect(await shop.where(kinds.deployments, "gone")).toEqual([]);
  });
});

describe("retained replicas", () => {
  it("label retain-replicas: the member's replicas win over the template's", async () => {
    const shop = await open();
    await shop.policy("p", { resourceSelectors: [named(kinds.deployments, "web")], ...on("m1") });
    const label = { "resourcetemplate.karmada.io/retain-replicas": "true" };
    await shop.deploy("web", {}, { labels: { app: "web", ...label } });
    await shop.rest();
    await fleet.member("m1").client.patch(kinds.deployments, shop.key("web"), {
      type: "merge",
      body: { spec: { replicas: 6 } },
    });
    await shop.edit(kinds.deployments, "web", { spec: { minReadySeconds: 1 } });
    await shop.rest();
    const copy = (await shop.copies(kinds.deployments, "web")).get("m1");
    expect(copy).toMatchObject({ spec: { replicas: 6, minReadySeconds: 1 } });
  });
});
