/** The controller alone: a server that fails, and a copy that gets well at the last moment. */
import {
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
import { createApplicationFailover } from "./create-application-failover.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const KEY = { namespace: "default", name: "web-deployment" };
const ID = "resourcebinding.karmada.io/permanent-id";

/** How often the controller asked for a whole list of bindings. */
let walks = 0;

/** A workload that is unhealthy in m1; m2 could take it. */
async function start(wrap: (plane: Client) => Client = (plane) => plane) {
  walks = 0;
  fleet = await createFleet({
    memberModel: false,
    services: (context) => {
      const { resourceBindings: bindings } = context.informers;
      const list = bindings.list.bind(bindings);
      bindings.list = () => {
        walks += 1;
        return list();
      };
      return createApplicationFailover(
        { ...context, plane: wrap(context.plane) },
        { statefulFailoverInjection: false },
      );
    },
  });
  for (const name of ["m1", "m2"]) {
    const made = await fleet.plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: { syncMode: "Push" },
    });
    const apiEnablements = [
      { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
    ];
    const status = { ...made.status, apiEnablements };
    await fleet.plane.update(clusters, { ...made, status }, { subresource: "status" });
    await fleet.plane.create(
      resources.namespaces,
      newObject(resources.namespaces, { name: `karmada-es-${name}` }),
    );
  }
  await fleet.plane.create(resources.deployments, deployment("web"));
  const made = await fleet.plane.create(resourceBindings, binding());
  await fleet.plane.create(works, work(made.metadata.labels?.[ID] ?? ""));
  await report("Unhealthy");
}

function binding(): New<ResourceBinding> {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      name: KEY.name,
      namespace: "default",
      labels: { "propagationpolicy.karmada.io/permanent-id": "p" },
    },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" },
      replicas: 1,
      clusters: [{ name: "m1", replicas: 1 }],
      placement: {
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
      },
      failover: {
        application: {
          decisionConditions: { tolerationSeconds: 30 },
          purgeMode: "Gracefully",
        },
      },
    },
  };
}

function work(id: string): New<Work> {
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "web-x", namespace: "karmada-es-m1", labels: { [ID]: id } },
    spec: { workload: { manifests: [{ apiVersion: "apps/v1", kind: "Deployment" }] } },
  };
}

async function report(health: "Healthy" | "Unhealthy"): Promise<void> {
  const stored = await fleet.plane.get(works, { namespace: "karmada-es-m1", name: "web-x" });
  const condition = (type: string) => ({
    type,
    status: "True" as const,
    reason: "Test",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    observedGeneration: stored.metadata.generation ?? 1,
  });
  const identifier = { ordinal: 0, version: "v1", kind: "Deployment", resource: "", name: "web" };
  const status = {
    conditions: [condition("Applied"), condition("StatusObserved")],
    manifestStatuses: [{ identifier, health }],
  };
  await fleet.plane.update(works, { ...stored, status }, { subresource: "status" });
  await fleet.settle();
}

const bound = (): Promise<ResourceBinding> => fleet.plane.get(resourceBindings, KEY);

describe("a server that fails", () => {
  it.each([
    ["refuses", (): Error => new Refused(failure(500, "InternalError", "broken")), false],
    ["takes writes and loses its answers", (): Error => new OutcomeUnknown("lost"), true],
  ])("%s: the workload leaves in the end, once", async (_what, error, isTaken) => {
    let updates = 0;
    await start((plane) => ({
      ...plane,
      get: (...given) => plane.get(...given),
      update: async (...given) => {
        updates += 1;
        if (updates % 2 === 0) return plane.update(...given);
        if (isTaken) await plane.update(...given);
        throw error();
      },
    }));
    await fleet.advance("2m");
    const { metadata, spec } = await bound();
    expect(spec.clusters).toEqual([]);
    expect(spec.gracefulEvictionTasks).toHaveLength(1);
    expect(metadata.annotations?.["lifeboat.dev/evicted-from"]).toBe('["m1"]');
    const before = updates;
    await fleet.advance("10m");
    expect(updates).toBe(before);
  });
});

