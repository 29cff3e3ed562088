/** Namespaces reach every member by Works that belong to them. */
import {
  type ClusterOverridePolicy,
  clusterOverridePolicies,
  clusters,
  failure,
  type New,
  Refused,
  type Work,
  works,
} from "@lifeboat/api";
import { workName } from "@lifeboat/core/propagation/rendering";
import { createFleet, type Fleet, newCluster, newObject, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createNamespaceSync } from "./create-namespace-sync.ts";

const SKIP = "namespace.karmada.io/skip-auto-propagation";
const open: Fleet[] = [];

afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});

async function fleetOf(...names: readonly string[]): Promise<Fleet> {
  const fleet = await createFleet({
    services: (context) => createNamespaceSync(context, { skippedNamespaces: "kube-.*" }),
  });
  open.push(fleet);
  for (const name of names) await addCluster(fleet, name);
  await fleet.settle();
  return fleet;
}

/** A Cluster with its execution namespace, as the cluster controller makes it. */
async function addCluster(fleet: Fleet, name: string): Promise<void> {
  await fleet.plane.create(clusters, newCluster(name));
  await addNamespace(fleet, `karmada-es-${name}`);
}

async function addNamespace(
  fleet: Fleet,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  await fleet.plane.create(resources.namespaces, newObject(resources.namespaces, { name, labels }));
  await fleet.settle();
}

function workKey(cluster: string, name: string) {
  return {
    namespace: `karmada-es-${cluster}`,
    name: workName({ kind: "Namespace", namespace: "", name }),
  };
}

function workOf(fleet: Fleet, cluster: string, name: string): Promise<Work> {
  return fleet.plane.get(works, workKey(cluster, name));
}

/** `cluster/namespace` of every Work. */
async function synced(fleet: Fleet): Promise<readonly string[]> {
  const { items } = await fleet.plane.list(works);
  return items
    .map(({ metadata, spec }) => {
      const manifest = spec.workload?.manifests?.[0] as { metadata: { name: string } };
      return `${(metadata.namespace ?? "").replace("karmada-es-", "")}/${manifest.metadata.name}`;
    })
    .toSorted();
}

async function patchLabels(fleet: Fleet, name: string, labels: object): Promise<void> {
  const patch = { type: "merge", body: { metadata: { labels } } } as never;
  await fleet.plane.patch(resources.namespaces, { namespace: "", name }, patch);
  await fleet.settle();
}

function labelPolicy(value: string, clusterNames: readonly string[]): New<ClusterOverridePolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterOverridePolicy",
    metadata: { name: "tag" },
    spec: {
      resourceSelectors: [{ apiVersion: "v1", kind: "Namespace" }],
      overrideRules: [
        {
          targetCluster: { clusterNames },
          overriders: { labelsOverrider: [{ operator: "add", value: { tag: value } }] },
        },
      ],
    },
  };
}

