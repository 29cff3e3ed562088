/**
 * Traffic and evictions together, with all production controllers and what drives a load balancer: requests leave an old copy
 * before it is removed (D27), and nothing waits for a load balancer that cannot confirm.
 */
import {
  leases,
  multiClusterIngresses,
  multiClusterServices,
  nodes,
  remedies,
} from "@lifeboat/api";
import { publishedBackends } from "@lifeboat/core/traffic";
import type { Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failoverFleet, type Hands } from "../failover/failover.suite.ts";
import { ingress, KEY, startApplication, startProvider } from "./traffic.suite.ts";

let fleet: Fleet;
let hands: Hands;
const stops: AbortController[] = [];

beforeEach(async () => {
  ({ fleet, hands } = await failoverFleet(["m1", "m2", "m3"]));
});
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort();
  await fleet.close();
});

const start = () => startApplication(fleet, hands);
const startOne = (instance?: string) => startProvider(fleet, stops, instance);

async function leave(): Promise<void> {
  await hands.taint("m1");
  await hands.evict("m1");
}

const lease = (name = "one") => fleet.plane.get(leases, { namespace: "lifeboat-system", name });

it("a Service with node ports is reached at nodes, which come and go, and stay while none is ready", async () => {
  const KEY_OF_NODE = { namespace: "", name: "node-1" };
  const report = async (status: object): Promise<void> => {
    const { client } = fleet.member("m1");
    const node = await client.get(nodes, KEY_OF_NODE);
    await client.update(
      nodes,
      { ...node, status: { ...(node["status"] as object), ...status } },
      { subresource: "status" },
    );
    await fleet.advance("30s");
  };
  await startApplication(fleet, hands, {}, ingress, "NodePort");
  const provider = await startOne();
  const places = (): readonly string[] =>
    (provider.tables.at(-1)?.pools ?? []).flatMap(({ backends }) =>
      backends.map(({ cluster, address, port }) => `${cluster} ${address} ${port >= 30_000}`),
    );
  expect(places()).toEqual([]);
  await report({ addresses: [{ type: "InternalIP", address: "192.0.2.7" }] });
  expect(places()).toEqual(["m1 192.0.2.7 true"]);
  await report({ addresses: [{ type: "InternalIP", address: "192.0.2.8" }] });
  expect(places()).toEqual(["m1 192.0.2.8 true"]);
  await report({ addresses: [] });
  expect(places()).toEqual(["m1 192.0.2.8 true"]);
  // T6: a member that lies leads no request to a metadata service.
  await report({ addresses: [{ type: "InternalIP", address: "169.254.169.254" }] });
  expect(places()).toEqual([]);
});

