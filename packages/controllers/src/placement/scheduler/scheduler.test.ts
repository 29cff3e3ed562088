import {
  type Cluster,
  clusterResourceBindings,
  clusters,
  failure,
  findCondition,
  type New,
  type Placement,
  Refused,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Client, OutcomeUnknown } from "@lifeboat/kit";
import { createFleet, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createScheduler, type SchedulerOptions } from "./create-scheduler.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const duplicated: Placement = { replicaScheduling: { replicaSchedulingType: "Duplicated" } };
const dynamic: Placement = {
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    weightPreference: { dynamicWeight: "AvailableReplicas" },
  },
};
const even: Placement = {
  replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
};
const key = (name = "web") => ({ namespace: "default", name });

async function start(options: SchedulerOptions = {}): Promise<void> {
  fleet = await createFleet({ services: (context) => [createScheduler(context, options)] });
}

/** A cluster that serves Deployments and has room for this many pods. */
async function join(
  name: string,
  {
    labels = {},
    pods = 100,
    spec = {},
  }: { labels?: Record<string, string>; pods?: number; spec?: Partial<Cluster["spec"]> } = {},
): Promise<void> {
  const created = await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name, labels },
    spec: { syncMode: "Push", ...spec },
  });
  await fleet.plane.update(
    clusters,
    { ...created, status: statusWith(pods) },
    { subresource: "status" },
  );
  await fleet.settle();
}

const READY = {
  type: "Ready",
  status: "True" as const,
  reason: "ClusterReady",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};

const statusWith = (pods: number): NonNullable<Cluster["status"]> => ({
  apiEnablements: [
    { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
    {
      groupVersion: "rbac.authorization.k8s.io/v1",
      resources: [{ name: "clusterroles", kind: "ClusterRole" }],
    },
  ],
  resourceSummary: { allocatable: { pods: String(pods) } },
});

async function setRoom(name: string, pods: number): Promise<void> {
  const found = await fleet.plane.get(clusters, { namespace: "", name });
  await fleet.plane.update(
    clusters,
    { ...found, status: statusWith(pods) },
    { subresource: "status" },
  );
  await fleet.settle();
}

async function changeCluster(name: string, body: object): Promise<void> {
  await fleet.plane.patch(
    clusters,
    { namespace: "", name },
    { type: "merge", body: body as never },
  );
  await fleet.settle();
}

function newBinding(name: string, spec: Partial<ResourceBinding["spec"]>): New<ResourceBinding> {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, namespace: "default", labels: { [wellKnown.POLICY_ID]: "p" } },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name, uid: "u" },
      replicas: 2,
      placement: duplicated,
      conflictResolution: "Abort",
      ...spec,
    },
  };
}

async function bind(name: string, spec: Partial<ResourceBinding["spec"]>): Promise<void> {
  await fleet.plane.create(resourceBindings, newBinding(name, spec));
  await fleet.settle();
}

async function change(name: string, spec: object): Promise<void> {
  await fleet.plane.patch(resourceBindings, key(name), { type: "merge", body: { spec } as never });
  await fleet.settle();
}

const binding = (name = "web"): Promise<ResourceBinding> =>
  fleet.plane.get(resourceBindings, key(name));
async function shares(name = "web"): Promise<Record<string, number>> {
  const { spec } = await binding(name);
  return Object.fromEntries(
    (spec.clusters ?? []).map(({ name: at, replicas = 0 }) => [at, replicas]),
  );
}
/** What is remembered of an application's failures. */
const remember = (left: string | null): Promise<unknown> =>
  fleet.plane.patch(resourceBindings, key(), {
    type: "merge",
    body: { metadata: { annotations: { [wellKnown.EVICTED_FROM]: left } } },
  });

async function scheduled(name = "web") {
  return findCondition((await binding(name)).status?.conditions, "Scheduled");
}
const events = async (): Promise<readonly string[]> =>
  (await fleet.plane.list(resources.events)).items.map((event) => {
    const { reason, involvedObject } = event as unknown as {
      reason: string;
      involvedObject: { kind: string };
    };
    return `${involvedObject.kind} ${reason}`;
  });

