/**
 * No old copy waits without end for a confirmation that cannot come (D27): the real controller and what drives a load balancer, with
 * load balancers that live and yet never confirm.
 */
import { type MultiClusterIngress, multiClusterIngresses, type New } from "@lifeboat/api";
import { deployment, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failoverFleet, type Hands, policyFor } from "../failover/failover.suite.ts";
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

async function leave(): Promise<void> {
  await hands.taint("m1");
  await hands.evict("m1");
}

const reasons = () => hands.events("ResourceBinding", "web-deployment");
const unconfirmed = () => hands.told("ResourceBinding", "web-deployment", "TrafficNotConfirmed");

/** The ingress with another port of its Service, or of another class. */
function changed(port: object, spec: object = {}): New<MultiClusterIngress> {
  const backend = { service: { name: "web", port } };
  const paths = [{ path: "/", pathType: "Prefix", backend }];
  return { ...ingress, spec: { rules: [{ host: "web.example.com", http: { paths } }], ...spec } };
}

describe("an old copy", () => {
  it("waits ten minutes for a load balancer that lives and does not confirm, and an Event reports it", async () => {
    await startApplication(fleet, hands);
    const stuck = await startProvider(fleet, stops);
    await fleet.advance("2s");
    stuck.isStuck = true;
    await leave();
    await fleet.advance("9m");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await reasons()).toContain("TrafficNotDrained");
    expect(await unconfirmed()).toEqual([]);
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("m2");
    expect(await unconfirmed()).toEqual([
      "The copy in cluster m1 goes although it was not confirmed that it gets no requests: a load balancer that runs did not confirm it within --traffic-drain-limit.",
    ]);
  });

  it("waits for requests under way for --drain-limit, whatever else changes meanwhile", async () => {
    await startApplication(fleet, hands);
    const provider = await startProvider(fleet, stops);
    await fleet.advance("2s");
    provider.under = new Set(["default/web/web/80"]);
    await leave();
    for (let i = 0; i < 5; i++) {
      await fleet.advance("4s");
      const metadata = { name: `more-${i}`, namespace: "default" };
      await fleet.plane.create(multiClusterIngresses, { ...ingress, metadata });
    }
    expect(await hands.placement()).toBe("m2 -m1");
    for (let i = 5; i < 10; i++) {
      await fleet.advance("4s");
      const metadata = { name: `more-${i}`, namespace: "default" };
      await fleet.plane.create(multiClusterIngresses, { ...ingress, metadata });
    }
    expect(await hands.placement()).toBe("m2");
    expect(await unconfirmed()).toEqual([]);
  });

  it("waits longer than --drain-limit while it gets requests, as its substitute takes no connections", async () => {
    await startApplication(fleet, hands);
    const provider = await startProvider(fleet, stops);
    await fleet.advance("2s");
    provider.under = new Set(["default/web/web/80"]);
    provider.why = "serves";
    await leave();
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m2 -m1");
    provider.under = new Set();
    await fleet.advance("10s");
    expect(await hands.placement()).toBe("m2");
    expect(await unconfirmed()).toEqual([]);
  });

  it("waits although the load balancer, asked before its table came, had no requests under way", async () => {
    await startApplication(fleet, hands);
    const provider = await startProvider(fleet, stops);
    await fleet.advance("2s");
    let resolve = (): void => undefined;
    provider.untilLooked = new Promise((done) => (resolve = done));
    // Meanwhile the Lease is to be renewed: it is asked, and answers late.
    await fleet.advance("6s");
    provider.under = new Set(["default/web/web/80"]);
    await leave();
    await fleet.advance("2s");
    expect(provider.clusters).toBe("-m1 m2 -m3");
    resolve();
    await fleet.advance("5s");
    expect(await hands.placement()).toBe("m2 -m1");
    provider.under = new Set();
    await fleet.advance("5s");
    expect(await hands.placement()).toBe("m2");
    expect(await unconfirmed()).toEqual([]);
  });

  it("waits its whole time after the substitute is healthy, however long that took", async () => {
    await startApplication(fleet, hands);
    await hands.sicken("m2");
    await leave();
    await fleet.advance("20m");
    expect(await hands.placement()).toBe("m2 -m1");
    await hands.cure("m2");
    await fleet.advance("50s");
    expect(await hands.placement()).toBe("m2 -m1");
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2");
    expect(await unconfirmed()).toHaveLength(1);
  });

  it("does not wait for an ingress that names a port which its Service lacks", async () => {
    await startApplication(fleet, hands, {}, changed({ number: 99 }));
    await startProvider(fleet, stops);
    await fleet.advance("2s");
    await leave();
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2");
    expect(await unconfirmed()).toEqual([]);
  });

  it("does not wait for requests to a workload that stays behind the same Service", async () => {
    await startApplication(fleet, hands);
    const provider = await startProvider(fleet, stops);
    const other = deployment("other", {
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "main", image: "registry.example.com/other:1" }] },
      },
      selector: { matchLabels: { app: "web" } },
    });
    const placement = { clusterAffinity: { clusterNames: ["m1", "m2"] } };
    await hands.create(
      policyFor({ apiVersion: "apps/v1", kind: "Deployment", name: "other" }, { placement }),
      resources.deployments,
      other,
    );
    expect(provider.clusters).toBe("m1 m2 -m3");
    await leave();
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.placement("other-deployment")).toBe("m1 m2");
    expect(provider.clusters).toBe("m1 m2 -m3");
    expect(await unconfirmed()).toEqual([]);
  });

  it("waits a minute for an ingress that only load balancers of others serve", async () => {
    await startApplication(
      fleet,
      hands,
      {},
      changed({ name: "http" }, { ingressClassName: "cloud" }),
    );
    await startProvider(fleet, stops);
    await fleet.advance("2s");
    await leave();
    await fleet.advance("50s");
    expect(await hands.placement()).toBe("m2 -m1");
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2");
    expect((await unconfirmed())[0]).toContain("no load balancer of this control plane");
  });

  it("stays without limit while no other cluster serves its requests (D16)", async () => {
    await startApplication(fleet, hands, { clusterAffinity: { clusterNames: ["m1"] } });
    const provider = await startProvider(fleet, stops);
    await fleet.advance("2s");
    expect(provider.clusters).toBe("m1");
    await leave();
    await fleet.advance("30m");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(provider.clusters).toBe("m1");
    expect(await reasons()).toContain("LastServedCopy");
    await fleet.plane.delete(multiClusterIngresses, KEY);
    await fleet.advance("5s");
    expect(await hands.placement()).toBe("m2");
  });
});
