/**
 * What fails when a load balancer itself is killed (kill -9), as docs/decisions/0019 states it: the requests under way in it, so at
 * most one of each client that keeps one connection; clients that know another instance go on there. A `lifeboat gateway` beside
 * HAProxy costs none: HAProxy goes on.
 *
 * LIFEBOAT_GATEWAY_KILLS: how often each of them is killed.
 */
import { multiClusterIngresses } from "@lifeboat/api";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";
import { type Clients, startClients } from "./clients.ts";
import { application, ingress } from "./manifests.ts";

const KILLS = Number(process.env["LIFEBOAT_GATEWAY_KILLS"] ?? 1);
const CLIENTS = 20;
const HOST = "web.example.com";

const directory = temporaryDirectory("gateway-kills");
const work = temporaryDirectory("gateway-kills-haproxy");
let plane: RunningLifeboat;
/** The port of the gateway inside `up`: the same again after a restart. */
let inside = 0;

async function startPlane(): Promise<void> {
  plane = await startLifeboat({
    dataDirectory: directory,
    ...(inside !== 0 && { port: plane.port }),
    args: ["--members", "3", "--serve-http", "--gateway-listen", `127.0.0.1:${inside}`],
  });
  await plane.process.printed(/^members ready$/m);
  inside = await portOf(plane.process);
}

type Running = ReturnType<typeof startProcess>;

async function portOf(process: Running): Promise<number> {
  return Number((await process.printed(/Ingresses at http:\/\/127\.0\.0\.1:(\d+)/))[1]);
}

async function startGateway(provider: string, port = 0): Promise<Running> {
  const flags = { provider, listen: `127.0.0.1:${port}`, "haproxy-dir": work };
  const gateway = startProcess(lifeboatCommand, [
    "gateway",
    "--kubeconfig",
    plane.kubeconfig,
    ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
  ]);
  await gateway.printed(/^ready$/m);
  return gateway;
}

async function untilAnswered(clients: Clients, count: number): Promise<void> {
  const enough = clients.count() + count;
  await eventually(() => {
    expect(clients.count()).toBeGreaterThan(enough);
    return Promise.resolve();
  }, 60_000);
}

/** Until a gateway answers with all clusters. */
async function untilServing(port: number): Promise<void> {
  await eventually(async () => {
    const trial = startClients(port, HOST, 2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await trial.stop();
    expect(trial.failures).toEqual([]);
    expect(trial.clustersSince(0)).toHaveLength(3);
  }, 60_000);
}

beforeAll(async () => {
  await startPlane();
  const client = await connectByKubeconfig({ paths: [plane.kubeconfig] }, "test");
  for (const { resource, object } of application()) await client.create(resource, object);
  await client.create(multiClusterIngresses, ingress("web", HOST));
  client.close();
  await untilServing(inside);
});
afterAll(async () => {
  await plane.stop();
  removeDirectory(directory);
  removeDirectory(work);
});

function tell(what: string, clients: Clients, failed: number): void {
  process.stdout.write(`${what}: ${failed} of ${clients.count()} requests failed\n`);
}

it("a kill of the gateway, or of the control plane with one inside, fails at most one request of each client", async () => {
  let gateway = await startGateway("embedded");
  const beside = await portOf(gateway);
  await untilServing(beside);
  for (let kill = 0; kill < KILLS; kill++) {
    const clients = startClients([inside, beside], HOST, CLIENTS);
    await untilAnswered(clients, 500);
    await plane.process.stop("SIGKILL");
    await untilAnswered(clients, 1000);
    const ofPlane = clients.failures.length;
    tell("up with the gateway inside is killed", clients, ofPlane);
    expect(ofPlane).toBeLessThanOrEqual(CLIENTS);
    await startPlane();
    await untilServing(inside);
    await gateway.stop("SIGKILL");
    await untilAnswered(clients, 1000);
    const ofGateway = clients.failures.length - ofPlane;
    tell("the gateway is killed", clients, ofGateway);
    expect(ofGateway).toBeLessThanOrEqual(CLIENTS);
    await clients.stop();
    gateway = await startGateway("embedded", beside);
    await untilServing(beside);
  }
  await gateway.stop();
});

it("a kill of the process beside HAProxy fails none, and the next one takes it over", async () => {
  let gateway = await startGateway("haproxy");
  const port = await portOf(gateway);
  await untilServing(port);
  const clients = startClients(port, HOST, CLIENTS);
  for (let kill = 0; kill < KILLS; kill++) {
    await untilAnswered(clients, 500);
    await gateway.stop("SIGKILL");
    await untilAnswered(clients, 1000);
    gateway = await startGateway("haproxy", port);
  }
  await clients.stop();
  tell("the process beside HAProxy is killed", clients, clients.failures.length);
  expect(clients.failures).toEqual([]);
  await gateway.stop();
});