describe("a binding", () => {
  it("gets its clusters, the placement they follow from, its condition and Events", async () => {
    await start();
    await join("m1");
    await join("m2");
    await bind("web", { placement: duplicated });
    const placed = await binding();
    expect(placed.spec.clusters).toEqual([
      { name: "m1", replicas: 2 },
      { name: "m2", replicas: 2 },
    ]);
    expect(JSON.parse(placed.metadata.annotations?.[wellKnown.APPLIED_PLACEMENT] ?? "")).toEqual(
      duplicated,
    );
    expect(placed.status).toMatchObject({
      schedulerObservedGeneration: placed.metadata.generation,
      conditions: [
        {
          type: "Scheduled",
          status: "True",
          reason: "Success",
          message: "Binding has been scheduled successfully.",
        },
      ],
    });
    await fleet.advance("1s");
    expect((await events()).toSorted()).toEqual([
      "Deployment ScheduleBindingSucceed",
      "ResourceBinding ScheduleBindingSucceed",
    ]);
  });

  it("at cluster scope is placed as well", async () => {
    await start();
    await join("m1");
    const { metadata, spec } = newBinding("reader", {});
    await fleet.plane.create(clusterResourceBindings, {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ClusterResourceBinding",
      metadata: { name: "reader", labels: metadata.labels ?? {} },
      spec: {
        conflictResolution: "Abort",
        placement: spec.placement ?? {},
        resource: {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          name: "reader",
        },
      },
    });
    await fleet.settle();
    const placed = await fleet.plane.get(clusterResourceBindings, {
      namespace: "",
      name: "reader",
    });
    expect(placed.spec.clusters).toEqual([{ name: "m1" }]);
  });

  it("is not touched again at rest, nor by changes that do not concern it", async () => {
    await start();
    await join("m1");
    await bind("web", { placement: even });
    await bind("dup", { placement: duplicated });
    const before = [await binding(), await binding("dup")];
    await fleet.advance("10m");
    await setRoom("m1", 50);
    await changeCluster("m1", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } });
    await fleet.restart();
    await fleet.advance("10m");
    expect([await binding(), await binding("dup")]).toEqual(before);
  });

  it("of another scheduler, suspended, or without a policy is left alone", async () => {
    await start();
    await join("m1");
    await bind("other", { schedulerName: "other" });
    await bind("paused", { suspension: { scheduling: true } });
    const { metadata, ...rest } = newBinding("loose", {});
    await fleet.plane.create(resourceBindings, {
      ...rest,
      metadata: { name: "loose", namespace: metadata.namespace ?? "" },
    });
    await fleet.settle();
    for (const name of ["other", "paused", "loose"])
      expect((await binding(name)).status).toBeUndefined();
    await change("paused", { suspension: null });
    expect(await shares("paused")).toEqual({ m1: 2 });
  });

  it("is scaled by the difference, and follows an edit of its placement", async () => {
    await start();
    for (const name of ["m1", "m2", "m3"]) await join(name);
    await bind("web", { placement: even, replicas: 3 });
    expect(await shares()).toEqual({ m1: 1, m2: 1, m3: 1 });
    await change("web", { replicas: 4 });
    expect(Object.values(await shares()).toSorted((a, b) => a - b)).toEqual([1, 1, 2]);
    await change("web", { placement: { clusterAffinity: { clusterNames: ["m2"] } } });
    expect(await shares()).toEqual({ m2: 4 });
  });

  it("is placed again on order, once, even within the second of its last placement", async () => {
    await start();
    await join("m1", { pods: 10 });
    await bind("web", { placement: dynamic, replicas: 4 });
    await join("m2", { pods: 14 });
    expect(await shares()).toEqual({ m1: 4 });
    await change("web", { rescheduleTriggeredAt: "2026-01-01T00:00:00Z" });
    expect(await shares()).toEqual({ m1: 2, m2: 2 });
    const { resourceVersion } = (await binding()).metadata;
    await fleet.restart();
    expect((await binding()).metadata.resourceVersion).toBe(resourceVersion);
  });

  it("places only what need not wait for a purge", async () => {
    await start();
    await join("m1");
    await join("m2");
    await bind("web", {
      placement: dynamic,
      replicas: 4,
      clusters: [{ name: "m1", replicas: 1 }],
      gracefulEvictionTasks: [
        {
          fromCluster: "m9",
          purgeMode: "Directly",
          replicas: 2,
          reason: "TaintUntolerated",
          producer: "x",
        },
      ],
    });
    expect(Object.values(await shares()).reduce((a, b) => a + b, 0)).toBe(2);
    expect(await scheduled()).toMatchObject({ status: "False", reason: "Unschedulable" });
    await change("web", { gracefulEvictionTasks: null });
    expect(Object.values(await shares()).reduce((a, b) => a + b, 0)).toBe(4);
    expect(await scheduled()).toMatchObject({ status: "True" });
  });
});

