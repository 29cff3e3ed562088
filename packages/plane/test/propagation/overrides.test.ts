/** The rows "overridepolicy, clusteroverridepolicy, fieldselector" and "dependenciesdistributor" of the reference. */
import {
  clusterOverridePolicies,
  clusters,
  overridePolicies,
  propagationPolicies,
} from "@lifeboat/api";
import type { Fleet } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  clusterPolicy,
  type Fields,
  kinds,
  MEMBERS,
  named,
  on,
  openFleet,
  Shop,
} from "./propagation.suite.ts";

let fleet: Fleet;
let shops = 0;
const open = (): Promise<Shop> => {
  shops += 1;
  return Shop.open(fleet, `over-${shops}`);
};

beforeAll(async () => {
  fleet = await openFleet();
  const places = [
    ["m1", { provider: "alpha", region: "north", zones: ["n1", "n2"] }],
    ["m2", { provider: "alpha", region: "south", zones: ["s1"] }],
    ["m3", { provider: "beta", region: "south", zones: ["s2"] }],
  ] as const;
  for (const [name, spec] of places)
    await fleet.plane.patch(
      clusters,
      { namespace: "", name },
      { type: "merge", body: { spec: spec as never } },
    );
  await fleet.advance("5s");
});
afterAll(() => fleet.close());

function override(shop: Shop, name: string, spec: Fields): Promise<unknown> {
  return fleet.plane.create(overridePolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name, namespace: shop.namespace },
    spec: spec as never,
  });
}

const labels = (value: Fields): Fields => ({
  overriders: { labelsOverrider: [{ operator: "add", value }] },
});

/** The value of a label in each member. */
async function labelIn(shop: Shop, label: string): Promise<Readonly<Record<string, unknown>>> {
  const copies = await shop.copies(kinds.deployments, "web");
  return Object.fromEntries([...copies].map(([m, copy]) => [m, copy.metadata.labels?.[label]]));
}

