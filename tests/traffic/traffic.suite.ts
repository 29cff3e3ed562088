/**
 * Requests that move: three simulated members behind real HTTP servers, twenty clients that ask all the time. Traffic leaves a
 * cluster and comes back, by hand and because names do not resolve there; ingresses are added, the control plane is killed: no
 * request fails. The same suite for both topologies of the control plane.
 */
import { connect as connectTo } from "node:net";
import { join } from "node:path";
import { multiClusterIngresses, remedies } from "@lifeboat/api";
import { type Client } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { oneOf } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { remedyForNames, type RunningDetector, startDetector } from "../detector/start-detector.ts";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";
import { type Clients, startClients } from "./clients.ts";
import { application, ingress } from "./manifests.ts";

/** A control plane with three members that serve HTTP. */
export interface TrafficPlane {
  readonly kubeconfig: string;
  /** As whom load balancers act. */
  readonly gatewayKubeconfig: string;
  /** Where files beside it may be kept. */
  readonly dataDirectory: string;
  /** Kills all of it with -9: nothing answers. Members live on. */
  kill(): Promise<void>;
  /** Starts it again at the same address; resolves when it serves. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

const ALL = ["member1", "member2", "member3"];
const HOST = "web.example.com";
const CLIENTS = 20;
/** Longer than it takes to move a workload, and to reload HAProxy. */
const SLOW_MS = 4000;
/** For what takes a second or two where the machine is not busy. */
const PATIENCE_MS = 120_000;

/** The tests; `leastRequests`: of all clients together, per provider. */
export function trafficSuite(start: () => Promise<TrafficPlane>, leastRequests: number): void {
  let plane: TrafficPlane;
  let detector: RunningDetector;
  let client: Client & { close(): void };

  async function connect(): Promise<void> {
    client = await connectByKubeconfig({ paths: [plane.kubeconfig] }, "test");
  }

  beforeAll(async () => {
    plane = await start();
    await connect();
    for (const { resource, object } of application()) await client.create(resource, object);
    await client.create(multiClusterIngresses, ingress("web", HOST));
    await client.create(remedies, remedyForNames);
    detector = await startDetector(plane, "member3");
  });
  afterAll(async () => {
    await detector?.stop();
    client?.close();
    await plane?.stop();
  });

  const asAdmin = (): readonly string[] => ["--kubeconfig", plane.kubeconfig];

  /** By a Remedy and nothing else, as a person does it. */
  async function block(cluster: string): Promise<void> {
    await client.create(remedies, {
      apiVersion: "remedy.karmada.io/v1alpha1",
      kind: "Remedy",
      metadata: { name: `block-${cluster}` },
      spec: { clusterAffinity: { clusterNames: [cluster] }, actions: ["TrafficControl"] },
    });
  }

  async function unblock(cluster: string): Promise<void> {
    await client.delete(remedies, { namespace: "", name: `block-${cluster}` });
  }

  describe.each(["embedded", "haproxy"])("lifeboat gateway --provider %s", (provider) => {
    let gateway: RunningGateway;

    beforeAll(async () => {
      gateway = await startGateway(plane, provider);
    });
    afterAll(async () => {
      await gateway?.stop();
    });

    it("no request fails while traffic leaves and returns, ingresses come, and the plane is killed", async () => {
      const reloadsBefore = await gateway.reloads();
      const clients = await startedClients(gateway.port, HOST, ALL);
      await untilServedBy(clients, ALL);
      // By hand: traffic leaves member2, and returns.
      const blockedAt = performance.now();
      await block("member2");
      await untilServedBy(clients, ["member1", "member3"]);
      const lastNew = clients.lastSent("member2") - blockedAt;
      // A new ingress while member2 is blocked: the drain is not forgotten.
      const before = performance.now();
      await client.create(
        multiClusterIngresses,
        ingress(`more-${provider}`, `${provider}.example.com`),
      );
      await untilServedBy(clients, ["member1", "member3"]);
      expect(clients.clustersSince(before)).toEqual(["member1", "member3"]);
      await unblock("member2");
      await untilServedBy(clients, ALL);
      // Names stop to resolve in member3, as its detector finds, and resolve again.
      detector.resolve(false);
      await untilServedBy(clients, ["member1", "member2"]);
      detector.resolve(true);
      await untilServedBy(clients, ALL);
      // The control plane dies: the last table is served.
      await plane.kill();
      const killedAt = performance.now();
      await untilCount(clients, clients.count() + 2000);
      expect(clients.clustersSince(killedAt)).toEqual(ALL);
      client.close();
      await plane.revive();
      await connect();
      await block("member1");
      await untilServedBy(clients, ["member2", "member3"]);
      await unblock("member1");
      await untilServedBy(clients, ALL);
      await untilCount(clients, leastRequests);
      await clients.stop();
      process.stdout.write(
        `${provider}: ${clients.count()} requests, ${clients.failures.length} failed, ` +
          `${clients.reconnects()} sent again on a new connection, ` +
          `${(await gateway.reloads()) - reloadsBefore} reloads; ` +
          `the last new request to the blocked cluster came ${lastNew.toFixed(1)} ms after the order\n`,
      );
      expect(clients.failures).toEqual([]);
      await expectReconnects(clients, gateway, reloadsBefore);
    });

    it("no request fails while a member is drained, slow requests are under way, and an ingress comes (D27)", async () => {
      const name = `mover-${provider}`;
      const host = `${name}.example.com`;
      for (const { resource, object } of application(name, "LoadBalancer", {}, oneOf(...ALL)))
        await client.create(resource, object);
      await client.create(multiClusterIngresses, ingress(name, host, name));
      const reloadsBefore = await gateway.reloads();
      const clients = await startedClients(gateway.port, host, undefined, SLOW_MS);
      const [first = ""] = clients.clustersSince(0);
      expect(ALL).toContain(first);
      const drain = startProcess(lifeboatCommand, ["drain", first, "--yes", ...asAdmin()]);
      const more = `more-${name}`;
      await client.create(multiClusterIngresses, ingress(more, `${more}.example.com`, name));
      expect(await drain.ended).toBe(0);
      // The copy has left: every slow request that was under way there has been answered before.
      await untilCount(clients, clients.count() + 500);
      const since = performance.now();
      await untilCount(clients, clients.count() + 500);
      expect(clients.clustersSince(since)).toHaveLength(1);
      expect(clients.clustersSince(since)).not.toContain(first);
      await clients.stop();
      process.stdout.write(
        `${provider}: ${clients.count()} requests, ${clients.failures.length} failed while ${first} was drained\n`,
      );
      expect(clients.failures).toEqual([]);
      await expectReconnects(clients, gateway, reloadsBefore);
      const back = startProcess(lifeboatCommand, ["uncordon", first, ...asAdmin()]);
      expect(await back.ended).toBe(0);
    });
  });
}

interface RunningGateway {
  readonly port: number;
  /** How often HAProxy was reloaded; the embedded gateway never is. */
  reloads(): Promise<number>;
  stop(): Promise<void>;
}

async function startGateway(plane: TrafficPlane, provider: string): Promise<RunningGateway> {
  const work = temporaryDirectory("gateway");
  const gateway = startProcess(lifeboatCommand, [
    "gateway",
    "--kubeconfig",
    plane.gatewayKubeconfig,
    "--provider",
    provider,
    "--listen",
    "127.0.0.1:0",
    "--haproxy-dir",
    work,
  ]);
  await gateway.printed(/^ready$/m);
  const [, port] = await gateway.printed(/http:\/\/127\.0\.0\.1:(\d+)/);
  return {
    port: Number(port),
    reloads: () => (provider === "haproxy" ? reloadsOf(join(work, "master.sock")) : zero()),
    stop: async () => {
      await gateway.stop();
      removeDirectory(work);
    },
  };
}

const zero = (): Promise<number> => Promise.resolve(0);

/** As the master of HAProxy counts them. */
async function reloadsOf(socket: string): Promise<number> {
  const asked = connectTo(socket);
  asked.end("show proc\n");
  const chunks: unknown[] = [];
  for await (const chunk of asked) chunks.push(chunk);
  return Number(/^\d+\s+master\s+(\d+)/m.exec(chunks.join(""))?.[1]);
}

/** A load balancer closes idle connections when it is reloaded, each once; at no other time does a client find its own closed. */
async function expectReconnects(
  clients: Clients,
  gateway: RunningGateway,
  reloadsBefore: number,
): Promise<void> {
  const reloads = (await gateway.reloads()) - reloadsBefore;
  expect(clients.reconnects()).toBeLessThanOrEqual(CLIENTS * reloads);
}

async function untilServedBy(clients: Clients, clusters: readonly string[]): Promise<void> {
  await eventually(async () => {
    const since = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(clients.clustersSince(since)).toEqual(clusters);
  }, PATIENCE_MS);
}

async function untilCount(clients: Clients, count: number): Promise<void> {
  await eventually(() => {
    expect(clients.count()).toBeGreaterThanOrEqual(count);
    return Promise.resolve();
  }, 2 * PATIENCE_MS);
}

/** Waits until the gateway at the port serves the host, from all of the clusters that are given, or from some. */
async function startedClients(
  port: number,
  host: string,
  wanted?: readonly string[],
  slowMs?: number,
): Promise<Clients> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const trial = startClients(port, host, 2);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await trial.stop();
    const found = trial.clustersSince(0);
    const isServed = found.length === (wanted?.length ?? found.length) && found.length > 0;
    if (trial.failures.length === 0 && isServed) break;
    if (performance.now() > deadline) throw new Error(`not served: ${trial.failures[0]}`);
  }
  const clients = startClients(port, host, CLIENTS, slowMs);
  await untilCount(clients, 1000);
  return clients;
}
