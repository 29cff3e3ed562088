/**
 * Services whose backends are single pods, or the nodes with a pod of them: requests go to the pods themselves, and while pods come, are
 * replaced and go in all members no request fails, through the gateway and through HAProxy.
 */
import { clusters, deployments, type JsonObject, multiClusterIngresses, type Resource } from "@lifeboat/api";
import { publishedBackends } from "@lifeboat/core/traffic";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";
import { type Clients, startClients } from "./clients.ts";
import { application, ingress } from "./manifests.ts";

const ALL = ["member1", "member2", "member3"];
const DEPLOYMENTS = deployments as Resource;
let plane: RunningLifeboat;
let client: HttpClient;
let gateway: ReturnType<typeof startProcess>;
const work = temporaryDirectory("gateway");
let ports: { readonly embedded: number; readonly haproxy: number };

beforeAll(async () => {
  plane = await startLifeboat({
    args: ["--members", "3", "--nodes", "4", "--serve-http", "--gateway-listen", "127.0.0.1:0"],
  });
  await plane.process.printed(/^members ready$/m);
  const embedded = Number(
    (await plane.process.printed(/Ingresses at http:\/\/127\.0\.0\.1:(\d+)/))[1],
  );
  client = await connectByKubeconfig({ paths: [plane.kubeconfig] }, "test");
  for (const { resource, object } of [
    ...application("web", "ClusterIP", { annotations: { "lifeboat.dev/traffic-target": "Pods" } }),
    ...application("local", "NodePort", { spec: { externalTrafficPolicy: "Local" } }),
  ])
    await client.create(resource, object);
  await client.create(multiClusterIngresses, ingress("web", "web.example.com"));
  await client.create(multiClusterIngresses, ingress("local", "local.example.com", "local"));
  gateway = startProcess(lifeboatCommand, [
    "gateway",
    "--kubeconfig",
    plane.kubeconfig,
    "--provider",
    "haproxy",
    "--listen",
    "127.0.0.1:0",
    "--haproxy-dir",
    work,
  ]);
  await gateway.printed(/^ready$/m);
  const haproxy = Number((await gateway.printed(/http:\/\/127\.0\.0\.1:(\d+)/))[1]);
  ports = { embedded, haproxy };
});
afterAll(async () => {
  await gateway?.stop();
  client?.close();
  await plane?.stop();
  removeDirectory(work);
});

async function published(name: string) {
  const found = await client.get(multiClusterIngresses, { namespace: "default", name });
  return Object.entries(publishedBackends(found).services[name]?.clusters ?? {});
}

async function untilPods(each: number): Promise<void> {
  await eventually(async () => {
    const found = await published("web");
    const counts = found.map(([name, { addresses, draining = [] }]) => [
      name,
      addresses.length,
      draining.length,
    ]);
    expect(counts).toEqual(ALL.map((name) => [name, each, 0]));
  }, 60_000);
}

async function change(spec: JsonObject): Promise<void> {
  const body = { spec };
  await client.patch(DEPLOYMENTS, { namespace: "default", name: "web" }, { type: "merge", body });
}

async function untilAnsweredBy(all: readonly Clients[], pods: number): Promise<void> {
  await eventually(async () => {
    const since = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 400));
    for (const clients of all) {
      expect(clients.podsSince(since)).toHaveLength(pods);
      expect(clients.clustersSince(since)).toEqual(ALL);
    }
  }, 60_000);
}

it("sends requests to pods themselves, and none fails while they are replaced and go", async () => {
  await untilPods(2);
  await eventually(async () => {
    const trial = Object.values(ports).map((port) => startClients(port, "web.example.com", 2));
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const one of trial) {
      await one.stop();
      expect(one.failures).toEqual([]);
    }
  }, 60_000);
  const names = Object.keys(ports);
  const all = Object.values(ports).map((port) => startClients(port, "web.example.com", 10));
  await untilAnsweredBy(all, 6);
  await change({ replicas: 4 });
  await untilPods(4);
  await untilAnsweredBy(all, 12);
  // All pods are replaced.
  const before = all[0]?.podsSince(0) ?? [];
  await change({ template: { metadata: { annotations: { restarted: "once" } } } });
  await eventually(async () => {
    const since = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 400));
    const now = all.flatMap((clients) => clients.podsSince(since));
    expect(now.filter((pod) => before.includes(pod))).toEqual([]);
    expect(now.length).toBeGreaterThan(0);
  }, 60_000);
  await change({ replicas: 1 });
  await untilPods(1);
  await untilAnsweredBy(all, 3);
  for (const [i, clients] of all.entries()) {
    await clients.stop();
    process.stdout.write(
      `${names[i]}: ${clients.count()} requests to ${clients.podsSince(0).length} pods, ` +
        `${clients.failures.length} failed, ${clients.reconnects()} sent again on a new connection\n`,
    );
    expect(clients.failures).toEqual([]);
  }
});

it("sends requests for node ports with the policy Local to the nodes with a pod alone", async () => {
  await eventually(async () => {
    const found = await published("local");
    expect(found.map(([name]) => name)).toEqual(ALL);
    for (const [name, { addresses, nodePorts }] of found) {
      // Two pods, of four nodes.
      expect(addresses.length, name).toBeGreaterThan(0);
      expect(addresses.length, name).toBeLessThanOrEqual(2);
      expect(Object.keys(nodePorts ?? {})).toEqual(["18080"]);
    }
  }, 60_000);
  const { status } = await client.get(clusters, { namespace: "", name: "member1" });
  expect(status?.nodeAddresses).toHaveLength(4);
  for (const port of Object.values(ports)) {
    const clients = startClients(port, "local.example.com", 5);
    await eventually(() => {
      expect(clients.count()).toBeGreaterThan(200);
      return Promise.resolve();
    }, 60_000);
    await clients.stop();
    expect(clients.failures).toEqual([]);
    expect(clients.clustersSince(0)).toEqual(ALL);
  }
});