describe("an old copy that gets requests", () => {
  it("gets them until the substitute is healthy, and is removed once they are gone", async () => {
    await start();
    const provider = await startOne();
    await fleet.advance("2s");
    // The Service is everywhere, the workload in m1 alone.
    expect(provider.clusters).toBe("m1 -m2 -m3");
    await leave();
    await fleet.advance("300ms");
    expect(provider.clusters).toBe("m1 -m2 -m3");
    await fleet.advance("20s");
    expect(provider.clusters).toBe("-m1 m2 -m3");
    expect(await hands.placement()).toBe("m2");
    const reasons = await hands.events("ResourceBinding", "web-deployment");
    expect(reasons).not.toContain("TrafficNotConfirmed");
    // Before the copy went, a table without it had been carried out.
    const order = provider.tables.map(({ pools }) =>
      (pools[0]?.backends ?? [])
        .filter(({ state }) => state === "serving")
        .map(({ cluster }) => cluster)
        .join(" "),
    );
    expect(order.filter((one, i) => one !== order[i - 1])).toEqual(["m1", "m2"]);
  });

  it("stays while one load balancer of two has not confirmed, and a person knows", async () => {
    await start();
    await startOne("one");
    const other = await startOne("two");
    await fleet.advance("2s");
    other.isStuck = true;
    await leave();
    await fleet.advance("5m");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.copy("m1")).toBeDefined();
    expect(await hands.events("ResourceBinding", "web-deployment")).toContain("TrafficNotDrained");
    other.isStuck = false;
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2");
  });

  it("stays while requests are under way, for as long as the load balancer waits for them", async () => {
    await start();
    const provider = await startOne();
    await fleet.advance("2s");
    provider.under = new Set(["default/web/web/80"]);
    await leave();
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2 -m1");
    provider.under = new Set();
    await fleet.advance("2s");
    expect(await hands.placement()).toBe("m2");
  });

  it("is removed although requests under way do not end", async () => {
    await start();
    const provider = await startOne();
    await fleet.advance("2s");
    provider.under = new Set(["default/web/web/80"]);
    await leave();
    await fleet.advance("50s");
    expect(await hands.placement()).toBe("m2");
  });

  it("waits a minute where no load balancer is ours, and says that nothing was confirmed", async () => {
    await start();
    await leave();
    await fleet.advance("50s");
    expect(await hands.placement()).toBe("m2 -m1");
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2");
    const reasons = await hands.events("ResourceBinding", "web-deployment");
    expect(reasons).toContain("TrafficNotConfirmed");
  });

  it("does not wait for a load balancer whose Lease lapsed", async () => {
    await start();
    const dead = await startOne("dead");
    await startOne("alive");
    await fleet.advance("2s");
    dead.stop();
    await leave();
    await fleet.advance("10s");
    expect(await hands.placement()).toBe("m2 -m1");
    await fleet.advance("15s");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.events("ResourceBinding", "web-deployment")).not.toContain(
      "TrafficNotConfirmed",
    );
  });

  it("does not wait for more than a minute when its cluster does not answer", async () => {
    await start();
    const stuck = await startOne();
    await fleet.advance("2s");
    stuck.isStuck = true;
    fleet.member("m1").link.setFault({ kind: "errors" });
    await fleet.advance("1m");
    await leave();
    await fleet.advance("50s");
    expect(await hands.placement()).toBe("m2 -m1");
    await fleet.advance("40s");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.events("ResourceBinding", "web-deployment")).toContain(
      "TrafficNotConfirmed",
    );
  });

  it("goes at a person's word", async () => {
    await start();
    const stuck = await startOne();
    await fleet.advance("2s");
    stuck.isStuck = true;
    await leave();
    await fleet.advance("20s");
    const binding = await hands.binding();
    const [task] = binding.spec.gracefulEvictionTasks ?? [];
    const released = { ...task, suppressDeletion: false };
    const patch = { spec: { gracefulEvictionTasks: [released] } };
    const resource = {
      group: "work.karmada.io",
      version: "v1alpha2",
      plural: "resourcebindings",
      kind: "ResourceBinding",
      namespaced: true,
    };
    await fleet.plane.patch(
      resource,
      { namespace: "default", name: "web-deployment" },
      { type: "merge", body: patch as never },
    );
    await fleet.advance("5s");
    expect(await hands.placement()).toBe("m2");
  });

  it("ends the same way when the control plane dies in the middle; the table stays meanwhile", async () => {
    await start();
    const provider = await startOne();
    await fleet.advance("2s");
    await leave();
    await fleet.settle();
    for (let i = 0; i < 3; i++) {
      await fleet.restart();
      await fleet.advance("300ms");
      expect(provider.clusters).not.toBe("");
    }
    provider.stop();
    const again = await startOne();
    await fleet.advance("90s");
    expect(await hands.placement()).toBe("m2");
    expect(again.clusters).toBe("-m1 m2 -m3");
  });
});

