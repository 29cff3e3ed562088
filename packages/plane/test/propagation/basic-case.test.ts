/** The rows "propagationpolicy BasicCase", "clusterpropagationpolicy" and "clusterresourcebinding" of the reference. */
import { clusterResourceBindings } from "@lifeboat/api";
import { type Fleet, widgetCrd } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterPolicy, kinds, MEMBERS, named, on, openFleet, Shop } from "./propagation.suite.ts";

let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet();
});
afterAll(() => fleet.close());

const POD = { containers: [{ name: "c", image: "nginx:1.27" }] };
const ROLE = {
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
};
const ROLE_BINDING = {
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "one" },
  subjects: [{ kind: "User", name: "ann", apiGroup: "rbac.authorization.k8s.io" }],
};

describe("propagationpolicy BasicCase", () => {
  it("Deployment, Service, Pod, CR, Job, Role, RoleBinding reach members; updates propagate", async () => {
    const shop = await Shop.open(fleet, "basic");
    await clusterPolicy(fleet, "widgets", {
      resourceSelectors: [named(kinds.crds, "widgets.ex.io")],
    });
    await fleet.plane.create(kinds.crds, widgetCrd());
    await fleet.advance("35s");
    const all = [
      ["deployments", { spec: { replicas: 2 } }, undefined],
      ["services", { spec: { ports: [{ port: 81 }] } }, { spec: { ports: [{ port: 80 }] } }],
      ["pods", { spec: { containers: [{ name: "c", image: "nginx:1.28" }] } }, { spec: POD }],
      ["widgets", { spec: { color: "green" } }, { spec: { color: "red" } }],
      [
        "jobs",
        { metadata: { labels: { tier: "gold" } } },
        { spec: { template: { spec: { ...POD, restartPolicy: "Never" } } } },
      ],
      ["roles", { rules: [{ ...ROLE.rules[0], verbs: ["list"] }] }, ROLE],
      ["roleBindings", { metadata: { labels: { tier: "gold" } } }, ROLE_BINDING],
    ] as const;
    await shop.policy("all", { resourceSelectors: all.map(([kind]) => named(kinds[kind])) });
    for (const [kind, , fields] of all) {
      if (fields === undefined) await shop.deploy("one");
      else await shop.create(kinds[kind], "one", fields);
    }
    await shop.rest();
    for (const [kind] of all)
      expect([kind, await shop.where(kinds[kind], "one")]).toEqual([kind, MEMBERS]);
    for (const [kind, edit] of all) await shop.edit(kinds[kind], "one", edit);
    await shop.rest();
    for (const [kind, edit] of all)
      for (const [, copy] of await shop.copies(kinds[kind], "one"))
        expect(copy).toMatchObject(edit);
  });

  it("permanent-id labels on Work and member", async () => {
    const shop = await Shop.open(fleet, "ids");
    await shop.policy("web", on("m1"));
    await shop.deploy("web");
    await shop.rest();
    const binding = await shop.binding("web-deployment");
    const id = binding.metadata.labels?.["resourcebinding.karmada.io/permanent-id"];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const work = await shop.work("m1", "web");
    const workId = work?.metadata.labels?.["work.karmada.io/permanent-id"];
    expect(work?.metadata.labels).toMatchObject({ "resourcebinding.karmada.io/permanent-id": id });
    const copy = (await shop.copies(kinds.deployments, "web")).get("m1");
    expect(copy?.metadata.labels).toMatchObject({
      "karmada.io/managed": "true",
      "resourcebinding.karmada.io/permanent-id": id,
      "work.karmada.io/permanent-id": workId,
    });
  });

  it("events ApplyPolicySucceed, GetReplicasSucceed, ScheduleBindingSucceed, SyncWorkSucceed, SyncSucceed, AggregateStatusSucceed; WorkDispatching event", async () => {
    const shop = await Shop.open(fleet, "events");
    await shop.policy("web", on("m1"));
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.reasons("Deployment", "web")).toEqual(
      expect.arrayContaining([
        "AggregateStatusSucceed",
        "ApplyPolicySucceed",
        "GetReplicasSucceed",
        "ScheduleBindingSucceed",
        "SyncSucceed",
        "SyncWorkSucceed",
      ]),
    );
    expect(await shop.reasons("ResourceBinding", "web-deployment")).toEqual(
      expect.arrayContaining([
        "AggregateStatusSucceed",
        "ScheduleBindingSucceed",
        "SyncWorkSucceed",
      ]),
    );
    const work = await shop.work("m1", "web");
    const { name = "", namespace = "" } = work?.metadata ?? {};
    const told = await shop.events("Work", name, namespace);
    expect(told).toContainEqual(
      expect.objectContaining({
        reason: "WorkDispatching",
        message: "Work is being dispatched to member clusters.",
      }),
    );
    expect(told.map(({ reason }) => reason)).toContain("SyncSucceed");
  });

  it("Corner case: long names (>63)", async () => {
    const shop = await Shop.open(fleet, "long");
    const name = `${"long-".repeat(24)}name`;
    const policy = `policy-${"p".repeat(200)}`;
    await shop.policy(policy, { resourceSelectors: [named(kinds.configMaps, name)], ...on("m1") });
    await shop.create(kinds.configMaps, name, { data: { a: "1" } });
    await shop.rest();
    expect(await shop.where(kinds.configMaps, name)).toEqual(["m1"]);
    await shop.delete(kinds.configMaps, name);
    await shop.rest();
    expect(await shop.where(kinds.configMaps, name)).toEqual([]);
  });
});

describe("clusterpropagationpolicy", () => {
  it("CRD, ClusterRole and a Deployment propagate; permanent-id labels of the ClusterResourceBinding", async () => {
    const shop = await Shop.open(fleet, "wide");
    await clusterPolicy(fleet, "wide", {
      resourceSelectors: [
        named(kinds.clusterRoles, "reader"),
        { ...named(kinds.deployments, "web"), namespace: "wide" },
      ],
    });
    await shop.create(kinds.clusterRoles, "reader", ROLE);
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.clusterRoles, "reader")).toEqual(MEMBERS);
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
    const binding = await fleet.plane.get(clusterResourceBindings, {
      namespace: "",
      name: "reader-clusterrole",
    });
    const label = "clusterresourcebinding.karmada.io/permanent-id";
    for (const [, copy] of await shop.copies(kinds.clusterRoles, "reader"))
      expect(copy.metadata.labels?.[label]).toBe(binding.metadata.labels?.[label]);
    const template = await shop.template(kinds.deployments, "web");
    expect(template.metadata.annotations).toMatchObject({
      "clusterpropagationpolicy.karmada.io/name": "wide",
    });
  });

  it("delete: the objects of a ResourceBinding and of a ClusterResourceBinding go from members", async () => {
    const shop = await Shop.open(fleet, "going");
    await clusterPolicy(fleet, "going", {
      resourceSelectors: [
        named(kinds.clusterRoles, "goer"),
        { ...named(kinds.configMaps), namespace: "going" },
      ],
    });
    await shop.create(kinds.clusterRoles, "goer", ROLE);
    await shop.create(kinds.configMaps, "goer");
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "goer")).toEqual(MEMBERS);
    expect(await shop.where(kinds.clusterRoles, "goer")).toEqual(MEMBERS);
    await shop.delete(kinds.clusterRoles, "goer");
    await shop.delete(kinds.configMaps, "goer");
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "goer")).toEqual([]);
    expect(await shop.where(kinds.clusterRoles, "goer")).toEqual([]);
    expect(await shop.hasBinding("goer-configmap")).toBe(false);
  });
});