describe("changes of clusters", () => {
  it("bring copies to a cluster that joins, and take them from one whose label went", async () => {
    await start();
    await join("m1", { labels: { tier: "gold" } });
    const placement = {
      ...duplicated,
      clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } },
    };
    await bind("web", { placement });
    await join("m2", { labels: { tier: "gold" } });
    expect(await shares()).toEqual({ m1: 2, m2: 2 });
    await changeCluster("m1", { metadata: { labels: { tier: null } } });
    expect(await shares()).toEqual({ m2: 2 });
    // A person excluded the last one, too (D8).
    await changeCluster("m2", { metadata: { labels: { tier: null } } });
    expect(await shares()).toEqual({});
    expect(await scheduled()).toMatchObject({ status: "False", reason: "NoClusterFit" });
  });

  it("take a cluster that goes out of the reach of a federated StatefulSet without a share there (D15)", async () => {
    await start();
    for (const name of ["m1", "m2"]) {
      await join(name);
      const cluster = await fleet.plane.get(clusters, { namespace: "", name });
      const status = { ...statusWith(100), conditions: [READY] };
      await fleet.plane.update(clusters, { ...cluster, status }, { subresource: "status" });
    }
    const set = newBinding("store", { replicas: 1 });
    const annotations = { [wellKnown.FEDERATED_SHARES]: "{}" };
    await fleet.plane.create(resourceBindings, {
      ...set,
      metadata: { ...set.metadata, annotations },
    });
    await fleet.settle();
    const reach = async (): Promise<unknown> => {
      const { metadata } = await binding("store");
      const record = metadata.annotations?.[wellKnown.FEDERATED_RECORD] ?? "{}";
      return (JSON.parse(record) as { clusters?: unknown }).clusters;
    };
    expect([await shares("store"), await reach()]).toEqual([{ m1: 1 }, ["m1", "m2"]]);
    await fleet.plane.delete(clusters, { namespace: "", name: "m2" });
    await fleet.settle();
    expect([await shares("store"), await reach()]).toEqual([{ m1: 1 }, ["m1"]]);
  });

  it("move divided replicas from a cluster that is deleted", async () => {
    await start();
    await join("m1");
    await bind("web", { placement: even, replicas: 4 });
    await join("m2");
    expect(await shares()).toEqual({ m1: 4 });
    await fleet.plane.delete(clusters, { namespace: "", name: "m1" });
    await fleet.settle();
    expect(await shares()).toEqual({ m2: 4 });
  });

  it.each([
    ["is to go", ["test.dev/stays"]],
    ["is gone", []],
  ])(
    "move replicas also when the cluster %s before their result is seen",
    async (_what, finalizers) => {
      let hasLeft = false;
      const slow = (plane: Client): Client => ({
        ...plane,
        update: async (...given) => {
          if (given[2]?.subresource !== "status" && !hasLeft) {
            hasLeft = true;
            await plane.delete(clusters, { namespace: "", name: "m1" });
          }
          return plane.update(...given);
        },
      });
      fleet = await createFleet({
        services: (context) => [createScheduler({ ...context, plane: slow(context.plane) })],
      });
      await join("m1");
      await changeCluster("m1", { metadata: { finalizers } });
      await bind("web", { placement: even, replicas: 4 });
      await join("m2");
      await fleet.advance("5s");
      expect(await shares()).toEqual({ m2: 4 });
    },
  );

  it.each([
    [
      "a taint went",
      { spec: { taints: [{ key: "k", effect: "NoSchedule" as const }] } },
      { spec: { taints: null } },
    ],
    ["a label came", {}, { metadata: { labels: { tier: "gold" } } }],
  ])("let a binding in that waited, once %s", async (_what, given, changed) => {
    await start();
    await join("m1", given);
    const affinity = _what.startsWith("a label")
      ? { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } }
      : {};
    await bind("web", { placement: { ...duplicated, ...affinity } });
    expect(await scheduled()).toMatchObject({ status: "False", reason: "NoClusterFit" });
    expect((await scheduled())?.message).toContain("0/1 clusters are available: 1 cluster(s)");
    expect((await binding()).status?.schedulerObservedGeneration).toBeUndefined();
    await changeCluster("m1", changed);
    expect(await scheduled()).toMatchObject({ status: "True" });
    expect(await shares()).toEqual({ m1: 2 });
  });

  it("let a binding in that waited for an API or for room", async () => {
    await start();
    await join("m1", { pods: 1 });
    await bind("web", { placement: dynamic, replicas: 5 });
    await bind("flink", {
      resource: { apiVersion: "flink.io/v1", kind: "Flink", name: "f", namespace: "default" },
    });
    expect(await scheduled()).toMatchObject({
      reason: "Unschedulable",
      message: "Clusters available replicas 1 are not enough to schedule.",
    });
    expect((await scheduled("flink"))?.message).toContain("did not have the API resource");
    await setRoom("m1", 9);
    expect(await shares()).toEqual({ m1: 5 });
    const found = await fleet.plane.get(clusters, { namespace: "", name: "m1" });
    const apiEnablements = [
      { groupVersion: "flink.io/v1", resources: [{ name: "flinks", kind: "Flink" }] },
    ];
    await fleet.plane.update(
      clusters,
      { ...found, status: { ...found.status, apiEnablements } },
      { subresource: "status" },
    );
    await fleet.settle();
    expect(await shares("flink")).toEqual({ m1: 2 });
  });
});

