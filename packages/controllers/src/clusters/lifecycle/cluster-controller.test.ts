/** Clusters get what they need when they come, and leave in order when they go. */
import {
  type AnyObject,
  type Cluster,
  clusters,
  failure,
  findCondition,
  isRefused,
  type New,
  Refused,
  type ResourceBinding,
  resourceBindings,
  setCondition,
  type Work,
  works,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Client, Informer } from "@lifeboat/kit";
import { createFleet, type Fleet, newNamespace, resources, wrapped } from "@lifeboat/testkit";
import { describe, expect, it } from "vitest";
import { bindingClusters } from "../../context/informers.ts";
import { createClusterController } from "./create-cluster-controller.ts";

const M1 = { namespace: "", name: "m1" };
const SPACE = { namespace: "", name: "karmada-es-m1" };

async function fleetOf(members: readonly string[]): Promise<Fleet> {
  const fleet = await createFleet({
    members,
    memberModel: false,
    services: (context) => createClusterController(context),
  });
  await fleet.advance("1s");
  return fleet;
}

function work(name: string): New<Work> {
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      name,
      namespace: "karmada-es-m1",
      finalizers: [wellKnown.EXECUTION_FINALIZER],
    },
    spec: { workload: { manifests: [] } },
  };
}

function binding(name: string, spec: Partial<ResourceBinding["spec"]>): New<ResourceBinding> {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, namespace: "default" },
    spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", name }, ...spec },
  };
}

async function clusterOf(fleet: Fleet): Promise<Cluster | undefined> {
  return fleet.plane.get(clusters, M1).catch((error: unknown) => {
    if (isRefused(error, "NotFound")) return undefined;
    throw error;
  });
}

async function spaceOf(fleet: Fleet): Promise<AnyObject | undefined> {
  const { items } = await fleet.plane.list(resources.namespaces);
  return items.find(({ metadata }) => metadata.name === SPACE.name);
}

async function setReady(fleet: Fleet, status: "True" | "False"): Promise<void> {
  const cluster = await fleet.plane.get(clusters, M1);
  const ready = { type: "Ready", status, reason: "Test", message: "" };
  const conditions = setCondition(cluster.status?.conditions, ready, fleet.clock.now());
  const update = { ...cluster, status: { ...cluster.status, conditions } };
  await fleet.plane.update(clusters, update, { subresource: "status" });
}

async function force(fleet: Fleet): Promise<void> {
  const body = { metadata: { annotations: { [wellKnown.FORCE_REMOVAL]: "true" } } };
  await fleet.plane.patch(clusters, M1, { type: "merge", body });
}

async function eventsOf(fleet: Fleet): Promise<readonly string[]> {
  await fleet.advance("2s");
  const { items } = await fleet.plane.list(resources.events, { namespace: "default" });
  return items.map((event) => String(event["reason"]));
}

