/** Installing and uninstalling on a real API server in process: repeated, over another version, beside another owner. */
import {
  type AnyObject,
  clusterRoleBindings,
  clusterRoles,
  clusters,
  configMaps,
  customResourceDefinitions,
  type Json,
  type Resource,
  roleBindings,
  roles,
} from "@lifeboat/api";
import { ensureAgentRights } from "@lifeboat/controllers/context";
import { wellKnown } from "@lifeboat/core";
import {
  AGENT_OF,
  agentRoleName,
  agentRoleObjects,
  detectorRoleName,
  detectorRoleObjects,
} from "@lifeboat/core/clusters/rights";
import { CLUSTER_INFO } from "@lifeboat/core/clusters/bootstrap-tokens";
import { type Client, leases } from "@lifeboat/kit";
import { createWorld, newCluster, type World } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installPlane, type InstallRequest, type InstallStep, subjectOf } from "./install.ts";
import { planUninstall, uninstallPlane } from "./uninstall.ts";

const REQUEST: InstallRequest = {
  version: "1.0.0",
  webhook: { url: "https://127.0.0.1:9" },
  dryRun: false,
  force: false,
};
const RIGHTS: readonly Resource[] = [clusterRoles, clusterRoleBindings, roles, roleBindings];
const CLUSTER_CRD = { namespace: "", name: "clusters.cluster.karmada.io" };

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

async function install(change: Partial<InstallRequest> = {}): Promise<readonly InstallStep[]> {
  const steps: InstallStep[] = [];
  const installing = installPlane(world.clock, world.client, { ...REQUEST, ...change }, (step) =>
    steps.push(step),
  );
  const state = { hasEnded: false };
  const noted = installing.finally(() => (state.hasEnded = true));
  noted.catch(() => undefined);
  while (!state.hasEnded) await world.advance("100ms");
  await noted;
  return steps;
}

const outcomes = (steps: readonly InstallStep[]): readonly string[] => [
  ...new Set(steps.map(({ outcome }) => outcome)),
];

