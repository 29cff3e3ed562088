/** The whole way of a dependency into members and of a status back; the tests play the detector and the scheduler. */
import {
  type AnyObject,
  isRefused,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { configMap, createFleet, deployment, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createClusterController } from "../../clusters/index.ts";
import {
  createBindingController,
  createBindingStatus,
  createDeletionGate,
  createDependencies,
  createExecution,
  createNamespaceSync,
} from "../index.ts";

const NS = "default";
let fleet: Fleet;

async function open(): Promise<void> {
  fleet = await createFleet({
    members: ["m1", "m2"],
    services: (context) => {
      const gate = createDeletionGate(context);
      return [
        ...createClusterController(context),
        ...createNamespaceSync(context, { skippedNamespaces: "kube-.*" }),
        gate,
        ...createBindingController(context, gate),
        ...createExecution(context),
        ...createBindingStatus(context),
        ...createDependencies(context),
      ];
    },
  });
  await fleet.advance("5s");
}

afterEach(() => fleet.close());

async function has(member: string, resource: Resource, name: string): Promise<boolean> {
  try {
    await fleet.member(member).client.get(resource, { namespace: NS, name });
    return true;
  } catch (error) {
    if (isRefused(error, "NotFound")) return false;
    throw error;
  }
}

async function places(resource: Resource, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const member of ["m1", "m2"]) if (await has(member, resource, name)) found.push(member);
  return found;
}

async function bindWeb(...clusters: readonly string[]): Promise<void> {
  const labels = { app: "web" };
  const { apiVersion, kind, metadata } = await fleet.plane.create(
    resources.deployments,
    deployment("web", {
      replicas: 2,
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: "c", image: "nginx:1.27" }],
          volumes: [{ name: "v", configMap: { name: "cfg" } }],
        },
      },
    }),
  );
  const { name, uid, resourceVersion } = metadata;
  await fleet.plane.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      namespace: NS,
      name: "web-deployment",
      finalizers: ["karmada.io/binding-controller"],
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: {
      resource: { apiVersion, kind, namespace: NS, name, uid, resourceVersion },
      propagateDeps: true,
      replicas: 2,
      clusters: clusters.map((cluster) => ({ name: cluster, replicas: 2 })),
      conflictResolution: "Abort",
    },
  });
  await fleet.advance("30s");
}

async function change(spec: Partial<ResourceBinding["spec"]>): Promise<void> {
  const binding = await fleet.plane.get(resourceBindings, {
    namespace: NS,
    name: "web-deployment",
  });
  await fleet.plane.update(resourceBindings, { ...binding, spec: { ...binding.spec, ...spec } });
  await fleet.advance("30s");
}

function statusOf(name: string): Promise<AnyObject> {
  return fleet.plane.get(resources.deployments, { namespace: NS, name });
}

describe("a workload with a dependency", () => {
  it("runs in members, and its template shows what runs", async () => {
    await open();
    await fleet.plane.create(resources.configMaps, configMap("cfg", { a: "b" }));
    await bindWeb("m1", "m2");
    expect(await places(resources.configMaps, "cfg")).toEqual(["m1", "m2"]);
    expect(await statusOf("web")).toMatchObject({
      status: { observedGeneration: 1, replicas: 4, readyReplicas: 4, availableReplicas: 4 },
    });
    const { status } = await fleet.plane.get(resourceBindings, {
      namespace: NS,
      name: "web-deployment",
    });
    expect(status?.aggregatedStatus).toMatchObject([
      { clusterName: "m1", applied: true, health: "Healthy" },
      { clusterName: "m2", applied: true, health: "Healthy" },
    ]);
    const follower = await fleet.plane.get(resourceBindings, {
      namespace: NS,
      name: "cfg-configmap",
    });
    expect(follower.status?.conditions).toMatchObject([{ type: "FullyApplied", status: "True" }]);
  });

  it("takes it along, and leaves it where it still runs", async () => {
    await open();
    const cfg = await fleet.plane.create(resources.configMaps, configMap("cfg", { a: "b" }));
    await bindWeb("m1");
    const task = { fromCluster: "m1", reason: "Test", producer: "test" } as const;
    await change({
      clusters: [{ name: "m2", replicas: 2 }],
      gracefulEvictionTasks: [{ ...task, purgeMode: "Gracefully" }],
    });
    expect(await places(resources.deployments, "web")).toEqual(["m1", "m2"]);
    expect(await places(resources.configMaps, "cfg")).toEqual(["m1", "m2"]);
    await fleet.restart();
    await change({ gracefulEvictionTasks: [] });
    expect(await places(resources.deployments, "web")).toEqual(["m2"]);
    expect(await places(resources.configMaps, "cfg")).toEqual(["m2"]);
    await fleet.plane.update(resources.configMaps, { ...cfg, data: { a: "c" } });
    await fleet.advance("5s");
    const copy = await fleet.member("m2").client.get(resources.configMaps, {
      namespace: NS,
      name: "cfg",
    });
    expect(copy["data"]).toEqual({ a: "c" });
  });

  it("keeps it beside the last copy, which no schedule names any more", async () => {
    await open();
    await fleet.plane.create(resources.configMaps, configMap("cfg", { a: "b" }));
    await bindWeb("m1");
    await change({ clusters: [], placement: {} });
    expect(await places(resources.deployments, "web")).toEqual(["m1"]);
    expect(await places(resources.configMaps, "cfg")).toEqual(["m1"]);
    await change({ clusters: [{ name: "m2", replicas: 2 }] });
    expect(await places(resources.deployments, "web")).toEqual(["m2"]);
    expect(await places(resources.configMaps, "cfg")).toEqual(["m2"]);
  });

  it("leaves nothing behind when it goes", async () => {
    await open();
    await fleet.plane.create(resources.configMaps, configMap("cfg", { a: "b" }));
    await bindWeb("m1", "m2");
    await fleet.plane.delete(resources.deployments, { namespace: NS, name: "web" });
    await fleet.advance("2m");
    expect(await places(resources.deployments, "web")).toEqual([]);
    expect(await places(resources.configMaps, "cfg")).toEqual([]);
    const { items } = await fleet.plane.list(resourceBindings);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["cfg-configmap"]);
  });
});
