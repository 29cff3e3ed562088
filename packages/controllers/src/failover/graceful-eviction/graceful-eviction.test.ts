/** The controller alone: what it asks the server before it clears a task, and a server that fails. */
import {
  type ClusterResourceBinding,
  clusterResourceBindings,
  clusters,
  failure,
  type New,
  Refused,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { type Client, OutcomeUnknown } from "@lifeboat/kit";
import { createFleet, deployment, type Fleet, newObject, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createGracefulEviction, DEFAULT_GRACEFUL_EVICTION } from "./create-graceful-eviction.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const KEY = { namespace: "default", name: "web-deployment" };
const ID = "resourcebinding.karmada.io/permanent-id";
const DIRECT = {
  fromCluster: "m1",
  purgeMode: "Directly",
  reason: "TaintUntolerated",
  producer: "TaintManager",
} as const;

async function start(wrap: (plane: Client) => Client = (plane) => plane) {
  fleet = await createFleet({
    memberModel: false,
    services: (context) =>
      createGracefulEviction({ ...context, plane: wrap(context.plane) }, DEFAULT_GRACEFUL_EVICTION),
  });
  for (const name of ["m1", "m2"]) {
    await fleet.plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: {
        syncMode: "Push",
        ...(name === "m1" && { taints: [{ key: "down", effect: "NoExecute" }] }),
      },
    });
    await fleet.plane.create(
      resources.namespaces,
      newObject(resources.namespaces, { name: `karmada-es-${name}` }),
    );
  }
  await fleet.plane.create(resources.deployments, deployment("web"));
}

function binding(spec: object): New<ResourceBinding> {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: KEY.name, namespace: "default" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" },
      ...spec,
    },
  };
}

async function tasks(): Promise<number> {
  const { spec } = await fleet.plane.get(resourceBindings, KEY);
  return (spec.gracefulEvictionTasks ?? []).length;
}

async function succeeded(): Promise<number> {
  const { items } = await fleet.plane.list(resources.events);
  return items.filter((event) => event["reason"] === "EvictWorkloadFromClusterSucceed").length;
}

describe("a server that fails", () => {
  it.each([
    ["refuses", (): Error => new Refused(failure(500, "InternalError", "broken")), false],
    ["takes the write and loses its answer", (): Error => new OutcomeUnknown("lost"), true],
  ])("%s: the task is cleared in the end, once", async (_what, error, isTaken) => {
    let updates = 0;
    await start((plane) => ({
      ...plane,
      get: (...given) => plane.get(...given),
      update: async (...given) => {
        updates += 1;
        if (updates > 2) return plane.update(...given);
        if (isTaken) await plane.update(...given);
        throw error();
      },
    }));
    await fleet.plane.create(resourceBindings, binding({ gracefulEvictionTasks: [DIRECT] }));
    await fleet.advance("20s");
    expect(await tasks()).toBe(0);
    const before = updates;
    await fleet.advance("10m");
    expect(updates).toBe(before);
  });
});

describe("before a task of mode Directly is cleared", () => {
  it("the server is asked for the Work that the cache does not show", async () => {
    let isThere = true;
    const asked: string[] = [];
    await start((plane) => ({
      ...plane,
      update: (...given) => plane.update(...given),
      get: ((...given: Parameters<Client["get"]>) => {
        const [resource, key] = given;
        if (resource.plural !== "works") return plane.get(...given);
        asked.push(`${key.namespace}/${key.name}`);
        if (isThere) return Promise.resolve({ metadata: {} });
        return plane.get(...given);
      }) as unknown as Client["get"],
    }));
    await fleet.plane.create(resourceBindings, binding({ gracefulEvictionTasks: [DIRECT] }));
    await fleet.advance("30s");
    expect(await tasks()).toBe(1);
    expect(asked[0]).toMatch(/^karmada-es-m1\/web-/);
    isThere = false;
    await fleet.advance("5s");
    expect(await tasks()).toBe(0);
    expect(await succeeded()).toBe(2);
  });
});

describe("before a copy is let go because another one is healthy", () => {
  it("that one must be what it should be now", async () => {
    await start();
    const made = await fleet.plane.create(
      resourceBindings,
      binding({
        clusters: [{ name: "m2", replicas: 1 }],
        gracefulEvictionTasks: [{ ...DIRECT, purgeMode: "Gracefully" }],
      }),
    );
    await fleet.plane.create(works, work(made.metadata.labels?.[ID] ?? ""));
    const stored = (await fleet.plane.list(works)).items[0];
    if (stored === undefined) throw new Error("no Work");
    const healthy = { ...stored, status: healthyStatus(stored.metadata.generation ?? 1) };
    await fleet.plane.update(works, healthy, { subresource: "status" });
    const seen = await fleet.plane.get(resourceBindings, KEY);
    const status = { schedulerObservedGeneration: seen.metadata.generation ?? 0 };
    await fleet.plane.update(resourceBindings, { ...seen, status }, { subresource: "status" });
    const { resourceVersion } = (await fleet.plane.get(resourceBindings, KEY)).metadata;
    await fleet.advance("5m");
    // The Work is another one than would be rendered: its health does not count.
    const after = await fleet.plane.get(resourceBindings, KEY);
    expect(after.spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster)).toEqual(["m1"]);
    // It is stamped once, and then nothing is written.
    await fleet.advance("5m");
    const rest = (await fleet.plane.get(resourceBindings, KEY)).metadata.resourceVersion;
    expect(rest).toBe(after.metadata.resourceVersion);
    expect(Number(rest) - Number(resourceVersion)).toBeLessThanOrEqual(1);
  });
});

describe("a resource without a namespace", () => {
  it("is served alike", async () => {
    await start();
    const bound = {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ClusterResourceBinding",
      metadata: { name: "r-clusterrole" },
      spec: {
        resource: {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          name: "r",
        },
        gracefulEvictionTasks: [DIRECT],
      },
    } as unknown as New<ClusterResourceBinding>;
    await fleet.plane.create(clusterResourceBindings, bound);
    await fleet.advance("10s");
    const { spec } = await fleet.plane.get(clusterResourceBindings, {
      namespace: "",
      name: "r-clusterrole",
    });
    expect(spec).not.toHaveProperty("gracefulEvictionTasks");
  });
});

function work(id: string): New<Work> {
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "web-x", namespace: "karmada-es-m2", labels: { [ID]: id } },
    spec: { workload: { manifests: [{ apiVersion: "apps/v1", kind: "Deployment" }] } },
  };
}

function healthyStatus(observedGeneration: number): NonNullable<Work["status"]> {
  const condition = (type: string) => ({
    type,
    status: "True" as const,
    reason: "Test",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    observedGeneration,
  });
  const identifier = { ordinal: 0, version: "v1", kind: "Deployment", resource: "", name: "web" };
  return {
    conditions: [condition("Applied"), condition("StatusObserved")],
    manifestStatuses: [{ identifier, health: "Healthy" }],
  };
}
