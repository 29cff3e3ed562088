/**
 * Large federated StatefulSets in a real `lifeboat up` with ten simulated members, asked with `dig`: thirty replicas in ten clusters,
 * whose local quora survive the loss of one cluster, and a hundred in five clusters, which no datagram holds.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  type AnyObject,
  type New,
  propagationPolicies,
  services,
  statefulSets,
} from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runLifeboat } from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { freePort } from "../support/processes.ts";

const run = promisify(execFile);
const APEX = "fed.svc.example.com";
const NAMESPACE = "default";
const TEN = Array.from({ length: 10 }, (_, i) => `member${i + 1}`);
const FIVE = TEN.slice(0, 5);
const PORTS = [{ name: "peer", port: 2380 }];

let lifeboat: RunningLifeboat;
let plane: HttpClient;
let port = 0;

beforeAll(async () => {
  port = await freePort();
  lifeboat = await startLifeboat({
    args: [
      "--members=10",
      "--member-start-delay=0s",
      "--cluster-status-update-frequency=1s",
      "--cluster-failure-threshold=2s",
      "--cluster-success-threshold=2s",
      `--dns-listen=127.0.0.1:${port}`,
      "--dns-zone=example.com",
      "--federation-name=fed",
    ],
  });
  await lifeboat.process.printed(/^members ready$/m);
  plane = await connectByKubeconfig({ paths: [lifeboat.kubeconfig] });
  await put("local", 30, TEN);
  await put("large", 100, FIVE);
});
afterAll(async () => {
  plane?.close();
  await lifeboat?.stop();
});

/** A federated set with global names, its headless Service and its policy. */
async function put(name: string, replicas: number, clusterNames: readonly string[]): Promise<void> {
  const metadata = { namespace: NAMESPACE, name };
  const labels = { app: name };
  const service: New<AnyObject> = {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { clusterIP: "None", selector: labels, ports: PORTS },
  };
  await plane.create(services, service);
  const annotations = {
    "federation.kubernetes.io/federated": "true",
    "federation.kubernetes.io/statefulset-lb-needed": "true",
  };
  const template = { metadata: { labels }, spec: { containers: [{ name, image: name }] } };
  await plane.create(statefulSets, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { ...metadata, annotations },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: "Parallel",
      selector: { matchLabels: labels },
      template,
    },
  });
  await plane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata,
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "StatefulSet", name }],
      placement: { clusterAffinity: { clusterNames } },
    },
  });
}

const podsOf = (set: string, share: number, clusters: readonly string[]): readonly string[] =>
  clusters
    .flatMap((cluster) => Array.from({ length: share }, (_, n) => `${set}-${cluster}-${n}`))
    .sort();

async function dig(...args: readonly string[]): Promise<string> {
  const at = ["@127.0.0.1", "-p", String(port), "+tries=1", "+time=5"];
  return (await run("dig", [...at, ...args])).stdout;
}

/** The pods that the set's name lists; dig asks again by TCP when the answer is truncated. */
async function listed(set: string): Promise<readonly string[]> {
  const answer = await dig("SRV", `${set}.${NAMESPACE}.${APEX}`);
  return [...answer.matchAll(/IN\s+SRV\s+0 1 2380 ([^.]+)\./g)].map(([, pod]) => pod ?? "").sort();
}

/** How many pods of the set are ready in a member, by the StatefulSet that the member has. */
async function ready(member: string, set: string): Promise<number> {
  const path = join(lifeboat.dataDirectory, `${member}.kubeconfig`);
  const client = await connectByKubeconfig({ paths: [path] });
  try {
    const copy = await client.get(statefulSets, {
      namespace: NAMESPACE,
      name: `${set}-${member}`,
    });
    return (copy["status"] as { readonly readyReplicas?: number } | undefined)?.readyReplicas ?? 0;
  } finally {
    client.close();
  }
}

it("gives each of ten clusters a quorum of three; the loss of one leaves the other nine whole", async () => {
  await eventually(async () => expect(await listed("local")).toEqual(podsOf("local", 3, TEN)));
  for (const member of TEN)
    await eventually(async () => expect(await ready(member, "local")).toBe(3));
  const member = (...args: readonly string[]): Promise<void> =>
    runLifeboat("member", ...args, "--data-dir", lifeboat.dataDirectory);
  await member("fail", "member4", "--mode", "api-down");
  const others = TEN.filter((name) => name !== "member4");
  await eventually(async () => expect(await listed("local")).toEqual(podsOf("local", 3, others)));
  for (const other of others) expect(await ready(other, "local")).toBe(3);
  const { stdout } = await run("npx", [
    "lifeboat",
    "get",
    "statefulsets",
    "--kubeconfig",
    lifeboat.kubeconfig,
  ]);
  expect(stdout).toMatch(/local +27\/30 \(3 unknown\)/);
  await member("heal", "member4");
  await eventually(async () => expect(await listed("local")).toEqual(podsOf("local", 3, TEN)));
});

it("lists a hundred members of five clusters by TCP, and tells so by datagram", async () => {
  const all = podsOf("large", 20, FIVE);
  await eventually(async () => expect(await listed("large")).toEqual(all));
  const name = `large.${NAMESPACE}.${APEX}`;
  const short = await dig("+notcp", "+ignore", "+bufsize=1232", "SRV", name);
  expect(short).toMatch(/flags:[^;]* tc/);
  expect(Number(/MSG SIZE {2}rcvd: (\d+)/.exec(short)?.[1])).toBeLessThanOrEqual(1232);
  const whole = await dig("+tcp", "SRV", name);
  expect(whole).toMatch(/ANSWER: 100,/);
  const addresses = (await dig("+tcp", "+short", "A", name)).trim().split("\n");
  expect(new Set(addresses).size).toBe(100);
});
