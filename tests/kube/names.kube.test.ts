/**
 * The federation's names beside the names of a cluster: a real CoreDNS over a real API server answers the cluster's own names as
 * before, passes the federation's names on, and answers those of a set without global names from the cluster.
 */
import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { statefulSets } from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { putGlobalExample } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import {
  lifeboatCommand,
  ONLY_API,
  type RunningLifeboat,
  startLifeboat,
} from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { type RealApiServer, startRealApiServer } from "../support/real-api-server.ts";

const run = promisify(execFile);
const APEX = "myfederation.svc.example.com";
const NAMESPACE = "mynamespace";
const directory = temporaryDirectory("names");
let member: RealApiServer;
let lifeboat: RunningLifeboat;
let plane: HttpClient;
let coreDns: RunningProcess;
let port = 0;

beforeAll(async () => {
  member = await startRealApiServer();
  await putHeadless("etcd", ["store-c1-0", "store-c1-1", "store-c1-2", "store-c1-3"], "10.1.0");
  await putHeadless("web", ["page-c1-0", "page-c1-1"], "10.2.0");
  const names = await freePort();
  const zone = ["--dns-zone", "example.com", "--federation-name", "myfederation"];
  lifeboat = await startLifeboat({
    args: [...ONLY_API, "--dns-listen", `127.0.0.1:${names}`, ...zone],
  });
  plane = await connectByKubeconfig({ paths: [lifeboat.kubeconfig] });
  await putGlobalExample(plane, { shares: { c1: 4, c2: 4, c3: 3 } });
  await plane.create(statefulSets, localSet("page", "web"));
  port = await freePort();
  const stanza = await run(lifeboatCommand, [
    "dns",
    "stanza",
    "c1",
    `--kubeconfig=${lifeboat.kubeconfig}`,
    `--servers=127.0.0.1:${names}`,
    "--cluster-domain=example.com",
    "--reverse=192.0.0.0/24",
  ]);
  const config = join(directory, "Corefile");
  const own = `example.com:${port} {\n  kubernetes example.com {\n    kubeconfig ${member.kubeconfig}\n  }\n}\n`;
  writeFileSync(config, own + stanza.stdout.replaceAll(/:53\b/g, `:${port}`));
  const install = fileURLToPath(new URL("../../tools/coredns/install.sh", import.meta.url));
  const binary = execFileSync(install, { encoding: "utf8" }).trim();
  coreDns = startProcess(binary, ["-conf", config]);
});

afterAll(async () => {
  plane.close();
  await coreDns.stop("SIGKILL");
  await lifeboat.stop();
  await member.stop();
  removeDirectory(directory);
});

/** A headless Service with endpoints that have host names, as a StatefulSet's pods give them. */
async function putHeadless(name: string, pods: readonly string[], network: string): Promise<void> {
  await member.call("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  const ports = [{ name: "store", port: 80 }];
  const metadata = { name, namespace: NAMESPACE };
  const spec = { clusterIP: "None", ports, selector: { app: name } };
  await member.call("POST", `/api/v1/namespaces/${NAMESPACE}/services`, { metadata, spec });
  await member.call("POST", `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`, {
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports,
    endpoints: pods.map((hostname, index) => ({
      hostname,
      addresses: [`${network}.${index + 1}`],
      conditions: { ready: true },
    })),
  });
}

/** A federated set that has no global names. */
function localSet(name: string, serviceName: string) {
  const labels = { app: name };
  const annotations = { "federation.kubernetes.io/federated": "true" };
  const template = { metadata: { labels }, spec: { containers: [{ name, image: name }] } };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { namespace: NAMESPACE, name, annotations },
    spec: { serviceName, replicas: 2, selector: { matchLabels: labels }, template },
  };
}

async function ask(type: string, name: string): Promise<readonly string[]> {
  const args = ["@127.0.0.1", "-p", String(port), "+short", "+tries=1", "+time=2", type, name];
  const { stdout } = await run("dig", args);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

describe("a member's CoreDNS with the stanza", () => {
  it("answers the cluster's own names as before, from the cluster", async () => {
    await eventually(async () => {
      expect(await ask("A", `store-c1-1.etcd.${NAMESPACE}.svc.example.com`)).toEqual(["10.1.0.2"]);
    }, 60_000);
    const local = await ask("SRV", `etcd.${NAMESPACE}.svc.example.com`);
    expect(local.map((line) => line.split(" ").at(-1))).toEqual(
      [0, 1, 2, 3].map((n) => `store-c1-${n}.etcd.${NAMESPACE}.svc.example.com.`),
    );
  });

  it("passes the federation's names on: all members of all clusters", async () => {
    await eventually(async () => {
      expect(await ask("SRV", `etcd.${NAMESPACE}.${APEX}`)).toHaveLength(11);
    }, 60_000);
    expect(await ask("A", `store-c2-0.etcd.${NAMESPACE}.${APEX}`)).toEqual(["192.0.0.5"]);
    const back = await ask("PTR", "5.0.0.192.in-addr.arpa");
    expect(back).toEqual([`store-c2-0.etcd.${NAMESPACE}.${APEX}.`]);
  });

  it("answers the federation's name of a set without global names from the cluster", async () => {
    expect(await ask("A", `page-c1-1.web.${NAMESPACE}.${APEX}`)).toEqual(["10.2.0.2"]);
    const found = await ask("SRV", `web.${NAMESPACE}.${APEX}`);
    expect(found.map((line) => line.split(" ").at(-1))).toEqual(
      [0, 1].map((n) => `page-c1-${n}.web.${NAMESPACE}.${APEX}.`),
    );
  });
});
