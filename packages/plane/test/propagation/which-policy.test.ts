/** The rows "propagationpolicy … priority", "preemption" and "lazy_activation" of the reference. */
import { clusterPropagationPolicies, propagationPolicies } from "@lifeboat/api";
import type { Fleet } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  clusterPolicy,
  type Fields,
  kinds,
  named,
  on,
  openFleet,
  Shop,
} from "./propagation.suite.ts";

let fleet: Fleet;
let shops = 0;
const open = (): Promise<Shop> => {
  shops += 1;
  return Shop.open(fleet, `which-${shops}`);
};

beforeAll(async () => {
  fleet = await openFleet();
});
afterAll(() => fleet.close());

const byName = (...names: readonly string[]): Fields => ({
  resourceSelectors: names.map((name) => named(kinds.deployments, name)),
});
const byLabel: Fields = {
  resourceSelectors: [
    { ...named(kinds.deployments), labelSelector: { matchLabels: { app: "web" } } },
  ],
};
/** What a cluster policy selects stays within one test. */
const within = (shop: Shop, name = "web"): Fields => ({
  resourceSelectors: [{ ...named(kinds.deployments, name), namespace: shop.namespace }],
});

describe("propagationpolicy priority", () => {
  it.each<readonly [string, readonly (readonly [string, Fields])[]]>([
    [
      "Implicit: name > label > all",
      [
        ["a-all", on("m1")],
        ["b-label", { ...byLabel, ...on("m2") }],
        ["c-name", { ...byName("web"), ...on("m3") }],
      ],
    ],
    [
      "Explicit > implicit",
      [
        ["a-name", { ...byName("web"), ...on("m1") }],
        ["b-all", { priority: 2, ...on("m3") }],
        ["c-label", { priority: 1, ...byLabel, ...on("m2") }],
      ],
    ],
    [
      "Alphabetical tie",
      [
        ["c", { ...byName("web"), ...on("m1") }],
        ["b", { ...byName("web"), ...on("m2") }],
        ["a", { ...byName("web"), ...on("m3") }],
      ],
    ],
  ])("%s", async (_name, policies) => {
    const shop = await open();
    for (const [name, spec] of policies) await shop.policy(name, spec);
    await shop.rest();
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m3"]);
  });

  it("a PropagationPolicy goes before any ClusterPropagationPolicy", async () => {
    const shop = await open();
    await clusterPolicy(fleet, shop.namespace, { ...within(shop), priority: 99, ...on("m1") });
    await shop.policy("low", on("m2"));
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
  });
});

describe("preemption", () => {
  const always = { preemption: "Always" };

  it("PP > PP: the strictly higher priority takes over, an equal one does not", async () => {
    const shop = await open();
    await shop.policy("low", { ...byName("web"), priority: 1, ...on("m1") });
    await shop.deploy("web");
    await shop.rest();
    await shop.policy("equal", { ...byName("web"), priority: 1, ...always, ...on("m3") });
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
    await shop.policy("high", { ...byName("web"), priority: 2, ...always, ...on("m2") });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
    expect(await shop.reasons("Deployment", "web")).toContain("PreemptPolicySucceed");
  });

  it("without preemption a better policy that comes later changes nothing", async () => {
    const shop = await open();
    await shop.policy("low", { ...byName("web"), ...on("m1") });
    await shop.deploy("web");
    await shop.rest();
    await shop.policy("high", { ...byName("web"), priority: 9, ...on("m2") });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
  });

  it("PP > CPP: whatever the priorities are", async () => {
    const shop = await open();
    await clusterPolicy(fleet, shop.namespace, { ...within(shop), priority: 9, ...on("m1") });
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
    await shop.policy("own", { ...byName("web"), ...always, ...on("m2") });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
    const { metadata } = await shop.template(kinds.deployments, "web");
    expect(metadata.annotations).toMatchObject({ "propagationpolicy.karmada.io/name": "own" });
    expect(metadata.annotations).not.toHaveProperty("clusterpropagationpolicy.karmada.io/name");
  });

  it("CPP > CPP by priority, and never over a PP", async () => {
    const shop = await open();
    const name = shop.namespace;
    await clusterPolicy(fleet, `${name}-low`, { ...within(shop), ...on("m1") });
    await shop.deploy("web");
    await shop.rest();
    await clusterPolicy(fleet, `${name}-high`, {
      ...within(shop),
      ...always,
      priority: 2,
      ...on("m2"),
    });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
    await shop.policy("own", { ...byName("web"), ...always, ...on("m3") });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m3"]);
    await fleet.plane.patch(
      clusterPropagationPolicies,
      { namespace: "", name: `${name}-high` },
      { type: "merge", body: { spec: { priority: 100 } } },
    );
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m3"]);
  });

  it("priority lowering lets the policy in between take over", async () => {
    const shop = await open();
    await shop.policy("first", { ...byName("web"), priority: 10, ...on("m1") });
    await shop.policy("second", { ...byName("web"), priority: 5, ...always, ...on("m2") });
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
    await fleet.plane.patch(propagationPolicies, shop.key("first"), {
      type: "merge",
      body: { spec: { priority: 1 } },
    });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
  });
});