describe("what load balancers follow", () => {
  it("a block takes effect where another cluster has a ready replica", async () => {
    await start();
    const provider = await startOne();
    await fleet.advance("2s");
    await leave();
    await fleet.advance("30s");
    expect(provider.clusters).toBe("-m1 m2 -m3");
    await fleet.plane.create(remedies, {
      apiVersion: "remedy.karmada.io/v1alpha1",
      kind: "Remedy",
      metadata: { name: "block-m1" },
      spec: { clusterAffinity: { clusterNames: ["m1"] }, actions: ["TrafficControl"] },
    });
    await fleet.advance("2s");
    const blocked = async () =>
      (await fleet.plane.get(multiClusterIngresses, KEY)).status?.trafficBlockClusters;
    expect(await blocked()).toEqual(["m1"]);
    expect(provider.clusters).toBe("-m1 m2 -m3");
  });

  it("no block takes requests to clusters without a ready replica (D16)", async () => {
    await start();
    const provider = await startOne();
    await fleet.advance("2s");
    const before = publishedBackends(await fleet.plane.get(multiClusterIngresses, KEY));
    await fleet.plane.create(remedies, {
      apiVersion: "remedy.karmada.io/v1alpha1",
      kind: "Remedy",
      metadata: { name: "block-m1" },
      spec: { clusterAffinity: { clusterNames: ["m1"] }, actions: ["TrafficControl"] },
    });
    await fleet.advance("2s");
    // Nothing else has a ready replica (D16): load balancers of others read the status alone.
    const { status } = await fleet.plane.get(multiClusterIngresses, KEY);
    expect(status).not.toHaveProperty("trafficBlockClusters");
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "AllBackendsBlocked",
        status: "True",
        reason: "OthersNotServing",
      }),
    );
    expect(provider.clusters).toBe("m1 -m2 -m3");
    expect(publishedBackends(await fleet.plane.get(multiClusterIngresses, KEY))).toEqual(before);
  });

  it("a MultiClusterService narrows the clusters, for as long as it names them", async () => {
    await start();
    const provider = await startOne();
    await fleet.advance("2s");
    expect(provider.clusters).toBe("m1 -m2 -m3");
    await fleet.plane.create(multiClusterServices, {
      apiVersion: "networking.karmada.io/v1alpha1",
      kind: "MultiClusterService",
      metadata: { name: "web", namespace: "default" },
      spec: { types: ["LoadBalancer"], providerClusters: [{ name: "m1" }, { name: "m3" }] },
    });
    await fleet.advance("2s");
    expect(provider.clusters).toBe("m1 -m3");
    await fleet.plane.delete(multiClusterServices, KEY);
    await fleet.advance("2s");
    expect(provider.clusters).toBe("m1 -m2 -m3");
  });

  it("backends that vanish from the ingress stay, and are published again", async () => {
    await start();
    const provider = await startOne();
    await fleet.advance("2s");
    const body = { metadata: { annotations: { "lifeboat.dev/backends": null } } };
    await fleet.plane.patch(multiClusterIngresses, KEY, { type: "merge", body });
    await fleet.settle();
    expect(
      provider.tables.every(({ pools }) => pools.every((pool) => pool.backends.length > 0)),
    ).toBe(true);
    expect(
      publishedBackends(await fleet.plane.get(multiClusterIngresses, KEY)).generation,
    ).toBeGreaterThan(0);
  });

  it("an ingress of another class is not served, and one that goes is taken out", async () => {
    await start();
    const provider = await startOne();
    const spec = { ...ingress.spec, ingressClassName: "cloud" };
    await fleet.plane.create(multiClusterIngresses, {
      ...ingress,
      metadata: { ...ingress.metadata, name: "other" },
      spec,
    });
    await fleet.advance("1s");
    expect(provider.tables.at(-1)?.routes).toHaveLength(1);
    await fleet.plane.delete(multiClusterIngresses, KEY);
    await fleet.advance("1s");
    expect(provider.tables.at(-1)?.routes).toEqual([]);
  });

  it("an ingress that cannot be served is reported once, and the others are served", async () => {
    await start();
    const provider = await startOne();
    const backend = { service: { name: "web", port: { number: 99 } } };
    const paths = [{ path: "/", pathType: "Prefix", backend }];
    const spec = { rules: [{ host: "evil.example.com", http: { paths } }] };
    await fleet.plane.create(multiClusterIngresses, {
      ...ingress,
      metadata: { ...ingress.metadata, name: "evil" },
      spec,
    });
    await fleet.advance("5s");
    expect(provider.tables.at(-1)?.routes).toHaveLength(1);
    const told = await hands.told("MultiClusterIngress", "evil", "IngressNotServed");
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("Service web has no port 99");
  });

  it("an ingress whose host an older one has is reported, and what a member reports that is never dialled", async () => {
    await startApplication(fleet, hands, {}, ingress, "NodePort");
    await fleet.plane.create(multiClusterIngresses, {
      ...ingress,
      metadata: { ...ingress.metadata, name: "young" },
    });
    await fleet.advance("5s");
    const young = await hands.told("MultiClusterIngress", "young", "IngressNotServed");
    expect(young[0]).toContain("ingress default/web is older and has the same: web.example.com/");
    expect(await hands.told("MultiClusterIngress", "web", "IngressNotServed")).toEqual([]);
    const node = await fleet.member("m1").client.get(nodes, { namespace: "", name: "node-1" });
    const addresses = [{ type: "InternalIP", address: "169.254.169.254" }];
    await fleet
      .member("m1")
      .client.update(
        nodes,
        { ...node, status: { ...(node["status"] as object), addresses } },
        { subresource: "status" },
      );
    await fleet.advance("30s");
    const old = await hands.told("MultiClusterIngress", "web", "IngressNotServed");
    expect(old.at(-1)).toContain("Service web in m1: the address 169.254.169.254");
  });

  it("backends that do not fit into the ingress are reported, not left out in silence", async () => {
    await start();
    await fleet.advance("2s");
    const found = await fleet.plane.get(multiClusterIngresses, KEY);
    const { generation } = publishedBackends(found);
    // What others wrote leaves no room for one byte more than now.
    const used = Object.entries(found.metadata.annotations ?? {})
      .flat()
      .join("").length;
    const filler = "x".repeat(256 * 1024 - used - "example.com/big".length);
    const body = { metadata: { annotations: { "example.com/big": filler } } };
    await fleet.plane.patch(multiClusterIngresses, KEY, { type: "merge", body });
    fleet.member("m2").link.setFault({ kind: "errors" });
    await fleet.advance("2m");
    expect(publishedBackends(await fleet.plane.get(multiClusterIngresses, KEY)).generation).toBe(
      generation,
    );
    const told = await hands.told("MultiClusterIngress", "web", "IngressNotServed");
    expect(told[0]).toContain("cannot be published");
  });

  it("at rest only Leases are written", async () => {
    await start();
    await startOne();
    await fleet.advance("30s");
    const before = (await fleet.plane.get(multiClusterIngresses, KEY)).metadata.resourceVersion;
    const renewed = (await lease()).spec?.["renewTime" as never];
    await fleet.advance("5m");
    expect((await fleet.plane.get(multiClusterIngresses, KEY)).metadata.resourceVersion).toBe(
      before,
    );
    expect((await lease()).spec?.["renewTime" as never]).not.toBe(renewed);
  });
});
