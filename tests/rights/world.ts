/**
 * The world of the access matrix: a control plane as a process, two registered clusters with an object of each kind that belongs to a
 * cluster, and a tenant. What belongs to a cluster is made by its own agent, with its certificate, where an agent may make it.
 */
import { join } from "node:path";
import { AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import { connectByKubeconfig, makeCertificateRequest } from "@lifeboat/kit/adapters";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";
import { connectRaw, type RawClient } from "../support/raw-client.ts";
import { registerCluster } from "../support/registration.ts";
import { CLUSTER, type Column, OTHER, TENANT_NAMESPACE } from "./access-table.ts";
import type { Place } from "./requests.ts";
import { readServed, type Served } from "./served.ts";

export const FOREIGN_NAMESPACE = "team-b";
const KEPT = "karmada-cluster";

export interface World {
  readonly plane: RunningLifeboat;
  readonly served: readonly Served[];
  readonly admin: RawClient;
  readonly agent: RawClient;
  readonly other: RawClient;
  readonly tenant: RawClient;
  close(): Promise<void>;
}

const SHARED_PLACES: readonly Place[] = [
  ["", "default"],
  ["", "shared"],
  ["kube-public", "cluster-info"],
  ["kube-system", "one"],
];

/** Where every verb is tried; what is there is made below. */
export const PLACES: Readonly<Record<Column, readonly Place[]>> = {
  agent: [
    ...[CLUSTER, OTHER].flatMap((cluster): readonly Place[] => [
      ["", cluster],
      ["", `agent-${cluster}`],
      ["", `karmada-es-${cluster}`],
      [KEPT, cluster],
      [KEPT, `${cluster}-impersonator`],
      [`karmada-es-${cluster}`, "one"],
      ["default", `of-${cluster}`],
    ]),
    ...SHARED_PLACES,
    [FOREIGN_NAMESPACE, "one"],
  ],
  tenant: [
    ["", TENANT_NAMESPACE],
    ["", FOREIGN_NAMESPACE],
    ["", CLUSTER],
    [TENANT_NAMESPACE, "one"],
    [FOREIGN_NAMESPACE, "one"],
    [KEPT, CLUSTER],
    [`karmada-es-${CLUSTER}`, "one"],
    ["lifeboat-system", "one"],
    ...SHARED_PLACES,
  ],
};

export async function createWorld(): Promise<World> {
  // Neither cluster has an agent that runs: nothing changes by itself for as long as this takes.
  const quiet = ["--cluster-monitor-grace-period", "1h", "--cluster-startup-grace-period", "1h"];
  const plane = await startLifeboat({ args: quiet });
  const directory = temporaryDirectory("rights");
  const admin = await connectRaw(plane.kubeconfig);
  const byAdmin = await connectByKubeconfig({ paths: [plane.kubeconfig] });
  const [own = "", others = ""] = await Promise.all(
    [CLUSTER, OTHER].map((cluster) => registerCluster(byAdmin, plane.url, cluster, directory)),
  );
  byAdmin.close();
  const [agent, other] = [await connectRaw(own), await connectRaw(others)];
  for (const name of [TENANT_NAMESPACE, FOREIGN_NAMESPACE])
    await make(admin, "/api/v1/namespaces", "v1", "Namespace", { metadata: { name } });
  const tenant = await connectRaw(await addTenant(plane, directory));
  await makeShared(admin);
  await makeOwn(agent, admin, CLUSTER);
  await makeOwn(other, admin, OTHER);
  const served = await readServed(admin);
  return {
    plane,
    served,
    admin,
    agent,
    other,
    tenant,
    close: async () => {
      for (const client of [admin, agent, other, tenant]) client.close();
      await plane.stop();
      removeDirectory(directory);
    },
  };
}

async function addTenant(plane: RunningLifeboat, directory: string): Promise<string> {
  const file = join(directory, "tess.kubeconfig");
  const role = ["--role", "edit", "-n", TENANT_NAMESPACE, "-o", file];
  const child = startProcess(lifeboatCommand, ["users", "add", "tess", ...role], {
    KUBECONFIG: "",
    LIFEBOAT_DATA_DIR: plane.dataDirectory,
  });
  if ((await child.ended) !== 0) throw new Error(child.output());
  return file;
}

async function make(
  client: RawClient,
  path: string,
  apiVersion: string,
  kind: string,
  object: object,
): Promise<void> {
  const { code, body } = await client.ask("POST", path, { body: { apiVersion, kind, ...object } });
  if (code !== 201) throw new Error(`${path}: ${code} ${body}`);
}

const clusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
const certificates = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const leases = `/apis/coordination.k8s.io/v1/namespaces/${KEPT}/leases`;

/** What an agent makes for itself, with the certificate of its registration. */
async function makeOwn(agent: RawClient, admin: RawClient, cluster: string): Promise<void> {
  const execution = `karmada-es-${cluster}`;
  await make(agent, clusters, "cluster.karmada.io/v1alpha1", "Cluster", clusterOf(cluster));
  await make(agent, leases, "coordination.k8s.io/v1", "Lease", leaseOf(cluster));
  for (const name of [cluster, `${cluster}-impersonator`])
    await make(agent, `/api/v1/namespaces/${KEPT}/secrets`, "v1", "Secret", {
      metadata: { name },
      stringData: { token: `canary-${name}` },
    });
  await make(
    agent,
    certificates,
    "certificates.k8s.io/v1",
    "CertificateSigningRequest",
    requestOf(cluster, cluster),
  );
  await make(agent, "/api/v1/namespaces/default/events", "v1", "Event", eventOf(cluster));
  await make(
    admin,
    `/apis/work.karmada.io/v1alpha1/namespaces/${execution}/works`,
    "work.karmada.io/v1alpha1",
    "Work",
    workOf(cluster),
  );
  await make(agent, `/api/v1/namespaces/${execution}/events`, "v1", "Event", {
    metadata: { name: "one" },
    involvedObject: { kind: "Work", namespace: execution, name: "one" },
  });
}

export function clusterOf(cluster: string): object {
  return { metadata: { name: cluster }, spec: { syncMode: "Pull" } };
}

export function leaseOf(cluster: string): object {
  return { metadata: { name: cluster }, spec: { holderIdentity: cluster } };
}

/** The request by which an agent renews; `of` is the cluster whose identity it asks for. */
export function requestOf(cluster: string, of: string): object {
  const { request } = makeCertificateRequest({
    commonName: agentUser(of),
    organizations: [AGENTS_GROUP],
  });
  return {
    metadata: { name: `agent-${cluster}` },
    spec: {
      request: btoa(request),
      signerName: "kubernetes.io/kube-apiserver-client",
      expirationSeconds: 86_400,
      usages: ["digital signature", "key encipherment", "client auth"],
    },
  };
}

export function eventOf(cluster: string): object {
  return {
    metadata: { name: `of-${cluster}` },
    involvedObject: { kind: "Cluster", name: cluster },
  };
}

function workOf(cluster: string): object {
  const canary = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "canary", namespace: "default" },
    stringData: { token: `canary-${cluster}` },
  };
  return { metadata: { name: "one" }, spec: { workload: { manifests: [canary] } } };
}

/** What all agents read, and something of each tenant. */
async function makeShared(admin: RawClient): Promise<void> {
  await make(
    admin,
    "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations",
    "config.karmada.io/v1alpha1",
    "ResourceInterpreterCustomization",
    {
      metadata: { name: "shared" },
      spec: { target: { apiVersion: "x.io/v1", kind: "X" }, customizations: {} },
    },
  );
  for (const namespace of [TENANT_NAMESPACE, FOREIGN_NAMESPACE]) {
    const at = (plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;
    const metadata = { name: "one", labels: { a: "b" } };
    await make(admin, at("configmaps"), "v1", "ConfigMap", { metadata, data: { k: "v" } });
    await make(admin, at("secrets"), "v1", "Secret", { metadata, stringData: { k: "v" } });
    await make(admin, at("serviceaccounts"), "v1", "ServiceAccount", { metadata });
    await make(admin, at("events"), "v1", "Event", {
      metadata,
      involvedObject: { kind: "ConfigMap", namespace, name: "one" },
    });
  }
}