describe("a copy that gets well", () => {
  it("before its time is over is not left, and nothing is remembered of it", async () => {
    await start();
    await fleet.advance("20s");
    expect((await bound()).metadata.annotations).toHaveProperty(["lifeboat.dev/unhealthy-since"]);
    await report("Healthy");
    await fleet.advance("5m");
    const { metadata, spec } = await bound();
    expect(metadata.annotations ?? {}).not.toHaveProperty(["lifeboat.dev/unhealthy-since"]);
    expect(spec.clusters).toEqual([{ name: "m1", replicas: 1 }]);
  });

  it("at the last moment is not left: the server is asked before the eviction", async () => {
    let isWell = false;
    await start((plane) => ({
      ...plane,
      update: (...given) => plane.update(...given),
      get: (async (...given: Parameters<Client["get"]>) => {
        const found = await plane.get(...given);
        return isWell && given[0].plural === "works" ? { ...found, status: {} } : found;
      }) as unknown as Client["get"],
    }));
    isWell = true;
    await fleet.advance("2m");
    expect((await bound()).spec.clusters).toEqual([{ name: "m1", replicas: 1 }]);
    isWell = false;
    await fleet.advance("5s");
    expect((await bound()).spec.clusters).toEqual([]);
  });
});

describe("what is remembered", () => {
  it("is cleared when the policy no longer asks for it", async () => {
    await start();
    await fleet.advance("10s");
    const { failover: _none, ...spec } = (await bound()).spec;
    await fleet.plane.update(resourceBindings, { ...(await bound()), spec });
    await fleet.advance("2m");
    const { metadata, spec: after } = await bound();
    expect(metadata.annotations ?? {}).not.toHaveProperty(["lifeboat.dev/unhealthy-since"]);
    expect(after.clusters).toEqual([{ name: "m1", replicas: 1 }]);
  });
});

describe("a workload that left and is nowhere", () => {
  it("may return when nothing else can take it any more, with one Event", async () => {
    await start();
    await fleet.advance("10m");
    expect((await bound()).metadata.annotations?.["lifeboat.dev/evicted-from"]).toBe('["m1"]');
    await fleet.plane.delete(clusters, { namespace: "", name: "m2" });
    await fleet.advance("30s");
    const { metadata } = await bound();
    expect(metadata.annotations ?? {}).not.toHaveProperty(["lifeboat.dev/evicted-from"]);
    await fleet.advance("10m");
    expect((await bound()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    const { items } = await fleet.plane.list(resources.events);
    const told = items.filter((event) => event["reason"] === "NowhereElse");
    expect(told.map((event) => event["count"] ?? 1)).toEqual(told.map(() => 1));
    expect(told.length).toBeGreaterThan(0);
  });
});

describe("suspended scheduling", () => {
  it("holds the workload, because nothing would place it again", async () => {
    await start();
    const now = await bound();
    const suspension = { scheduling: true };
    await fleet.plane.update(resourceBindings, { ...now, spec: { ...now.spec, suspension } });
    await fleet.advance("5m");
    expect((await bound()).spec.clusters).toEqual([{ name: "m1", replicas: 1 }]);
    const { items } = await fleet.plane.list(resources.events);
    const held = items.filter((event) => event["reason"] === "EvictionHeld");
    expect(held.length).toBeGreaterThan(0);
    // It is reported once, not with every attempt.
    expect(held.every((event) => (event["count"] ?? 1) === 1)).toBe(true);
  });
});

it("does not count on room that another workload was promised, and walks no list for it", async () => {
  await start();
  const divided = {
    replicaScheduling: {
      replicaSchedulingType: "Divided" as const,
      replicaDivisionPreference: "Aggregated" as const,
    },
  };
  const m2 = await fleet.plane.get(clusters, { namespace: "", name: "m2" });
  const resourceSummary = { allocatable: { pods: "3" } };
  const status = { ...m2.status, resourceSummary };
  await fleet.plane.update(clusters, { ...m2, status }, { subresource: "status" });
  const { metadata, spec } = binding();
  await fleet.plane.create(resourceBindings, {
    ...binding(),
    metadata: { ...metadata, name: "other" },
    spec: { ...spec, replicas: 3, clusters: [{ name: "m2", replicas: 3 }] },
  });
  const web = await bound();
  await fleet.plane.update(resourceBindings, {
    ...web,
    spec: { ...web.spec, placement: divided },
  });
  await fleet.advance("10m");
  expect((await bound()).spec.gracefulEvictionTasks).toBeUndefined();
  await fleet.plane.delete(resourceBindings, { namespace: "default", name: "other" });
  await fleet.advance("2m");
  expect((await bound()).spec.gracefulEvictionTasks).toHaveLength(1);
  expect(walks).toBe(0);
});