describe("installing", () => {
  it("creates everything once, and changes nothing when it is repeated", async () => {
    const first = await install();
    expect(outcomes(first)).toEqual(["created"]);
    expect(first.map(({ subject }) => subject)).toContain("clusterrole/lifeboat-manager");
    expect(await world.client.list(clusters)).toMatchObject({ items: [] });
    const second = await install();
    expect(second.filter(({ outcome }) => outcome !== "unchanged")).toEqual([]);
    expect(second).toHaveLength(first.length);
  });

  it("writes nothing in a dry run, and tells what it would do", async () => {
    expect(outcomes(await install({ dryRun: true }))).toEqual(["created"]);
    await expect(world.client.get(customResourceDefinitions, CLUSTER_CRD)).rejects.toThrow(
      "not found",
    );
    await install();
    const before = await world.client.get(customResourceDefinitions, CLUSTER_CRD);
    const steps = await install({ version: "1.0.1", dryRun: true });
    expect(outcomes(steps)).toEqual(["configured"]);
    expect(steps[0]?.differences).toEqual([
      '-metadata.labels.app.kubernetes.io/version: "1.0.0"',
      '+metadata.labels.app.kubernetes.io/version: "1.0.1"',
    ]);
    expect(await world.client.get(customResourceDefinitions, CLUSTER_CRD)).toEqual(before);
  });

  it("installs nothing where the API server drops the conditions of webhooks", async () => {
    const dropping = {
      ...world.client,
      create: (async (resource, object, options) => {
        const made = await world.client.create(resource, object, options);
        const { webhooks } = made as { readonly webhooks?: readonly Record<string, Json>[] };
        if (webhooks === undefined) return made;
        const kept = webhooks.map(({ matchConditions: _dropped, ...webhook }) => webhook);
        return { ...made, webhooks: kept };
      }) as Client["create"],
    } satisfies Client;
    for (const force of [false, true])
      await expect(
        installPlane(world.clock, dropping, { ...REQUEST, force }, () => undefined),
      ).rejects.toThrow("Kubernetes 1.28 or newer");
    await expect(world.client.get(customResourceDefinitions, CLUSTER_CRD)).rejects.toThrow(
      "not found",
    );
  });

  it("goes on to a newer version, and back only by force", async () => {
    await install();
    expect(outcomes(await install({ version: "1.1.0" }))).toEqual(["configured"]);
    await expect(install()).rejects.toThrow("was installed by version 1.1.0, which is newer");
    expect(outcomes(await install({ force: true }))).toEqual(["configured"]);
  });

  it("leaves the kinds of another control plane alone, unless it is forced", async () => {
    await install();
    const crd = await world.client.get(customResourceDefinitions, CLUSTER_CRD);
    const { labels: _labels, ...metadata } = crd.metadata;
    await world.client.update(customResourceDefinitions, { ...crd, metadata });
    await expect(install()).rejects.toThrow(`${CLUSTER_CRD.name} is there and was not installed`);
    await install({ force: true });
    expect(outcomes(await install())).toEqual(["unchanged"]);
  });

  it("publishes the address where clusters register, and keeps what tokens sign there", async () => {
    const registration = { server: "https://plane:6443", bundle: "PEM" };
    const first = await install({ registration });
    expect(first.map(({ subject }) => subject)).toContain("configmap/kube-public/cluster-info");
    expect(first.map(({ subject }) => subject)).toContain("role/kube-system/lifeboat-manager");
    const info = await world.client.get(configMaps, CLUSTER_INFO);
    const data: Readonly<Record<string, string>> = {
      ...(info["data"] as Readonly<Record<string, string>>),
      "jws-kubeconfig-a": "s",
    };
    expect(data["kubeconfig"]).toContain("server: https://plane:6443");
    await world.client.update(configMaps, { ...info, data });
    const again = await install({ registration });
    expect(again.filter(({ outcome }) => outcome !== "unchanged")).toEqual([]);
    await install({ registration: { ...registration, server: "https://other:6443" } });
    expect((await world.client.get(configMaps, CLUSTER_INFO))["data"]).toMatchObject({
      kubeconfig: expect.stringContaining("server: https://other:6443"),
      "jws-kubeconfig-a": "s",
    });
    const { removes } = await planUninstall(world.clock, world.client, {
      version: "1.0.0",
      kinds: false,
      force: false,
    });
    expect(removes.map(subjectOf)).toContain("configmap/kube-public/cluster-info");
  });

  it.each([
    ["https://127.0.0.1:6443", true],
    ["https://[::1]:6443", true],
    ["https://localhost", true],
    ["https://plane.example.com:6443", false],
    ["https://10.0.0.1:6443", false],
  ])("tells of an address where clusters cannot register: %s", async (server, isTold) => {
    const registration = { server, bundle: "PEM" };
    const request = { ...REQUEST, dryRun: true, registration };
    const told = await installPlane(world.clock, world.client, request, () => undefined);
    expect(told.filter((sentence) => sentence.includes("--registration-endpoint"))).toHaveLength(
      isTold ? 1 : 0,
    );
  });

  it("gives tenants and name servers their rights", async () => {
    await install();
    const edit = await world.client.get(clusterRoles, {
      namespace: "",
      name: "system:lifeboat:aggregate-to-edit",
    });
    expect(edit.metadata.labels).toMatchObject({
      "rbac.authorization.k8s.io/aggregate-to-edit": "true",
      "app.kubernetes.io/managed-by": "lifeboat",
    });
    const { items } = await world.client.list<AnyObject>(clusterRoleBindings, {});
    const names = items.find(({ metadata }) => metadata.name === "lifeboat-dns");
    expect(names).toMatchObject({
      roleRef: { name: "system:lifeboat:dns" },
      subjects: [{ kind: "ServiceAccount", name: "lifeboat-dns", namespace: "lifeboat-system" }],
    });
  });

  it("leaves the cluster-info of another one as it is, also when it is uninstalled", async () => {
    const data = { kubeconfig: "by kubeadm" };
    await world.client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: CLUSTER_INFO,
      data,
    });
    const steps = await install({ registration: { server: "https://plane:6443", bundle: "PEM" } });
    expect(steps.map(({ subject }) => subject)).toContain(
      "clusterrole/lifeboat-manager-registration",
    );
    expect((await world.client.get(configMaps, CLUSTER_INFO))["data"]).toEqual(data);
    const { removes } = await planUninstall(world.clock, world.client, {
      version: "1.0.0",
      kinds: false,
      force: false,
    });
    expect(removes.map(subjectOf)).not.toContain("configmap/kube-public/cluster-info");
  });

  it("leaves Clusters to an aggregated API server that serves them", async () => {
    const apiServices: Resource = {
      group: "apiregistration.k8s.io",
      version: "v1",
      plural: "apiservices",
      kind: "APIService",
      namespaced: false,
    };
    await world.client.create(apiServices, {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: "v1alpha1.cluster.karmada.io" },
      spec: {
        group: "cluster.karmada.io",
        version: "v1alpha1",
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { namespace: "karmada-system", name: "karmada-aggregated-apiserver" },
      },
    });
    const steps = await install();
    const crds = steps.filter(({ subject }) => subject.startsWith("customresourcedefinition/"));
    expect(crds.map(({ subject }) => subject)).not.toContain(
      `customresourcedefinition/${CLUSTER_CRD.name}`,
    );
    expect(crds.length).toBeGreaterThan(10);
  });

  it("undoes what a person changed, and keeps labels of others and the bundle of the webhook", async () => {
    await install();
    const resource: Resource = {
      group: "admissionregistration.k8s.io",
      version: "v1",
      plural: "validatingwebhookconfigurations",
      kind: "ValidatingWebhookConfiguration",
      namespaced: false,
    };
    const key = { namespace: "", name: "lifeboat" };
    const found = await world.client.get(resource, key);
    const webhooks = (found["webhooks"] as readonly AnyObject[]).map((one) => ({
      ...one,
      failurePolicy: "Ignore",
      clientConfig: { ...(one["clientConfig"] as object), caBundle: "Q0E=" },
    }));
    const metadata = { ...found.metadata, labels: { ...found.metadata.labels, theirs: "1" } };
    await world.client.update(resource, { ...found, metadata, webhooks });
    const steps = await install();
    expect(steps.filter(({ outcome }) => outcome !== "unchanged")).toMatchObject([
      { subject: "validatingwebhookconfiguration/lifeboat", outcome: "configured" },
    ]);
    const after = await world.client.get(resource, key);
    expect(after.metadata.labels).toMatchObject({ theirs: "1" });
    expect(JSON.stringify(after["webhooks"])).toContain('"failurePolicy":"Fail"');
    expect(JSON.stringify(after["webhooks"])).toContain('"caBundle":"Q0E="');
  });
});

