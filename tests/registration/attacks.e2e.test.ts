/**
 * Registration against a real control plane under load and attack (T3, T4): a hundred clusters in the same second, one token that
 * many present at once, forged requests, and a stolen certificate that is revoked while its watches are open.
 */
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { X509Certificate } from "node:crypto";
import { AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import {
  connectByKubeconfig,
  type HttpClient,
  makeCertificateRequest,
} from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";
import { connectRaw, type RawClient } from "../support/raw-client.ts";
import { newToken, registerCluster } from "../support/registration.ts";

const MANY = 100;
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
let plane: RunningLifeboat;
let admin: HttpClient;
let raw: RawClient;
let directory: string;

beforeAll(async () => {
  plane = await startLifeboat();
  admin = await connectByKubeconfig({ paths: [plane.kubeconfig] });
  raw = await connectRaw(plane.kubeconfig);
  directory = temporaryDirectory("attacks");
});

afterAll(async () => {
  admin?.close();
  raw?.close();
  await plane?.stop();
  removeDirectory(directory);
});

function register(cluster: string, token?: string): Promise<string> {
  return registerCluster(admin, plane.url, cluster, directory, token);
}

function certificateIn(file: string): X509Certificate {
  const [, text = ""] =
    /client-certificate-data: "?([A-Za-z0-9+/=]+)/.exec(readFileSync(file, "utf8")) ?? [];
  return new X509Certificate(Buffer.from(text, "base64"));
}

it("a hundred clusters register in the same second, each for itself", async () => {
  const names = Array.from({ length: MANY }, (_, i) => `many-${i}`);
  const tokens = await Promise.all(names.map(() => newToken(admin)));
  const started = performance.now();
  const files = await Promise.all(names.map((name, i) => register(name, tokens[i])));
  const seconds = (performance.now() - started) / 1000;
  process.stdout.write(`${MANY} registrations at once took ${seconds.toFixed(1)} s\n`);
  const certificates = files.map(certificateIn);
  expect(certificates.map(({ subject }) => subject)).toEqual(
    names.map((name) => `O=${AGENTS_GROUP}\nCN=${agentUser(name)}`),
  );
  expect(new Set(certificates.map(({ serialNumber }) => serialNumber)).size).toBe(MANY);
  // Each is the agent that it says, and has its rights: it makes its own Cluster and no other.
  const last = await connectRaw(files.at(-1) ?? "");
  const make = (name: string) =>
    last.ask("POST", "/apis/cluster.karmada.io/v1alpha1/clusters", {
      body: {
        apiVersion: "cluster.karmada.io/v1alpha1",
        kind: "Cluster",
        metadata: { name },
        spec: { syncMode: "Pull" },
      },
    });
  expect((await make(names[0] ?? "")).code).toBe(403);
  expect((await make(names.at(-1) ?? "")).code).toBe(201);
  last.close();
});

it("one token that many present at once registers one cluster", async () => {
  const token = await newToken(admin);
  const names = Array.from({ length: 12 }, (_, i) => `race-${i}`);
  const results = await Promise.allSettled(names.map((name) => register(name, token)));
  const refusals = results.flatMap((result) =>
    result.status === "rejected" ? [String(result.reason)] : [],
  );
  expect(refusals).toHaveLength(names.length - 1);
  for (const refusal of refusals) expect(refusal).toContain("has registered a cluster already");
  await expect(register("race-later", token)).rejects.toThrow("has registered a cluster already");
});

it.each<[string, string, readonly string[]]>([
  ["masters", "admin", ["system:masters"]],
  ["an agent and masters", agentUser("forged"), [AGENTS_GROUP, "system:masters"]],
  ["an agent without its group", agentUser("forged"), []],
  ["an agent in another group", agentUser("forged"), ["system:karmada:Agents"]],
  ["an agent of a registered cluster", agentUser("many-0"), [AGENTS_GROUP]],
  ["an agent in other letters", "System:Karmada:Agent:forged", [AGENTS_GROUP]],
  ["an agent with a look-alike", "system:karmada:аgent:forged", [AGENTS_GROUP]],
  ["an agent of no cluster", "system:karmada:agent:", [AGENTS_GROUP]],
  ["an agent of a path", "system:karmada:agent:../x", [AGENTS_GROUP]],
  ["an agent with a blank", `${agentUser("forged")} `, [AGENTS_GROUP]],
  ["an agent with a NUL", `${agentUser("forged")}\u0000x`, [AGENTS_GROUP]],
  ["an agent whose Secret is another's", agentUser("many-1-impersonator"), [AGENTS_GROUP]],
  ["a writer of rights", agentUser("rbac-generator"), [AGENTS_GROUP]],
  ["the controllers", "system:lifeboat", [AGENTS_GROUP]],
  ["a node", "system:node:n", ["system:nodes"]],
  ["a person", "bob", ["team"]],
])("a request for %s gets no certificate by a token", async (what, commonName, organizations) => {
  const token = await newToken(admin);
  const headers = { authorization: `Bearer ${token}` };
  const { request } = makeCertificateRequest({ commonName, organizations });
  const name = `forged-${what.replaceAll(/[^a-z]/gi, "-").toLowerCase()}`;
  const body = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: btoa(request),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "key encipherment", "client auth"],
    },
  };
  const byToken = await connectRaw(plane.kubeconfig, { isAnonymous: true });
  const made = await byToken.ask("POST", REQUESTS, { body, headers });
  // Whoever asks: no request may name masters, or the identity as which `karmadactl register` would write rights.
  const isNever = organizations.includes("system:masters") || what === "a writer of rights";
  expect(made.code).toBe(isNever ? 403 : 201);
  if (made.code === 403) {
    byToken.close();
    return;
  }
  const approval = await byToken.ask("PUT", `${REQUESTS}/${name}/approval`, {
    body: JSON.parse(made.body),
    headers,
  });
  expect(approval.code).toBe(403);
  byToken.close();
  const deadline = Date.now() + 20_000;
  let answer = "";
  while (!answer.includes('"type":"Denied"') && Date.now() < deadline) {
    answer = (await raw.ask("GET", `${REQUESTS}/${name}`)).body;
    await wait(100);
  }
  expect(answer).toContain('"type":"Denied"');
  expect(answer).not.toContain('"certificate":');
});