describe("a namespace", () => {
  it("gets a Work in every cluster, and so does one that is new", async () => {
    const fleet = await fleetOf("m1", "m2");
    expect(await synced(fleet)).toEqual([]);
    await addNamespace(fleet, "shop", { team: "a" });
    expect(await synced(fleet)).toEqual(["m1/shop", "m2/shop"]);
    const work = await workOf(fleet, "m1", "shop");
    expect(work.metadata).toMatchObject({
      finalizers: ["karmada.io/execution-controller"],
      ownerReferences: [{ kind: "Namespace", name: "shop" }],
    });
    expect(work.spec.workload?.manifests?.[0]).toMatchObject({
      kind: "Namespace",
      metadata: {
        name: "shop",
        labels: {
          team: "a",
          "work.karmada.io/permanent-id": work.metadata.labels?.["work.karmada.io/permanent-id"],
        },
      },
    });
  });

  it("follows into a cluster that joins later", async () => {
    const fleet = await fleetOf("m1");
    await addNamespace(fleet, "shop");
    await addNamespace(fleet, "desk");
    await addCluster(fleet, "m2");
    await fleet.settle();
    expect(await synced(fleet)).toEqual(["m1/desk", "m1/shop", "m2/desk", "m2/shop"]);
  });

  it.each(["karmada-system", "karmada-es-x", "kube-things", "lifeboat-system"])(
    "named %s stays here",
    async (name) => {
      const fleet = await fleetOf("m1");
      // The last one is there from the start.
      if (name !== "lifeboat-system") await addNamespace(fleet, name);
      expect(await synced(fleet)).toEqual([]);
    },
  );

  it("is kept from members by its label; what was made before stays and is left alone", async () => {
    const fleet = await fleetOf("m1");
    await addNamespace(fleet, "hidden", { [SKIP]: "True" });
    await addNamespace(fleet, "shop");
    await patchLabels(fleet, "shop", { [SKIP]: "true", late: "yes" });
    await addCluster(fleet, "m2");
    await fleet.settle();
    expect(await synced(fleet)).toEqual(["m1/shop"]);
    const work = await workOf(fleet, "m1", "shop");
    expect(JSON.stringify(work.spec)).not.toContain('"late":"yes"');
    await patchLabels(fleet, "shop", { [SKIP]: null });
    expect(await synced(fleet)).toEqual(["m1/shop", "m2/shop"]);
    expect(JSON.stringify((await workOf(fleet, "m1", "shop")).spec)).toContain('"late":"yes"');
  });

  it("takes its Works with it when it is deleted", async () => {
    const fleet = await fleetOf("m1");
    await addNamespace(fleet, "shop");
    await fleet.plane.delete(resources.namespaces, { namespace: "", name: "shop" });
    await fleet.advance("1m");
    const leaving = await workOf(fleet, "m1", "shop");
    expect(leaving.metadata.deletionTimestamp).toBeDefined();
    // Created again while the old Work is still there: the new one waits until that is gone.
    await addNamespace(fleet, "shop");
    expect((await workOf(fleet, "m1", "shop")).metadata.uid).toBe(leaving.metadata.uid);
    const body = { metadata: { finalizers: null } };
    await fleet.plane.patch(works, workKey("m1", "shop"), { type: "merge", body });
    await fleet.settle();
    const next = await workOf(fleet, "m1", "shop");
    expect(next.metadata.uid).not.toBe(leaving.metadata.uid);
    expect(next.metadata.deletionTimestamp).toBeUndefined();
  });

  it("is changed in members when it changes here, under the same permanent id", async () => {
    const fleet = await fleetOf("m1");
    await addNamespace(fleet, "shop");
    const before = await workOf(fleet, "m1", "shop");
    await patchLabels(fleet, "shop", { team: "b" });
    const after = await workOf(fleet, "m1", "shop");
    expect(JSON.stringify(after.spec)).toContain('"team":"b"');
    expect(after.metadata.labels).toEqual(before.metadata.labels);
  });
});

describe("overrides of a namespace", () => {
  it("apply where a policy asks for it, change with it, and go with it", async () => {
    const fleet = await fleetOf("m1", "m2");
    await addNamespace(fleet, "shop");
    const before = await workOf(fleet, "m1", "shop");
    const policy = await fleet.plane.create(clusterOverridePolicies, labelPolicy("eu", ["m1"]));
    await fleet.settle();
    expect(JSON.stringify((await workOf(fleet, "m1", "shop")).spec)).toContain('"tag":"eu"');
    expect(JSON.stringify((await workOf(fleet, "m2", "shop")).spec)).not.toContain('"tag"');
    const { spec } = labelPolicy("us", ["m2"]);
    await fleet.plane.update(clusterOverridePolicies, { ...policy, spec });
    await fleet.settle();
    expect(JSON.stringify((await workOf(fleet, "m1", "shop")).spec)).not.toContain('"tag"');
    expect(JSON.stringify((await workOf(fleet, "m2", "shop")).spec)).toContain('"tag":"us"');
    await fleet.plane.delete(clusterOverridePolicies, { namespace: "", name: "tag" });
    await fleet.settle();
    const after = await workOf(fleet, "m1", "shop");
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata.annotations).toEqual(before.metadata.annotations);
  });

  it("come when a cluster begins to be meant by a policy", async () => {
    const fleet = await fleetOf("m1");
    await addNamespace(fleet, "shop");
    const policy = labelPolicy("eu", []);
    const [rule] = policy.spec.overrideRules ?? [];
    const targetCluster = { labelSelector: { matchLabels: { region: "eu" } } };
    await fleet.plane.create(clusterOverridePolicies, {
      ...policy,
      spec: {
        ...policy.spec,
        overrideRules: [{ ...rule, targetCluster, overriders: rule?.overriders ?? {} }],
      },
    });
    await fleet.settle();
    expect(JSON.stringify((await workOf(fleet, "m1", "shop")).spec)).not.toContain('"tag"');
    const body = { metadata: { labels: { region: "eu" } } };
    await fleet.plane.patch(clusters, { namespace: "", name: "m1" }, { type: "merge", body });
    await fleet.settle();
    expect(JSON.stringify((await workOf(fleet, "m1", "shop")).spec)).toContain('"tag":"eu"');
  });

  it("that cannot be applied leave the Work as it is, and an Event reports it", async () => {
    const fleet = await fleetOf("m1");
    await addNamespace(fleet, "shop");
    const before = await workOf(fleet, "m1", "shop");
    const policy = labelPolicy("eu", ["m1"]);
    const plaintext = [{ path: "/metadata/name", operator: "replace", value: "other" }] as const;
    const overrideRules = [{ overriders: { plaintext } }];
    await fleet.plane.create(clusterOverridePolicies, {
      ...policy,
      spec: { ...policy.spec, overrideRules },
    });
    await fleet.advance("5s");
    expect(await workOf(fleet, "m1", "shop")).toEqual(before);
    const { items } = await fleet.plane.list(resources.events);
    expect(items).toContainEqual(
      expect.objectContaining({ reason: "ApplyOverridePolicyFailed", type: "Warning" }),
    );
  });
});