describe("uninstalling", () => {
  const plan = (change: { kinds?: boolean; force?: boolean } = {}) =>
    planUninstall(world.clock, world.client, {
      version: "1.0.0",
      kinds: false,
      force: false,
      ...change,
    });

  it("removes rights first and the kinds never, unless they are asked for", async () => {
    await install();
    const { removes, stays } = await plan();
    expect(
      removes
        .slice(0, 2)
        .map(({ resource }) => resource.kind)
        .toSorted(),
    ).toEqual(["ClusterRoleBinding", "RoleBinding"]);
    expect(removes.map(subjectOf).filter((subject) => subject.includes("customresource"))).toEqual(
      [],
    );
    expect(stays.join()).toContain("every workload in every member");
    const gone: string[] = [];
    await uninstallPlane(world.clock, world.client, { removes, stays }, (subject) =>
      gone.push(subject),
    );
    expect(gone).toHaveLength(removes.length);
    expect((await plan()).removes).toEqual([]);
    await expect(world.client.list(clusters)).resolves.toBeDefined();
  });

  it("is refused while a cluster is joined; by force the kinds still stay", async () => {
    await install();
    await world.client.create(clusters, newCluster("m1"));
    await expect(plan()).rejects.toThrow("clusters are joined (m1)");
    await expect(plan({ force: true, kinds: true })).rejects.toThrow("the kinds stay");
    expect((await plan({ force: true })).stays.join()).toContain("1 Clusters and 0 Works");
  });

  it("takes the roles of agents and detectors along, but for what is recorded of a cluster that is joined", async () => {
    await install();
    await world.client.create(clusters, newCluster("joined"));
    for (const cluster of ["joined", "left"]) {
      await ensureAgentRights(world.client, cluster).catch(() => undefined);
      for (const object of [...agentRoleObjects(cluster), ...detectorRoleObjects(cluster)]) {
        const resource = RIGHTS.find(({ kind }) => kind === object.kind) as Resource;
        await world.client.create(resource, object).catch(() => undefined);
      }
    }
    const until = { "lifeboat.dev/registered-until": "2033-01-01T00:00:00Z" };
    await world.client.patch(
      clusterRoles,
      { namespace: "", name: agentRoleName("left") },
      { type: "merge", body: { metadata: { annotations: until } } },
    );
    const { removes, stays } = await plan({ force: true });
    expect(stays.join()).toContain("the ClusterRoles of their agents");
    await uninstallPlane(world.clock, world.client, { removes, stays }, () => undefined);
    const left: string[] = [];
    for (const labelSelector of [AGENT_OF, wellKnown.DETECTOR_OF])
      for (const resource of RIGHTS) {
        const { items } = await world.client.list(resource, { labelSelector });
        left.push(...items.map(({ metadata }) => `${resource.kind}/${metadata.name}`));
      }
    expect(left.toSorted()).toEqual(
      [agentRoleName("joined"), detectorRoleName("joined")]
        .map((name) => `ClusterRole/${name}`)
        .toSorted(),
    );
    const stones = await world.client.list(configMaps, { namespace: "karmada-cluster" });
    expect(JSON.stringify(stones.items)).toContain("2033-01-01T00:00:00Z");
  });

  it("takes the kinds along where no cluster and no Work is left", async () => {
    await install();
    const { removes } = await plan({ kinds: true });
    expect(removes.at(-1)?.resource.kind).toBe("CustomResourceDefinition");
  });

  it("is refused while a manager leads", async () => {
    await install();
    await world.client.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "lifeboat-system", name: "lifeboat-manager" },
      spec: {
        holderIdentity: "host-a_1",
        leaseDurationSeconds: 15,
        renewTime: new Date(world.clock.now()).toISOString().replace("Z", "000Z"),
      },
    });
    await expect(plan()).rejects.toThrow("host-a_1 leads: stop every manager first");
    await world.advance("31s");
    await expect(plan()).resolves.toBeDefined();
  });
});
