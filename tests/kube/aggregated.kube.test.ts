/**
 * The way into members on a real kube-apiserver, which passes requests for `proxy.lifeboat.dev` on to two replicas of the manager:
 * a push member, and a pull member whose tunnel ends at one of them. Each connection reaches another replica than the one before.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { dirname, join } from "node:path";
import { clusters, findCondition } from "@lifeboat/api";
import { leases } from "@lifeboat/kit";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKubectl, type Kubectl } from "../support/kubectl.ts";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { type RealApiServer, startEtcd } from "../support/real-api-server.ts";
import { startAll, type Started } from "../support/started.ts";
import { install, managerKubeconfig, startManager, startRealPlane } from "./real-plane.ts";
import { balance } from "./replicas.ts";
import { killed } from "./real-fleet.ts";

const API_SERVICE = "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.proxy.lifeboat.dev";
const RECORD = { namespace: "lifeboat-system", name: "tunnel.pulled" };
let started: Started;
let server: RealApiServer;
let client: HttpClient;
let kubectl: Kubectl;
let pulledKubeconfig: string;
const replicas: { process: RunningProcess; port: number }[] = [];

beforeAll(async () => {
  await startAll(async (all) => {
    started = all;
    const etcd = all.keep(await startEtcd());
    // A tunnel that the API server took for an ordinary request would be cut after this time.
    server = await startRealPlane(all, etcd, ["--request-timeout=5s"], true);
    client = await connectByKubeconfig({ paths: [server.kubeconfig] });
    kubectl = createKubectl(server);
    const ports = [await freePort(), await freePort()];
    const balancer = await balance(ports);
    all.keep({ stop: () => Promise.resolve(void balancer.server.close()) });
    await install(server, balancer.port);
    const kubeconfig = await managerKubeconfig(server);
    for (const port of ports) {
      const process = await startManager(kubeconfig, port, []);
      replicas.push({ process, port });
      all.keep({ stop: () => process.stop("SIGKILL") });
    }
    await startMember(all, server.kubeconfig);
    pulledKubeconfig = await startMember(all, "none.kubeconfig");
    all.keep(killed(await startAgent()));
  });
});
afterAll(async () => {
  kubectl?.close();
  client?.close();
  await started?.stop();
});

/** A simulated member with a pod `web`; answers its kubeconfig. Without a control plane it only serves its API. */
async function startMember(all: Started, planeKubeconfig: string): Promise<string> {
  const directory = temporaryDirectory("member");
  all.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
  const flags = ["--members=1", `--data-dir=${directory}`, `--kubeconfig=${planeKubeconfig}`];
  const running = startProcess(lifeboatCommand, ["members", ...flags]);
  all.keep(killed(running));
  await running.printed(/^1 members serve$/m);
  const kubeconfig = join(directory, "member1.kubeconfig");
  const inMember = createKubectl({ url: "", kubeconfig, stop: () => Promise.resolve() });
  await eventually(async () => {
    const { code, stderr } = await inMember.run(["run", "web", "--image=nginx"]);
    if (code !== 0) throw new Error(stderr);
  });
  inMember.close();
  return kubeconfig;
}

async function startAgent(): Promise<RunningProcess> {
  const agent = startProcess(lifeboatCommand, [
    "agent",
    `--karmada-kubeconfig=${server.kubeconfig}`,
    `--cluster-kubeconfig=${pulledKubeconfig}`,
    "--cluster-name=pulled",
    `--health-listen=127.0.0.1:${await freePort()}`,
  ]);
  await agent.printed(/^ready$/m);
  return agent;
}

async function lifeboat(...args: readonly string[]): Promise<string> {
  const [command = "", ...rest] = args;
  const flags = ["--kubeconfig", server.kubeconfig, ...rest];
  const child = startProcess(lifeboatCommand, [command, ...flags]);
  const code = await child.ended;
  if (code !== 0)
    throw new Error(`lifeboat ${args.join(" ")} ended with ${code}: ${child.output()}`);
  return child.output();
}

/** How many requests for a cluster this replica has passed on. */
async function passedOn(
  { process }: { process: RunningProcess },
  cluster: string,
): Promise<number> {
  const port = /its health on port (\d+)/.exec(process.output())?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith("lifeboat_proxy_requests_total{") && line.includes(cluster))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

async function holder(): Promise<string> {
  const { spec } = await client.get(leases, RECORD);
  return spec?.holderIdentity ?? "";
}