describe("Works of namespaces", () => {
  it("are made again when another writer deletes or changes them", async () => {
    const fleet = await fleetOf("m1");
    await addNamespace(fleet, "shop");
    const work = await workOf(fleet, "m1", "shop");
    await fleet.plane.update(works, { ...work, spec: { suspendDispatching: true } });
    await fleet.settle();
    expect((await workOf(fleet, "m1", "shop")).spec).toEqual(work.spec);
    await fleet.plane.delete(works, workKey("m1", "shop"));
    const body = { metadata: { finalizers: null } };
    await fleet.plane.patch(works, workKey("m1", "shop"), { type: "merge", body });
    await fleet.settle();
    expect(await synced(fleet)).toEqual(["m1/shop"]);
  });

  it("are left alone when they belong to a binding", async () => {
    const fleet = await fleetOf("m1");
    const labels = { "clusterresourcebinding.karmada.io/permanent-id": "b-1" };
    await fleet.plane.create(works, {
      apiVersion: "work.karmada.io/v1alpha1",
      kind: "Work",
      metadata: { ...workKey("m1", "shop"), labels },
      spec: { workload: { manifests: [{ metadata: { name: "theirs" } }] } },
    });
    await addNamespace(fleet, "shop");
    await fleet.advance("1m");
    expect(await synced(fleet)).toEqual(["m1/theirs"]);
  });

  it("are not made for a cluster that leaves, nor before its execution namespace exists", async () => {
    const fleet = await fleetOf();
    const metadata = { name: "m1", finalizers: ["example.com/wait"] };
    await fleet.plane.create(clusters, { ...newCluster("m1"), metadata });
    let attempts = 0;
    const { plane } = fleet.context;
    const create = plane.create.bind(plane);
    Object.defineProperty(plane, "create", {
      value: (...given: Parameters<typeof create>) => {
        attempts += 1;
        return create(...given);
      },
    });
    await addNamespace(fleet, "shop");
    await fleet.advance("1m");
    expect(attempts).toBe(0);
    await addNamespace(fleet, "karmada-es-m1");
    expect(await synced(fleet)).toEqual(["m1/shop"]);
    await fleet.plane.delete(clusters, { namespace: "", name: "m1" });
    await addNamespace(fleet, "desk");
    expect(await synced(fleet)).toEqual(["m1/shop"]);
  });

  it("are not written at rest, nor by a control plane that starts again", async () => {
    const fleet = await fleetOf("m1", "m2");
    for (const name of ["shop", "desk"]) await addNamespace(fleet, name);
    const versions = async () =>
      (await fleet.plane.list(works)).items.map(({ metadata }) => metadata.resourceVersion);
    const before = await versions();
    await fleet.advance("30m");
    await fleet.restart();
    await fleet.advance("1m");
    expect(await versions()).toEqual(before);
  });

  it("are all made though the control plane dies in the middle", async () => {
    const fleet = await fleetOf("m1", "m2");
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        fleet.plane.create(
          resources.namespaces,
          newObject(resources.namespaces, { name: `n${i}` }),
        ),
      ),
    );
    await fleet.restart();
    await fleet.advance("1s");
    expect(await synced(fleet)).toHaveLength(40);
  });

  it("are made after the server has refused them for a while", async () => {
    const fleet = await fleetOf("m1");
    const { plane } = fleet.context;
    const create = plane.create.bind(plane);
    let refusals = 0;
    Object.defineProperty(plane, "create", {
      value: (...given: Parameters<typeof create>) => {
        if (refusals++ < 5)
          return Promise.reject(new Refused(failure(503, "ServiceUnavailable", "later")));
        return create(...given);
      },
    });
    await addNamespace(fleet, "shop");
    await fleet.advance("5s");
    expect(refusals).toBeGreaterThan(5);
    expect(await synced(fleet)).toEqual(["m1/shop"]);
  });
});

it("refuses an expression that is none", async () => {
  const fleet = await fleetOf();
  expect(() => createNamespaceSync(fleet.context, { skippedNamespaces: "(" })).toThrow(SyntaxError);
});