it("a stolen certificate is revoked while its watches are open: they end within 5 s", async () => {
  const cluster = async (name: string) => {
    const agent = await connectRaw(await register(name));
    const made = await agent.ask("POST", "/apis/cluster.karmada.io/v1alpha1/clusters", {
      body: {
        apiVersion: "cluster.karmada.io/v1alpha1",
        kind: "Cluster",
        metadata: { name },
        spec: { syncMode: "Pull" },
      },
    });
    expect(made.code).toBe(201);
    const path = `/apis/cluster.karmada.io/v1alpha1/clusters?watch=1&fieldSelector=metadata.name%3D${name}`;
    const watch = await agent.watch(path);
    expect(watch.code).toBe(200);
    return { agent, path, watch };
  };
  const stolen = await cluster("stolen");
  const honest = await cluster("honest");
  let isHonestOpen = true;
  void honest.watch.ended.then(() => (isHonestOpen = false));
  const revoked = startProcess(lifeboatCommand, ["certs", "revoke", agentUser("stolen"), "--yes"], {
    KUBECONFIG: "",
    LIFEBOAT_DATA_DIR: plane.dataDirectory,
  });
  const watchEnded = stolen.watch.ended.then(() => performance.now());
  expect(await revoked.ended).toBe(0);
  // The start of a process takes seconds on a busy machine: what counts is the time after its end.
  const revokedAt = performance.now();
  const took = (await watchEnded) - revokedAt;
  process.stdout.write(`its watch ended ${Math.round(took)} ms after the command\n`);
  expect(took).toBeLessThan(5000);
  const again = await stolen.agent.ask("GET", stolen.path).then(
    ({ code }) => code,
    () => "no connection",
  );
  expect([401, "no connection"]).toContain(again);
  expect(isHonestOpen).toBe(true);
  expect((await honest.agent.ask("GET", honest.path.replace("watch=1&", ""))).code).toBe(200);
  honest.watch.stop();
  for (const { agent } of [stolen, honest]) agent.close();
});