it("places what waited for its failures to be forgotten", async () => {
  fleet = await createFleet({ services: (context) => [createScheduler(context)] });
  await bind("web", {});
  await remember('["m1"]');
  await join("m1");
  await fleet.advance("10s");
  expect(await scheduled()).toMatchObject({ status: "False", reason: "NoClusterFit" });
  await remember(null);
  await fleet.settle();
  expect(await shares()).toEqual({ m1: 2 });
});

describe("a burst", () => {
  it("does not pile onto one cluster, whatever is seen of it meanwhile, and a restart remembers", async () => {
    await start();
    await join("m1", { pods: 12 });
    await join("m2", { pods: 8 });
    const aggregated: Placement = {
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Aggregated",
      },
    };
    await Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        fleet.plane.create(
          resourceBindings,
          newBinding(`w${i}`, { placement: aggregated, replicas: 4 }),
        ),
      ),
    );
    await fleet.settle();
    await fleet.restart();
    await bind("w4", { placement: aggregated, replicas: 4 });
    await bind("w5", { placement: aggregated, replicas: 4 });
    const total: Record<string, number> = {};
    for (let i = 0; i < 6; i++)
      for (const [name, count] of Object.entries(await shares(`w${i}`)))
        total[name] = (total[name] ?? 0) + count;
    expect(total).toEqual({ m1: 12, m2: 8 });
    expect(await scheduled("w5")).toMatchObject({
      reason: "Unschedulable",
      message: "Clusters available replicas 0 are not enough to schedule.",
    });
  });

  it("asks an estimator where there is one", async () => {
    await start({ estimator: { estimate: () => Promise.resolve(new Map([["m1", 1]])) } });
    await join("m1");
    await join("m2");
    await bind("web", { placement: dynamic, replicas: 101 });
    expect(await shares()).toEqual({ m1: 1, m2: 100 });
  });
});

