/**
 * The two stories of the Remedy proposal under the whole control plane: Services and Deployments are propagated to simulated members,
 * and a load balancer of another vendor reads the status of the MultiClusterIngress and nothing else.
 */
import {
  type Cluster,
  clusters,
  findCondition,
  type MultiClusterIngress,
  multiClusterIngresses,
  multiClusterServices,
  propagationPolicies,
  remedies,
  type Resource,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { formatTime } from "@lifeboat/base";
import type { Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kinds, MEMBERS, named, on, openFleet, Shop } from "../propagation/propagation.suite.ts";

const DNS = "ServiceDomainNameResolutionReady";
/** The suite takes objects of any kind. */
const plain = (resource: object): Resource => resource as Resource;
let fleet: Fleet;
let shop: Shop;

beforeEach(async () => {
  fleet = await openFleet();
  shop = await Shop.open(fleet, "shop");
  await shop.policy("web", {
    resourceSelectors: [named(kinds.deployments), named(kinds.services)],
  });
  await shop.deploy("web");
  await expose("web");
  await shop.create(plain(multiClusterIngresses), "front", {
    spec: { rules: [{ host: "shop.example.com", http: { paths: [path("/", "web")] } }] },
  });
  await shop.rest();
});
afterEach(() => fleet.close());

const path = (at: string, name: string) => ({
  path: at,
  pathType: "Prefix",
  backend: { service: { name, port: { number: 80 } } },
});

function expose(name: string): Promise<unknown> {
  return shop.create(kinds.services, name, {
    spec: { selector: { app: name }, ports: [{ port: 80 }] },
  });
}

const ingress = (): Promise<MultiClusterIngress> =>
  fleet.plane.get(multiClusterIngresses, shop.key("front"));

/** The provider: the clusters that get requests for a Service. It knows the status of the ingress, and no other object. */
async function serving(service = "web"): Promise<readonly string[]> {
  const { status = {} } = await ingress();
  const location = status.serviceLocations?.find(({ name }) => name === service);
  const blocked = new Set(status.trafficBlockClusters);
  return (location?.clusters ?? []).filter((cluster) => !blocked.has(cluster));
}

async function condition(type: string): Promise<string | undefined> {
  return findCondition((await ingress()).status?.conditions, type)?.status;
}

const read = (name: string): Promise<Cluster> => fleet.plane.get(clusters, { namespace: "", name });

async function report(name: string, status: "True" | "False"): Promise<void> {
  const others = ((await read(name)).status?.conditions ?? []).filter(({ type }) => type !== DNS);
  const own = { type: DNS, status, reason: "", message: "" };
  const lastTransitionTime = formatTime(fleet.clock.now());
  const body = { status: { conditions: [...others, { ...own, lastTransitionTime }] } } as never;
  const key = { namespace: "", name };
  await fleet.plane.patch(clusters, key, { type: "merge", body }, { subresource: "status" });
  await fleet.settle();
}

async function remedy(
  name: string,
  clusterNames: readonly string[],
  status?: string,
): Promise<void> {
  await fleet.plane.create(remedies, {
    apiVersion: "remedy.karmada.io/v1alpha1",
    kind: "Remedy",
    metadata: { name },
    spec: {
      ...(clusterNames.length > 0 && { clusterAffinity: { clusterNames } }),
      ...(status !== undefined && {
        decisionMatches: [
          {
            clusterConditionMatch: {
              conditionType: DNS,
              operator: "Equal",
              conditionStatus: status,
            },
          },
        ],
      }),
      actions: [TRAFFIC_CONTROL],
    },
  });
  await fleet.settle();
}

async function withdraw(name: string): Promise<void> {
  await fleet.plane.delete(remedies, { namespace: "", name });
  await fleet.settle();
}

describe("the proposal", () => {
  it("story 1: a person takes all traffic from a cluster before its upgrade, and gives it back after", async () => {
    expect(await serving()).toEqual(MEMBERS);
    await remedy("upgrade", ["m1"]);
    expect(await serving()).toEqual(["m2", "m3"]);
    // The workload itself stays.
    expect(await shop.where(kinds.deployments, "web")).toEqual(MEMBERS);
    await withdraw("upgrade");
    expect(await serving()).toEqual(MEMBERS);
    expect((await ingress()).status).not.toHaveProperty("trafficBlockClusters");
  });

  it("story 2: name resolution fails in a cluster, traffic leaves it by itself and returns after recovery", async () => {
    await remedy("dns", ["m1", "m2"], "False");
    await report("m1", "True");
    expect(await serving()).toEqual(MEMBERS);
    await report("m1", "False");
    expect(await serving()).toEqual(["m2", "m3"]);
    // The status of the cluster is written all the time by others: the action stays.
    await fleet.advance("2m");
    expect(await serving()).toEqual(["m2", "m3"]);
    expect((await read("m1")).status?.remedyActions).toEqual([TRAFFIC_CONTROL]);
    await report("m1", "True");
    expect(await serving()).toEqual(MEMBERS);
  });
});

it("D16: never takes traffic from the last cluster, and says so", async () => {
  await remedy("all", []);
  expect(await serving()).toEqual(MEMBERS);
  expect(await condition("AllBackendsBlocked")).toBe("True");
  expect(await shop.reasons("MultiClusterIngress", "front")).toContain("AllWouldBeBlocked");
  await withdraw("all");
  await remedy("two", ["m1", "m3"]);
  expect(await serving()).toEqual(["m2"]);
  expect(await condition("AllBackendsBlocked")).toBe("False");
});

describe("the places of backends", () => {
  it("are one entry per Service, empty for one that is nowhere, and follow the Service", async () => {
    const spec = {
      defaultBackend: { service: { name: "late", port: { number: 80 } } },
      rules: [{ http: { paths: [path("/", "web"), path("/again", "web")] } }],
    };
    await shop.edit(plain(multiClusterIngresses), "front", { spec });
    await shop.rest();
    expect((await ingress()).status?.serviceLocations).toEqual([
      { name: "late", clusters: [] },
      { name: "web", clusters: MEMBERS },
    ]);
    expect(await condition("BackendsLocated")).toBe("False");
    await expose("late");
    await shop.rest();
    expect(await serving("late")).toEqual(MEMBERS);
    expect(await condition("BackendsLocated")).toBe("True");
    await fleet.plane.delete(kinds.services, shop.key("late"));
    await shop.rest();
    expect(await serving("late")).toEqual([]);
  });

  it("stay while a member is silent, and leave with a policy that excludes it", async () => {
    fleet.member("m2").link.setFault({ kind: "partition" });
    await fleet.advance("5m");
    expect(await serving()).toEqual(MEMBERS);
    fleet.member("m2").link.setFault(undefined);
    await shop.edit(plain(propagationPolicies), "web", { spec: on("m1", "m3") as never });
    await fleet.advance("2m");
    expect(await serving()).toEqual(["m1", "m3"]);
  });

  it("are narrowed by a MultiClusterService that names its providers", async () => {
    await shop.create(plain(multiClusterServices), "web", {
      spec: { types: ["LoadBalancer"], providerClusters: [{ name: "m1" }, { name: "m3" }] },
    });
    await fleet.settle();
    expect(await serving()).toEqual(["m1", "m3"]);
    await remedy("upgrade", ["m1", "m3"]);
    expect(await condition("AllBackendsBlocked")).toBe("True");
  });
});

it("keeps the address that a provider writes, and writes nothing at rest", async () => {
  const loadBalancer = { ingress: [{ ip: "192.0.2.1" }] };
  await fleet.plane.patch(
    multiClusterIngresses,
    shop.key("front"),
    { type: "merge", body: { status: { loadBalancer } } as never },
    { subresource: "status" },
  );
  await remedy("upgrade", ["m1"]);
  const before = await ingress();
  expect(before.status).toMatchObject({ loadBalancer, trafficBlockClusters: ["m1"] });
  await fleet.restart();
  await fleet.advance("10m");
  expect((await ingress()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});