it("the API server takes the group for available, and discovery lists it", async () => {
  await eventually(async () => {
    const { body } = await server.call("GET", API_SERVICE);
    const { status } = body as { readonly status?: { readonly conditions?: never } };
    expect(findCondition(status?.conditions, "Available")).toMatchObject({ status: "True" });
  });
  const resources = await kubectl.run(["get", "--raw", "/apis/proxy.lifeboat.dev/v1alpha1"]);
  expect(resources.stdout).toContain("clusters/proxy");
  expect((await kubectl.run(["get", "namespaces"])).stderr).toBe("");
});

it("a push member is reached through every replica", async () => {
  await eventually(async () => {
    const found = await client.get(clusters, { namespace: "", name: "member1" });
    expect(findCondition(found.status?.conditions, "Ready")?.status).toBe("True");
  });
  expect(await lifeboat("get", "pods", "-C", "member1")).toMatch(/member1 +web/);
  await eventually(async () => {
    expect(await lifeboat("exec", "web", "-C", "member1", "--", "hostname")).toBe("web\n");
    for (const replica of replicas) expect(await passedOn(replica, "member1")).toBeGreaterThan(0);
  });
});

it("a pull member is reached through every replica, though its tunnel ends at one", async () => {
  await eventually(holder);
  expect(await lifeboat("get", "pods", "-C", "pulled")).toMatch(/pulled +web/);
  expect(await lifeboat("logs", "web", "-C", "pulled")).toContain("no process runs in it");
  // Each command is a new connection to the next replica, so sooner or later one reaches the replica without the tunnel.
  await eventually(async () => {
    expect(await lifeboat("exec", "web", "-C", "pulled", "--", "hostname")).toBe("web\n");
    await lifeboat("exec", "web", "-C", "member1", "--", "hostname");
    const counts = await Promise.all(replicas.map((replica) => passedOn(replica, "pulled")));
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });
  expect(await lifeboat("status")).toContain("1 of 1 connected");
});

it("the caller is asked about twice, and acts in the member under its own name", async () => {
  const into = (user: string, cluster: string, path: string) =>
    kubectl.run([
      `--as=${user}`,
      "get",
      "--raw",
      `/apis/proxy.lifeboat.dev/v1alpha1/clusters/${cluster}/proxy${path}`,
    ]);
  const stranger = await into("eve", "pulled", "/api/v1/namespaces");
  expect(stranger.stderr).toMatch(/cannot get resource "clusters\/proxy"/);
  // kubectl looks for a resource of its own, and clusters/proxy is one of none.
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    metadata: { name: "into-members" },
    rules: [{ apiGroups: ["proxy.lifeboat.dev"], resources: ["clusters/proxy"], verbs: ["get"] }],
  });
  await kubectl.run([
    "create",
    "clusterrolebinding",
    "ann",
    "--clusterrole=into-members",
    "--user=ann",
  ]);
  for (const cluster of ["member1", "pulled"])
    await eventually(async () => {
      const { stderr } = await into("ann", cluster, "/api/v1/namespaces");
      expect(stderr).toMatch(/namespaces is forbidden: User "ann" cannot list/);
    });
});

it("a replica believes no one else who is in the name of a user", async () => {
  const { port } = replicas[0] as { port: number };
  const path = "/apis/proxy.lifeboat.dev/v1alpha1/clusters/member1/proxy/api";
  const keys = dirname(server.kubeconfig);
  const credential = {
    cert: readFileSync(join(keys, "admin.crt")),
    key: readFileSync(join(keys, "admin.key")),
  };
  for (const certificate of [{}, credential]) {
    const headers = { "x-remote-user": "admin", "x-remote-group": "system:masters" };
    const to = { host: "127.0.0.1", port, path, headers, rejectUnauthorized: false };
    const code = await new Promise((resolve, reject) => {
      const asked = request({ ...to, ...certificate }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.once("error", reject);
      asked.end();
    });
    expect(code).toBe(401);
  }
});

it("the tunnel lasts longer than ordinary requests may, and comes back when its replica is killed", async () => {
  const before = await client.get(leases, RECORD);
  await eventually(async () => {
    const age = Date.now() - Date.parse(before.spec?.acquireTime ?? "");
    expect(age).toBeGreaterThan(7000);
  });
  expect(await client.get(leases, RECORD)).toEqual(before);
  const endpoint = before.metadata.annotations?.["lifeboat.dev/endpoint"] ?? "";
  const dead = replicas.find(({ port }) => endpoint.endsWith(`:${port}`));
  await dead?.process.stop("SIGKILL");
  await eventually(async () => {
    expect(await holder()).not.toBe(before.spec?.holderIdentity);
    expect(await lifeboat("get", "pods", "-C", "pulled")).toMatch(/pulled +web/);
  });
});