describe("lazy_activation", () => {
  const lazy = { activationPreference: "Lazy" };
  const touch = (shop: Shop): Promise<unknown> =>
    shop.edit(kinds.deployments, "web", { metadata: { labels: { touched: "yes" } } });

  it("policy created before the template: the template is propagated at once", async () => {
    const shop = await open();
    await shop.policy("lazy", { ...lazy, ...on("m1") });
    await shop.rest();
    await shop.deploy("web");
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
  });

  it("policy created after the template: nothing until the template is edited", async () => {
    const shop = await open();
    await shop.deploy("web");
    await shop.rest();
    await shop.policy("lazy", { ...lazy, ...on("m1") });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual([]);
    await touch(shop);
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
  });

  it("policy edited: the placement follows with the next edit of the template", async () => {
    const shop = await open();
    await shop.policy("lazy", { ...lazy, ...on("m1") });
    await shop.deploy("web");
    await shop.rest();
    await fleet.plane.patch(propagationPolicies, shop.key("lazy"), {
      type: "merge",
      body: { spec: on("m2") as never },
    });
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
    await touch(shop);
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
  });

  it("lazy to immediate: the edit itself takes effect", async () => {
    const shop = await open();
    await shop.deploy("web");
    await shop.rest();
    await shop.policy("lazy", { ...lazy, ...on("m1") });
    await shop.rest();
    await fleet.plane.patch(propagationPolicies, shop.key("lazy"), {
      type: "merge",
      body: { spec: { activationPreference: null } },
    });
    await shop.rest();
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
  });

  it("preemption by a lazy policy claims, and moves with the next edit of the template", async () => {
    const shop = await open();
    await shop.policy("first", { ...byName("web"), priority: 1, ...on("m1") });
    await shop.deploy("web");
    await shop.rest();
    const taker = { ...byName("web"), ...lazy, priority: 2, preemption: "Always", ...on("m2") };
    await shop.policy("second", taker);
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
    const { metadata } = await shop.template(kinds.deployments, "web");
    expect(metadata.annotations).toMatchObject({ "propagationpolicy.karmada.io/name": "second" });
    await touch(shop);
    await fleet.advance("60s");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m2"]);
  });

  it("dependencies follow when the workload is propagated, and the policy's deletion releases at once", async () => {
    const shop = await open();
    await shop.create(kinds.configMaps, "needed", { data: { a: "1" } });
    await shop.deploy("web", {
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          containers: [{ name: "c", image: "nginx:1.27" }],
          volumes: [{ name: "v", configMap: { name: "needed" } }],
        },
      },
    });
    await shop.rest();
    await shop.policy("lazy", { ...lazy, propagateDeps: true, ...on("m1") });
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "needed")).toEqual([]);
    await touch(shop);
    await shop.rest();
    expect(await shop.where(kinds.configMaps, "needed")).toEqual(["m1"]);
    await shop.delete(propagationPolicies, "lazy");
    await shop.rest();
    const { metadata } = await shop.template(kinds.deployments, "web");
    expect(metadata.labels).not.toHaveProperty("propagationpolicy.karmada.io/permanent-id");
    expect(await shop.where(kinds.deployments, "web")).toEqual(["m1"]);
  });
});
