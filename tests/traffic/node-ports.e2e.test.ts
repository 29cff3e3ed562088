/**
 * A Service of type NodePort, as clusters without load balancers have: the gateway reaches it at the nodes of each member, on ports that
 * the members chose themselves. A Remedy takes one member's traffic away. With the policy Local only nodes with a pod of the Service answer,
 * and only those are asked.
 */
import { execFileSync } from "node:child_process";
import { clusters, multiClusterIngresses, remedies } from "@lifeboat/api";
import { publishedBackends } from "@lifeboat/core/traffic";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { startClients } from "./clients.ts";
import { application, ingress } from "./manifests.ts";

const HOST = "web.example.com";
let plane: RunningLifeboat;
let client: HttpClient;
let port = 0;

beforeAll(async () => {
  plane = await startLifeboat({
    args: [
      "--members",
      "3",
      "--member-nodes",
      "4",
      "--serve-http",
      "--gateway-listen",
      "127.0.0.1:0",
    ],
  });
  await plane.process.printed(/^members ready$/m);
  port = Number((await plane.process.printed(/Ingresses at http:\/\/127\.0\.0\.1:(\d+)/))[1]);
  client = await connectByKubeconfig({ paths: [plane.kubeconfig] }, "test");
  for (const { resource, object } of application("web", "NodePort"))
    await client.create(resource, object);
  await client.create(multiClusterIngresses, ingress("web", HOST));
});
afterAll(async () => {
  client?.close();
  await plane?.stop();
});

async function untilServed(host: string, ...clusters: readonly string[]): Promise<void> {
  await eventually(async () => {
    const clients = startClients(port, host, 3);
    await eventually(() => {
      expect(clients.count()).toBeGreaterThan(30);
      return Promise.resolve();
    });
    await clients.stop();
    expect(clients.failures).toEqual([]);
    expect(clients.clustersSince(0)).toEqual(clusters);
  }, 60_000);
}

const untilServedBy = (...clusters: readonly string[]): Promise<void> =>
  untilServed(HOST, ...clusters);

const traffic = (): string =>
  execFileSync(process.execPath, [lifeboatCommand, "traffic", "--kubeconfig", plane.kubeconfig], {
    encoding: "utf8",
  });

it("is served by all members, leaves one by a Remedy, and returns", async () => {
  await untilServedBy("member1", "member2", "member3");
  expect(await client.read("/readyz?verbose")).toContain("[+]gateway ok");
  expect(traffic()).toMatch(/default\/web +member1 +serving/);
  await client.create(remedies, {
    apiVersion: "remedy.karmada.io/v1alpha1",
    kind: "Remedy",
    metadata: { name: "upgrade" },
    spec: { clusterAffinity: { clusterNames: ["member2"] }, actions: ["TrafficControl"] },
  });
  await untilServedBy("member1", "member3");
  expect(traffic()).toMatch(/default\/web +member2 +blocked/);
  await client.delete(remedies, { namespace: "", name: "upgrade" });
  await untilServedBy("member1", "member2", "member3");
});

it("is reached at the nodes with a pod of it alone, with the policy Local", async () => {
  for (const { resource, object } of application("local", "NodePort", {
    externalTrafficPolicy: "Local",
  }))
    await client.create(resource, object);
  await client.create(multiClusterIngresses, ingress("local", "local.example.com", "local"));
  await eventually(async () => {
    const found = await client.get(multiClusterIngresses, { namespace: "default", name: "local" });
    const members = Object.values(publishedBackends(found).services["local"]?.clusters ?? {});
    expect(members).toHaveLength(3);
    for (const { addresses, nodePorts } of members) {
      // Its two pods are on two of the four nodes, or on one of them.
      expect([1, 2]).toContain(addresses.length);
      expect(nodePorts).toHaveProperty("18080");
    }
  }, 60_000);
  const { status } = await client.get(clusters, { namespace: "", name: "member1" });
  expect(status?.nodeAddresses).toHaveLength(4);
  await untilServed("local.example.com", "member1", "member2", "member3");
});