describe("overridepolicy", () => {
  it("every overrider has its result in members, and OP after PP takes effect", async () => {
    const shop = await open();
    await shop.policy("p");
    await shop.deploy("web");
    await shop.rest();
    await override(shop, "all", {
      resourceSelectors: [named(kinds.deployments, "web")],
      overrideRules: [
        {
          targetCluster: { clusterNames: ["m1"] },
          overriders: {
            imageOverrider: [
              { component: "Registry", operator: "replace", value: "registry.example" },
              { component: "Tag", operator: "replace", value: "2.0" },
            ],
            commandOverrider: [{ containerName: "c", operator: "add", value: ["run"] }],
            argsOverrider: [{ containerName: "c", operator: "add", value: ["--fast"] }],
            labelsOverrider: [{ operator: "add", value: { where: "m1" } }],
            annotationsOverrider: [{ operator: "add", value: { note: "hello" } }],
            plaintext: [{ path: "/spec/replicas", operator: "replace", value: 5 }],
          },
        },
      ],
    });
    await shop.rest();
    const copies = await shop.copies(kinds.deployments, "web");
    expect(copies.get("m1")).toMatchObject({
      metadata: { labels: { where: "m1" }, annotations: { note: "hello" } },
      spec: {
        replicas: 5,
        template: {
          spec: {
            containers: [
              { image: "registry.example/nginx:2.0", command: ["run"], args: ["--fast"] },
            ],
          },
        },
      },
    });
    expect(copies.get("m2")).toMatchObject({ spec: { replicas: 1 } });
    expect(copies.get("m2")?.metadata.labels).not.toHaveProperty("where");
    const work = await shop.work("m1", "web");
    expect(work?.metadata.annotations?.["policy.karmada.io/applied-overrides"]).toContain('"all"');
    expect(await shop.reasons("Deployment", "web")).toContain("ApplyOverridePolicySucceed");
  });

  it("goes: its results go from members too", async () => {
    const shop = await open();
    await shop.policy("p");
    await shop.deploy("web");
    await override(shop, "o", { overrideRules: [labels({ colour: "red" })] });
    await shop.rest();
    expect(await labelIn(shop, "colour")).toEqual({ m1: "red", m2: "red", m3: "red" });
    await shop.delete(overridePolicies, "o");
    await shop.rest();
    expect(await labelIn(shop, "colour")).toEqual({ m1: undefined, m2: undefined, m3: undefined });
  });

  it("nil selectors mean every resource of the namespace, and of no other", async () => {
    const [shop, other] = [await open(), await open()];
    for (const one of [shop, other]) {
      await one.policy("p", on("m1"));
      await one.deploy("web");
    }
    await override(shop, "o", { overrideRules: [labels({ colour: "red" })] });
    await shop.rest();
    expect(await labelIn(shop, "colour")).toEqual({ m1: "red" });
    expect(await labelIn(other, "colour")).toEqual({ m1: undefined });
  });

  it.each<readonly [string, Fields, readonly string[]]>([
    ["provider In", { key: "provider", operator: "In", values: ["alpha"] }, ["m1", "m2"]],
    ["provider NotIn", { key: "provider", operator: "NotIn", values: ["alpha"] }, ["m3"]],
    ["region In", { key: "region", operator: "In", values: ["south"] }, ["m2", "m3"]],
    ["region NotIn", { key: "region", operator: "NotIn", values: ["south"] }, ["m1"]],
    ["zone In", { key: "zone", operator: "In", values: ["n2", "s2"] }, ["m1", "m3"]],
    ["zone NotIn", { key: "zone", operator: "NotIn", values: ["n2", "s2"] }, ["m2"]],
  ])(
    "fieldselector: %s chooses for placement and for overrides",
    async (_name, expression, where) => {
      const shop = await open();
      const affinity = { fieldSelector: { matchExpressions: [expression] } };
      await shop.policy("placed", {
        resourceSelectors: [named(kinds.deployments, "placed")],
        placement: { clusterAffinity: affinity },
      });
      await shop.policy("web", { resourceSelectors: [named(kinds.deployments, "web")] });
      await override(shop, "o", {
        resourceSelectors: [named(kinds.deployments, "web")],
        overrideRules: [{ targetCluster: affinity, ...labels({ meant: "yes" }) }],
      });
      await shop.deploy("placed");
      await shop.deploy("web");
      await shop.rest();
      expect(await shop.where(kinds.deployments, "placed")).toEqual(where);
      const meant = await labelIn(shop, "meant");
      expect(MEMBERS.filter((member) => meant[member] === "yes")).toEqual(where);
    },
  );

  it("clusteroverridepolicy applies first, so that the namespace's own has the last word", async () => {
    const shop = await open();
    await shop.policy("p", on("m1"));
    await fleet.plane.create(clusterOverridePolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterOverridePolicy",
      metadata: { name: "wide" },
      spec: {
        resourceSelectors: [{ ...named(kinds.deployments, "web"), namespace: shop.namespace }],
        overrideRules: [labels({ first: "wide", second: "wide" })],
      } as never,
    });
    await override(shop, "own", { overrideRules: [labels({ second: "own" })] });
    await shop.deploy("web");
    await shop.rest();
    expect(await labelIn(shop, "first")).toEqual({ m1: "wide" });
    expect(await labelIn(shop, "second")).toEqual({ m1: "own" });
    const work = await shop.work("m1", "web");
    expect(work?.metadata.annotations?.["policy.karmada.io/applied-cluster-overrides"]).toContain(
      '"wide"',
    );
  });

  it("an override that cannot be applied fails that cluster alone, and says so", async () => {
    const shop = await open();
    await shop.policy("p");
    await override(shop, "bad", {
      overrideRules: [
        {
          targetCluster: { clusterNames: ["m2"] },
          overriders: {
            plaintext: [{ path: "/spec/nowhere/deep", operator: "replace", value: 1 }],
          },
        },
      ],
    });
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1", "m3"]);
    expect(await shop.reasons("Deployment", "web")).toContain("ApplyOverridePolicyFailed");
  });
});