/** An informer that answers single questions otherwise. */
function withGet(informer: Informer<Cluster>, get: () => Cluster | undefined): Informer<Cluster> {
  return new Proxy(informer, {
    get: (target, name) => {
      if (name === "get") return get;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
}

describe("a Cluster that joins", () => {
  it("gets the finalizer, and an execution namespace with its label", async () => {
    const fleet = await fleetOf(["m1"]);
    expect((await clusterOf(fleet))?.metadata.finalizers).toEqual([wellKnown.CLUSTER_FINALIZER]);
    expect((await spaceOf(fleet))?.metadata.labels).toMatchObject({ [wellKnown.SYSTEM]: "true" });
    expect(await eventsOf(fleet)).toEqual(["CreateExecutionSpaceSucceed"]);
    await fleet.close();
  });

  it("is written no more once it has all, also after a restart", async () => {
    const fleet = await fleetOf(["m1"]);
    await fleet.advance("10m");
    const before = [await clusterOf(fleet), await spaceOf(fleet)];
    await fleet.restart();
    await fleet.advance("10m");
    expect([await clusterOf(fleet), await spaceOf(fleet)]).toEqual(before);
    expect((await clusterOf(fleet))?.spec.taints).toBeUndefined();
    await fleet.close();
  });

  it("takes over a namespace of that name and marks it", async () => {
    const fleet = await fleetOf([]);
    await fleet.plane.create(resources.namespaces, newNamespace(SPACE.name));
    await fleet.addMember("m1");
    await fleet.join("m1");
    await fleet.advance("1s");
    expect((await spaceOf(fleet))?.metadata.labels).toMatchObject({ [wellKnown.SYSTEM]: "true" });
    await fleet.close();
  });

  it("has its namespace marked again when another writer removes the label", async () => {
    const fleet = await fleetOf(["m1"]);
    const uid = (await spaceOf(fleet))?.metadata.uid;
    const body = { metadata: { labels: { [wellKnown.SYSTEM]: null } } };
    await fleet.plane.patch(resources.namespaces, SPACE, { type: "merge", body });
    await fleet.advance("1s");
    const again = (await spaceOf(fleet))?.metadata;
    expect(again?.labels).toMatchObject({ [wellKnown.SYSTEM]: "true" });
    expect(again?.uid).toBe(uid);
    await fleet.close();
  });

  it("reports that the server refuses its namespace, and gets it once the server does not", async () => {
    const server = { refuses: true };
    const fleet = await createFleet({
      members: ["m1"],
      memberModel: false,
      services: (context) => {
        const create: Client["create"] = (resource, object, options) =>
          server.refuses && resource.plural === "namespaces"
            ? Promise.reject(new Refused(failure(403, "Forbidden", "no more namespaces")))
            : context.plane.create(resource, object, options);
        return createClusterController({
          ...context,
          plane: wrapped(context.plane, { create }),
        });
      },
    });
    await fleet.advance("10s");
    expect(await spaceOf(fleet)).toBeUndefined();
    expect(await eventsOf(fleet)).toContain("CreateExecutionSpaceFailed");
    server.refuses = false;
    await fleet.advance("10m");
    expect(await spaceOf(fleet)).toBeDefined();
    await fleet.close();
  });

  it("gets no namespace when it is gone before it has its finalizer", async () => {
    const fleet = await createFleet({
      members: ["m1"],
      memberModel: false,
      services: (context) => {
        const patch: Client["patch"] = async (resource, key, change, options) => {
          if (resource.plural === clusters.plural) await context.plane.delete(clusters, key);
          return context.plane.patch(resource, key, change, options);
        };
        return createClusterController({ ...context, plane: wrapped(context.plane, { patch }) });
      },
    });
    await fleet.advance("10m");
    expect(await clusterOf(fleet)).toBeUndefined();
    expect(await spaceOf(fleet)).toBeUndefined();
    await fleet.close();
  });

  it("gets its namespace back when it is deleted", async () => {
    const fleet = await fleetOf(["m1"]);
    const uid = (await spaceOf(fleet))?.metadata.uid;
    await fleet.plane.delete(resources.namespaces, SPACE);
    await fleet.advance("10s");
    const again = (await spaceOf(fleet))?.metadata.uid;
    expect(again).toBeDefined();
    expect(again).not.toBe(uid);
    await fleet.close();
  });
});

describe("a Cluster that leaves", () => {
  it("goes at once when nothing is on it, with its namespace", async () => {
    const fleet = await fleetOf(["m1"]);
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10s");
    expect(await clusterOf(fleet)).toBeUndefined();
    expect(await spaceOf(fleet)).toBeUndefined();
    expect(await eventsOf(fleet)).toContain("RemoveExecutionSpaceSucceed");
    await fleet.close();
  });

  it.each<[string, Partial<ResourceBinding["spec"]>]>([
    ["its result", { clusters: [{ name: "m1" }] }],
    ["an eviction", { gracefulEvictionTasks: [{ fromCluster: "m1", producer: "t", reason: "t" }] }],
    [
      "the result of a workload that needs it",
      { requiredBy: [{ name: "other", namespace: "default", clusters: [{ name: "m1" }] }] },
    ],
  ])("waits while a binding has it in %s", async (_name, spec) => {
    const fleet = await fleetOf(["m1"]);
    await fleet.plane.create(resourceBindings, binding("web", spec));
    await fleet.plane.create(works, work("web"));
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10m");
    const waiting = await clusterOf(fleet);
    expect(findCondition(waiting?.status?.conditions, "Leaving")).toMatchObject({
      status: "True",
      reason: "WaitingForBindings",
    });
    expect((await spaceOf(fleet))?.metadata.deletionTimestamp).toBeUndefined();
    expect(waiting?.spec.taints).toBeUndefined();
    // At rest nothing more is written.
    await fleet.advance("10m");
    expect(await clusterOf(fleet)).toEqual(waiting);
    // The binding lets go: the namespace ends, and the Work's finalizer holds the rest.
    await fleet.plane.delete(resourceBindings, { namespace: "default", name: "web" });
    await fleet.advance("10s");
    expect((await spaceOf(fleet))?.metadata.deletionTimestamp).toBeDefined();
    expect(await clusterOf(fleet)).toBeDefined();
    const body = { metadata: { finalizers: [] } };
    const key = { namespace: SPACE.name, name: "web" };
    await fleet.plane.patch(works, key, { type: "merge", body });
    await fleet.advance("30s");
    expect(await clusterOf(fleet)).toBeUndefined();
    expect(await spaceOf(fleet)).toBeUndefined();
    await fleet.close();
  });

  it("that pulls keeps its namespace, with its agent's rights, until its Works are gone", async () => {
    const fleet = await fleetOf(["m1"]);
    await fleet.plane.patch(clusters, M1, { type: "merge", body: { spec: { syncMode: "Pull" } } });
    await fleet.plane.create(works, work("web"));
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10m");
    const key = { namespace: SPACE.name, name: "web" };
    expect((await fleet.plane.get(works, key)).metadata.deletionTimestamp).toBeDefined();
    expect((await spaceOf(fleet))?.metadata.deletionTimestamp).toBeUndefined();
    await fleet.plane.patch(works, key, { type: "merge", body: { metadata: { finalizers: [] } } });
    await fleet.advance("30s");
    expect(await clusterOf(fleet)).toBeUndefined();
    expect(await spaceOf(fleet)).toBeUndefined();
    await fleet.close();
  });

  it("keeps its namespace for a binding that the cache has not seen yet", async () => {
    const stop = new AbortController();
    const fleet = await createFleet({
      members: ["m1"],
      memberModel: false,
      services: (context) => {
        const stale = new Informer(context, context.plane, resourceBindings, {
          indexes: { cluster: bindingClusters },
        });
        const following = { name: "stale", run: () => stale.run(stop.signal) };
        const informers = { ...context.informers, resourceBindings: stale };
        return [following, ...createClusterController({ ...context, informers })];
      },
    });
    await fleet.advance("1s");
    stop.abort();
    await fleet.settle();
    await fleet.plane.create(resourceBindings, binding("web", { clusters: [{ name: "m1" }] }));
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10s");
    expect(await clusterOf(fleet)).toBeDefined();
    expect((await spaceOf(fleet))?.metadata.deletionTimestamp).toBeUndefined();
    await fleet.close();
  });

  it("does not get its namespace back from a controller that has not heard that it leaves", async () => {
    const stop = new AbortController();
    const fleet = await createFleet({
      members: ["m1"],
      memberModel: false,
      services: (context) => {
        const stale = new Informer(context, context.plane, clusters);
        const following = { name: "stale", run: () => stale.run(stop.signal) };
        const informers = { ...context.informers, clusters: stale };
        return [following, ...createClusterController({ ...context, informers })];
      },
    });
    await fleet.advance("1s");
    stop.abort();
    await fleet.settle();
    await fleet.plane.delete(clusters, M1);
    await fleet.plane.delete(resources.namespaces, SPACE);
    await fleet.advance("10s");
    expect(await clusterOf(fleet)).toBeDefined();
    expect(await spaceOf(fleet)).toBeUndefined();
    await fleet.close();
  });

  it("does not dispute without a pause about why it waits", async () => {
    const fleet = await fleetOf(["m1"]);
    await fleet.plane.create(resourceBindings, binding("web", { clusters: [{ name: "m1" }] }));
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10s");
    const reason = async (): Promise<string | undefined> =>
      findCondition((await clusterOf(fleet))?.status?.conditions, "Leaving")?.reason;
    const contradict = async (): Promise<void> => {
      const cluster = await fleet.plane.get(clusters, M1);
      const other = { type: "Leaving", status: "True", reason: "Other", message: "" } as const;
      const conditions = setCondition(cluster.status?.conditions, other, fleet.clock.now());
      const update = { ...cluster, status: { ...cluster.status, conditions } };
      await fleet.plane.update(clusters, update, { subresource: "status" });
      await fleet.settle();
    };
    await contradict();
    expect(await reason()).toBe("WaitingForBindings");
    await contradict();
    expect(await reason()).toBe("Other");
    await fleet.advance("1s");
    expect(await reason()).toBe("WaitingForBindings");
    await fleet.close();
  });

  it("does not leave behind a namespace that lost its label meanwhile", async () => {
    const fleet = await fleetOf(["m1"]);
    await fleet.plane.create(resourceBindings, binding("web", { clusters: [{ name: "m1" }] }));
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("1s");
    const body = { metadata: { labels: { [wellKnown.SYSTEM]: null } } };
    await fleet.plane.patch(resources.namespaces, SPACE, { type: "merge", body });
    await fleet.advance("1s");
    await fleet.plane.delete(resourceBindings, { namespace: "default", name: "web" });
    await fleet.advance("30s");
    expect(await clusterOf(fleet)).toBeUndefined();
    expect(await spaceOf(fleet)).toBeUndefined();
    await fleet.close();
  });

  it("does not get its namespace back from a process that has not heard that it leaves", async () => {
    const fleet = await createFleet({
      members: ["m1"],
      memberModel: false,
      services: (context) => {
        const { clusters: heard } = context.informers;
        // The other one knows the Cluster as it was before it was deleted.
        let joined: Cluster | undefined;
        const get = (): Cluster | undefined => {
          const found = heard.get(M1);
          if (found !== undefined && found.metadata.deletionTimestamp === undefined) joined = found;
          return joined;
        };
        const informers = { ...context.informers, clusters: withGet(heard, get) };
        return [
          ...createClusterController(context),
          ...createClusterController({ ...context, informers }),
        ];
      },
    });
    await fleet.advance("1s");
    expect(await spaceOf(fleet)).toBeDefined();
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("1m");
    expect(await clusterOf(fleet)).toBeUndefined();
    expect(await spaceOf(fleet)).toBeUndefined();
    await fleet.close();
  });

  it("takes away a namespace that was made when it was gone already, and none with a Work", async () => {
    const fleet = await fleetOf(["m1"]);
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10s");
    const space = newNamespace(SPACE.name);
    const metadata = { ...space.metadata, labels: { [wellKnown.SYSTEM]: "true" } };
    await fleet.plane.create(resources.namespaces, { ...space, metadata });
    await fleet.advance("10s");
    expect(await spaceOf(fleet)).toBeUndefined();
    await fleet.plane.create(resources.namespaces, space);
    await fleet.plane.create(works, work("web"));
    const body = { metadata: { labels: { [wellKnown.SYSTEM]: "true" } } };
    await fleet.plane.patch(resources.namespaces, SPACE, { type: "merge", body });
    await fleet.advance("10s");
    expect((await spaceOf(fleet))?.metadata.deletionTimestamp).toBeUndefined();
    await fleet.close();
  });

  it("goes on where it was after a restart in the middle", async () => {
    const fleet = await fleetOf(["m1"]);
    await fleet.plane.create(works, work("web"));
    await fleet.plane.create(resourceBindings, binding("web", { clusters: [{ name: "m1" }] }));
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("1s");
    await fleet.restart();
    await fleet.advance("10s");
    expect((await spaceOf(fleet))?.metadata.deletionTimestamp).toBeUndefined();
    await fleet.plane.delete(resourceBindings, { namespace: "default", name: "web" });
    await fleet.advance("1s");
    await fleet.restart();
    await fleet.advance("10s");
    expect(await clusterOf(fleet)).toBeDefined();
    const body = { metadata: { finalizers: [] } };
    await fleet.plane.patch(works, { namespace: SPACE.name, name: "web" }, { type: "merge", body });
    await fleet.restart();
    await fleet.advance("30s");
    expect(await clusterOf(fleet)).toBeUndefined();
    await fleet.close();
  });

  it("counts down in its condition without a write for each binding", async () => {
    const fleet = await fleetOf(["m1"]);
    const names = Array.from({ length: 40 }, (_, i) => `b${i}`);
    for (const name of names)
      await fleet.plane.create(resourceBindings, binding(name, { clusters: [{ name: "m1" }] }));
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10s");
    const versions = new Set<string>();
    for (const name of names.slice(1)) {
      await fleet.plane.delete(resourceBindings, { namespace: "default", name });
      await fleet.advance(100);
      versions.add((await clusterOf(fleet))?.metadata.resourceVersion ?? "");
    }
    expect(versions.size).toBeLessThanOrEqual(3);
    await fleet.advance("10s");
    const { conditions } = (await clusterOf(fleet))?.status ?? {};
    expect(findCondition(conditions, "Leaving")?.message).toContain("1 binding still needs");
    await fleet.close();
  });
});

describe("a Cluster that is forced out", () => {
  it("gives up its Works when the member is out of reach, and reports it", async () => {
    const fleet = await fleetOf(["m1"]);
    await setReady(fleet, "False");
    for (let i = 0; i < 40; i += 1) await fleet.plane.create(works, work(`w${i}`));
    await fleet.plane.create(resourceBindings, binding("web", { clusters: [{ name: "m1" }] }));
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10s");
    expect((await fleet.plane.list(works)).items).toHaveLength(40);
    await force(fleet);
    await fleet.advance("30s");
    expect(await clusterOf(fleet)).toBeUndefined();
    expect(await spaceOf(fleet)).toBeUndefined();
    expect((await fleet.plane.list(works)).items).toEqual([]);
    expect(await eventsOf(fleet)).toContain("CopiesLeftBehind");
    await fleet.close();
  });

  it("still takes its copies away while the member answers, and gives up when it stops to", async () => {
    const fleet = await fleetOf(["m1"]);
    await setReady(fleet, "True");
    await fleet.plane.create(works, work("web"));
    await force(fleet);
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("10m");
    expect((await fleet.plane.list(works)).items).toHaveLength(1);
    await setReady(fleet, "False");
    await fleet.advance("10s");
    expect(await clusterOf(fleet)).toBeUndefined();
    await fleet.close();
  });

  it("counts a member whose Secret is gone as out of reach", async () => {
    const fleet = await fleetOf(["m1"]);
    await setReady(fleet, "True");
    await fleet.plane.create(works, work("web"));
    await force(fleet);
    await fleet.plane.delete(clusters, M1);
    await fleet.advance("1m");
    expect(await clusterOf(fleet)).toBeDefined();
    await fleet.plane.delete(resources.secrets, { namespace: "karmada-cluster", name: "m1" });
    await fleet.advance("10s");
    expect(await clusterOf(fleet)).toBeUndefined();
    await fleet.close();
  });
});