describe("a server that fails", () => {
  it.each([
    ["refuses", (): Error => new Refused(failure(500, "InternalError", "broken")), false],
    ["takes a write and loses its answer", (): Error => new OutcomeUnknown("lost"), true],
  ])(
    "%s: the binding is placed in the end, and Events report it once",
    async (_what, error, isTaken) => {
      let calls = 0;
      const flaky = (plane: Client): Client => ({
        ...plane,
        get: (...given) => plane.get(...given),
        update: async (...given) => {
          calls += 1;
          // Both the first result and the first status fail.
          if (calls > 3 || calls === 2) return plane.update(...given);
          if (isTaken) await plane.update(...given);
          throw error();
        },
      });
      fleet = await createFleet({
        services: (context) => [createScheduler({ ...context, plane: flaky(context.plane) })],
      });
      await join("m1");
      await bind("web", { placement: even });
      await fleet.advance("5s");
      expect(await shares()).toEqual({ m1: 2 });
      const { metadata, status } = await binding();
      expect(status?.schedulerObservedGeneration).toBe(metadata.generation);
      expect(calls).toBeGreaterThan(1);
      const told = (await events()).filter((event) => event.endsWith("ScheduleBindingSucceed"));
      expect(told).toHaveLength(2);
      const before = calls;
      await fleet.advance("10m");
      expect(calls).toBe(before);
    },
  );
});

describe("a write that comes between", () => {
  it("is not lost: an eviction while the scheduler decides stands", async () => {
    await start();
    await join("m1");
    await join("m2");
    await bind("web", { placement: even, replicas: 4 });
    // Both are written before the scheduler looks: it must decide on the last.
    await Promise.all([
      fleet.plane.patch(resourceBindings, key(), {
        type: "merge",
        body: { spec: { replicas: 6 } },
      }),
      fleet.plane.patch(resourceBindings, key(), {
        type: "merge",
        body: {
          spec: {
            clusters: [{ name: "m2", replicas: 2 }],
            gracefulEvictionTasks: [
              {
                fromCluster: "m1",
                purgeMode: "Gracefully",
                replicas: 2,
                reason: "TaintUntolerated",
                producer: "TaintManager",
              },
            ],
          },
        },
      }),
      changeCluster("m1", { spec: { taints: [{ key: "k", effect: "NoExecute" }] } }),
    ]);
    await fleet.settle();
    expect(await shares()).toEqual({ m2: 6 });
    expect((await binding()).spec.gracefulEvictionTasks).toHaveLength(1);
    expect(await scheduled()).toMatchObject({ status: "True" });
  });

  it("is not gone over again when it is another scheduler's about the same change", async () => {
    let isOvertaken = false;
    // The other one was faster, and what kept the workload from m1 is forgotten since.
    const slow = (plane: Client): Client => ({
      ...plane,
      update: async (...given) => {
        if (given[2]?.subresource !== "status" || !isOvertaken) return plane.update(...given);
        isOvertaken = false;
        await plane.update(...given);
        await remember(null);
        throw new Refused(failure(409, "Conflict", "another writer was faster"));
      },
    });
    fleet = await createFleet({
      services: (context) => [createScheduler({ ...context, plane: slow(context.plane) })],
    });
    await join("m1");
    await join("m2");
    await bind("web", {});
    await remember('["m1"]');
    isOvertaken = true;
    await change("web", { clusters: [{ name: "m2", replicas: 2 }] });
    await fleet.advance("10s");
    expect(isOvertaken).toBe(false);
    expect(await shares()).toEqual({ m2: 2 });
  });
});