describe("dependenciesdistributor", () => {
  const needing = (app: string): Fields => ({
    template: {
      metadata: { labels: { app } },
      spec: {
        serviceAccountName: "needed",
        containers: [
          { name: "c", image: "nginx:1.27", envFrom: [{ secretRef: { name: "needed" } }] },
        ],
        volumes: [
          { name: "a", configMap: { name: "needed" } },
          { name: "b", persistentVolumeClaim: { claimName: "needed" } },
        ],
      },
    },
  });
  const NEEDED = ["configMaps", "secrets", "claims", "serviceAccounts"] as const;

  async function createNeeded(shop: Shop): Promise<void> {
    await shop.create(kinds.configMaps, "needed", { data: { a: "1" } });
    await shop.create(kinds.secrets, "needed", { data: { a: "MQ==" } });
    await shop.create(kinds.serviceAccounts, "needed");
    await shop.create(kinds.claims, "needed", {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
  }

  it.each(["PropagationPolicy", "ClusterPropagationPolicy"])(
    "ConfigMap, Secret, PVC, SA follow the Deployment of a %s and move with it",
    async (kind) => {
      const shop = await open();
      await createNeeded(shop);
      const spec = { propagateDeps: true, ...on("m1") };
      const selectors = [{ ...named(kinds.deployments), namespace: shop.namespace }];
      if (kind === "PropagationPolicy") await shop.policy("p", spec);
      else await clusterPolicy(fleet, shop.namespace, { resourceSelectors: selectors, ...spec });
      await shop.deploy("web", needing("web") as never);
      await shop.rest();
      for (const one of NEEDED)
        expect([one, await shop.where(kinds[one], "needed")]).toEqual([one, ["m1"]]);
      if (kind !== "PropagationPolicy") return;
      await fleet.plane.patch(propagationPolicies, shop.key("p"), {
        type: "merge",
        body: { spec: on("m2") as never },
      });
      await fleet.advance("60s");
      expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
      for (const one of NEEDED)
        expect([one, await shop.where(kinds[one], "needed")]).toEqual([one, ["m2"]]);
      await shop.delete(kinds.deployments, "web");
      await fleet.advance("60s");
      for (const one of NEEDED)
        expect([one, await shop.where(kinds[one], "needed")]).toEqual([one, []]);
    },
  );

  it("conflict events and merge: Overwrite and preserving win, and a Warning says so", async () => {
    const shop = await open();
    await createNeeded(shop);
    const one = (name: string): Fields => ({
      resourceSelectors: [named(kinds.deployments, name)],
      propagateDeps: true,
    });
    await shop.policy("a", { ...one("a"), ...on("m1"), conflictResolution: "Overwrite" });
    await shop.policy("b", { ...one("b"), ...on("m2"), preserveResourcesOnDeletion: true });
    for (const name of ["a", "b"]) await shop.deploy(name, needing(name) as never);
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "needed")).toEqual(["m1", "m2"]);
    const { spec } = await shop.binding("needed-configmap");
    expect(spec).toMatchObject({
      conflictResolution: "Overwrite",
      preserveResourcesOnDeletion: true,
    });
    const told = await shop.events("ResourceBinding", "needed-configmap");
    const conflicts = told.filter(({ reason }) => reason === "DependencyPolicyConflict");
    const text = conflicts.map(({ message }) => message).join("\n");
    expect(text).toContain("ConflictResolution conflicted (Overwrite vs Abort)");
    expect(text).toContain("PreserveResourcesOnDeletion conflicted (true vs false)");
    expect(new Set(conflicts.map(({ type }) => type))).toEqual(new Set(["Warning"]));
  });
});
