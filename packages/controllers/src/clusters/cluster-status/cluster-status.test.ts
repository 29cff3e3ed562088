/** Clusters' status in a fleet: health by thresholds, faults of the way to a member, room, API, and no needless writes. */
import {
  type Cluster,
  clusters,
  type Condition,
  type ConditionStatus,
  equalJson,
  failure,
  findCondition,
  Refused,
} from "@lifeboat/api";
import { ExcessiveResponse, type Metrics, NotSent, silentMetrics } from "@lifeboat/kit";
import { createPromMetrics } from "@lifeboat/kit/adapters";
import { createFleet, type Fleet, newObject, resources, widgetCrd } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createClusterStatus } from "./create-cluster-status.ts";

const OPTIONS = {
  updateFrequencyMs: 10_000,
  failureThresholdMs: 30_000,
  successThresholdMs: 30_000,
};
const FINALIZER = "karmada.io/cluster-controller";
const open: Fleet[] = [];

afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});

/** A fleet whose clusters bear the finalizer, so that they are probed from now on. */
async function probedFleet(...members: readonly string[]): Promise<Fleet> {
  return measuredFleet(silentMetrics, ...members);
}

async function measuredFleet(metrics: Metrics, ...members: readonly string[]): Promise<Fleet> {
  const fleet = await createFleet({
    members,
    services: (context) => createClusterStatus({ ...context, metrics }, OPTIONS),
  });
  open.push(fleet);
  for (const name of members) await addFinalizer(fleet, name);
  await fleet.advance("1s");
  return fleet;
}

async function addFinalizer(fleet: Fleet, name: string): Promise<void> {
  const body = { metadata: { finalizers: [FINALIZER] } };
  await fleet.plane.patch(clusters, { namespace: "", name }, { type: "merge", body });
  await fleet.settle();
}

function clusterOf(fleet: Fleet, name: string): Promise<Cluster> {
  return fleet.plane.get(clusters, { namespace: "", name });
}

async function conditionOf(
  fleet: Fleet,
  name: string,
  type = "Ready",
): Promise<Condition | undefined> {
  return findCondition((await clusterOf(fleet, name)).status?.conditions, type);
}

async function readyOf(fleet: Fleet, name: string): Promise<ConditionStatus | undefined> {
  return (await conditionOf(fleet, name))?.status;
}

/** After how many whole seconds Ready turns into this; it must within two minutes. */
async function secondsUntil(fleet: Fleet, name: string, status: ConditionStatus): Promise<number> {
  for (let second = 0; second <= 120; second++) {
    if ((await readyOf(fleet, name)) === status) return second;
    await fleet.advance("1s");
  }
  throw new Error(`Ready of ${name} did not turn ${status}`);
}

async function setToken(fleet: Fleet, name: string, token: string): Promise<void> {
  const body = { data: { token: btoa(token) } };
  const key = { namespace: "karmada-cluster", name };
  await fleet.plane.patch(resources.secrets, key, { type: "merge", body });
  await fleet.settle();
}

it("shows the last answer of a member and its failed probes, also those that change no condition", async () => {
  const metrics = createPromMetrics();
  const fleet = await measuredFleet(metrics, "m1");
  const shown = async (name: string): Promise<number | undefined> => {
    const series = `${name}{member_cluster="m1"}`;
    const line = (await metrics.expose()).split("\n").find((one) => one.startsWith(series));
    return line === undefined ? undefined : Number(line.split(" ")[1]);
  };
  const lastSuccess = "lifeboat_cluster_last_success_timestamp_seconds";
  const failures = "lifeboat_cluster_probe_failures_total";
  const before = await shown(lastSuccess);
  expect(before).toBeCloseTo(fleet.clock.now() / 1000, -1);
  expect(await shown(failures)).toBeUndefined();
  fleet.member("m1").link.setFault({ kind: "down" });
  await fleet.advance("20s");
  expect(await shown(lastSuccess)).toBe(before);
  expect(await shown(failures)).toBe(2);
  expect(await readyOf(fleet, "m1")).toBe("True");
  fleet.member("m1").link.setFault(undefined);
  await fleet.advance("10s");
  expect(await shown(lastSuccess)).toBeGreaterThan(before ?? 0);
  expect(await shown(failures)).toBe(2);
  await fleet.plane.delete(clusters, { namespace: "", name: "m1" });
  const body = { metadata: { finalizers: null } };
  await fleet.plane.patch(clusters, { namespace: "", name: "m1" }, { type: "merge", body });
  await fleet.advance("1s");
  expect(await shown(lastSuccess)).toBeUndefined();
});

describe("a member that exceeds its limits", () => {
  it("has a condition about it, stays ready, and is written about once", async () => {
    const fleet = await probedFleet("m1", "m2");
    const before = await conditionOf(fleet, "m1");
    const connection = fleet.context.connections.of("m1");
    if (connection.kind !== "connected") throw new Error("not connected");
    const { tell } = connection.limits;
    tell(new ExcessiveResponse("TooManyItems", "a list has more than 5000 items in one page"));
    await fleet.settle();
    expect(await conditionOf(fleet, "m1", "ResponsesWithinLimits")).toMatchObject({
      status: "False",
      reason: "TooManyItems",
      message: expect.stringContaining("more than 5000 items") as string,
    });
    expect(await conditionOf(fleet, "m1")).toEqual(before);
    expect(await conditionOf(fleet, "m2", "ResponsesWithinLimits")).toBeUndefined();
    const written = (await clusterOf(fleet, "m1")).metadata.resourceVersion;
    for (let i = 0; i < 20; i++) {
      tell(new ExcessiveResponse(i % 2 === 0 ? "ResponseTooDeep" : "TooManyItems", `no. ${i}`));
      await fleet.advance("20s");
    }
    expect((await clusterOf(fleet, "m1")).metadata.resourceVersion).toBe(written);
    await fleet.advance("9m");
    expect((await conditionOf(fleet, "m1", "ResponsesWithinLimits"))?.status).toBe("False");
    await fleet.advance("2m");
    expect(await conditionOf(fleet, "m1", "ResponsesWithinLimits")).toMatchObject({
      status: "True",
      reason: "WithinLimits",
    });
  });
});

describe("a member that is well", () => {
  it("is ready at once, with its version, its API and its room", async () => {
    const fleet = await probedFleet("m1");
    const { status } = await clusterOf(fleet, "m1");
    expect(status).toMatchObject({
      kubernetesVersion: "v1.36.4+lifeboat.0.1.0",
      nodeSummary: { totalNum: 1, readyNum: 1 },
      resourceSummary: { allocatable: { cpu: "32", memory: "128Gi", pods: "250" } },
    });
    expect(await conditionOf(fleet, "m1")).toMatchObject({
      status: "True",
      reason: "ClusterReady",
      message: "cluster is healthy and ready to accept workloads",
    });
    expect(await conditionOf(fleet, "m1", "CompleteAPIEnablements")).toMatchObject({
      status: "True",
      reason: "Complete",
    });
    expect(status?.apiEnablements).toContainEqual(
      expect.objectContaining({
        groupVersion: "apps/v1",
        resources: expect.arrayContaining([{ name: "deployments", kind: "Deployment" }]),
      }),
    );
    const grades = status?.resourceSummary?.allocatableModelings ?? [];
    expect(grades).toHaveLength(9);
    expect(grades.find(({ count }) => count > 0)).toEqual({ grade: 5, count: 1 });
  });

  it("is not written about while nothing changes", async () => {
    const fleet = await probedFleet("m1");
    await fleet.advance("15s");
    const before = await clusterOf(fleet, "m1");
    await fleet.advance("20m");
    expect((await clusterOf(fleet, "m1")).metadata.resourceVersion).toBe(
      before.metadata.resourceVersion,
    );
  });

  it("is not probed before it bears the finalizer, nor when it is a Pull cluster", async () => {
    const fleet = await createFleet({
      services: (context) => createClusterStatus(context, OPTIONS),
    });
    open.push(fleet);
    for (const name of ["m1", "m2"]) await fleet.addMember(name);
    await fleet.join("m1");
    await fleet.join("m2", { syncMode: "Pull" });
    await addFinalizer(fleet, "m2");
    await fleet.advance("1m");
    expect((await clusterOf(fleet, "m1")).status).toBeUndefined();
    expect((await clusterOf(fleet, "m2")).status).toBeUndefined();
    await addFinalizer(fleet, "m1");
    expect(await readyOf(fleet, "m1")).toBe("True");
  });

  it("shows a kind that came later at the next probe", async () => {
    const fleet = await probedFleet("m1");
    await fleet.member("m1").client.create(resources.crds, widgetCrd());
    await fleet.advance("11s");
    const { status } = await clusterOf(fleet, "m1");
    expect(status?.apiEnablements).toContainEqual({
      groupVersion: "ex.io/v1",
      resources: [{ name: "widgets", kind: "Widget" }],
    });
  });

  it("is written about once per probe while pods come and go", async () => {
    const fleet = await probedFleet("m1");
    await fleet.advance("15s");
    let writes = 0;
    const stop = fleet.context.informers.clusters.onChange((old, now) => {
      if (old !== undefined && !equalJson(old.status, now?.status)) writes += 1;
    });
    for (let i = 0; i < 30; i++) {
      const containers = [{ name: "c", image: "x", resources: { requests: { cpu: "100m" } } }];
      const pod = newObject(resources.pods, { name: `p${i}` }, { spec: { containers } });
      await fleet.member("m1").client.create(resources.pods, pod);
      await fleet.advance("1s");
      // Another writer's change causes a reconcile, and no write.
      const body = { metadata: { annotations: { note: `${i}` } } };
      await fleet.plane.patch(clusters, { namespace: "", name: "m1" }, { type: "merge", body });
    }
    await fleet.advance("15s");
    stop();
    expect(writes).toBeGreaterThanOrEqual(3);
    expect(writes).toBeLessThanOrEqual(5);
    expect((await clusterOf(fleet, "m1")).status?.resourceSummary?.allocated).toEqual({
      cpu: "3",
      pods: "30",
    });
  });

  it("keeps what others report about it", async () => {
    const fleet = await probedFleet("m1");
    const foreign = { type: "ServiceDomainNameResolutionReady", status: "False" } as const;
    const cluster = await clusterOf(fleet, "m1");
    const status = {
      ...cluster.status,
      remedyActions: ["TrafficControl"],
      conditions: [...(cluster.status?.conditions ?? []), foreign as Condition],
    };
    await fleet.plane.update(clusters, { ...cluster, status }, { subresource: "status" });
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("1m");
    const after = await clusterOf(fleet, "m1");
    expect(after.status?.remedyActions).toEqual(["TrafficControl"]);
    expect(after.status?.conditions).toContainEqual(expect.objectContaining(foreign));
    expect(await readyOf(fleet, "m1")).toBe("False");
  });
});

describe("the API of a member", () => {
  /** Lets reads of these paths fail from now on. */
  function failReads(fleet: Fleet, paths: readonly string[]): void {
    const connection = fleet.context.connections.of("m1");
    if (connection.kind !== "connected") throw new Error(connection.kind);
    const { client } = connection;
    const read = fleet.member("m1").client.read.bind(fleet.member("m1").client);
    Object.defineProperty(client, "read", {
      configurable: true,
      value: (path: string) =>
        paths.includes(path) ? Promise.reject(new NotSent("lost")) : read(path),
    });
  }

  async function joined(): Promise<Fleet> {
    const fleet = await createFleet({
      members: ["m1"],
      services: (context) => createClusterStatus(context, OPTIONS),
    });
    open.push(fleet);
    return fleet;
  }

  async function groupsOf(fleet: Fleet): Promise<readonly string[]> {
    const { status } = await clusterOf(fleet, "m1");
    return (status?.apiEnablements ?? []).map(({ groupVersion }) => groupVersion);
  }

  it("is partial while a group cannot be read, keeps what was known, and is read again", async () => {
    const fleet = await joined();
    failReads(fleet, ["/apis/batch/v1"]);
    await addFinalizer(fleet, "m1");
    expect(await conditionOf(fleet, "m1", "CompleteAPIEnablements")).toMatchObject({
      status: "False",
      reason: "Partial",
      message: "could not be read: batch/v1",
    });
    expect(await groupsOf(fleet)).toContain("apps/v1");
    expect(await groupsOf(fleet)).not.toContain("batch/v1");
    failReads(fleet, []);
    await fleet.advance("11s");
    expect(await conditionOf(fleet, "m1", "CompleteAPIEnablements")).toMatchObject({
      reason: "Complete",
    });
    failReads(fleet, ["/apis/batch/v1"]);
    await fleet.advance("6m");
    expect(await conditionOf(fleet, "m1", "CompleteAPIEnablements")).toMatchObject({
      reason: "Partial",
    });
    expect(await groupsOf(fleet)).toContain("batch/v1");
  });

  it("is empty only while nothing was ever read, and that does not make a cluster unready", async () => {
    const fleet = await joined();
    failReads(fleet, ["/apis", "/version"]);
    await addFinalizer(fleet, "m1");
    expect(await conditionOf(fleet, "m1", "CompleteAPIEnablements")).toMatchObject({
      status: "False",
      reason: "Empty",
    });
    expect(await readyOf(fleet, "m1")).toBe("True");
    failReads(fleet, []);
    await fleet.advance("11s");
    const before = await clusterOf(fleet, "m1");
    expect(before.status?.kubernetesVersion).toBe("v1.36.4+lifeboat.0.1.0");
    failReads(fleet, ["/apis", "/version"]);
    await fleet.advance("6m");
    expect((await clusterOf(fleet, "m1")).status).toEqual(before.status);
    // A process that knows nothing takes nothing away either.
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.restart();
    failReads(fleet, ["/apis", "/version"]);
    fleet.member("m1").link.setFault(undefined);
    await fleet.advance("1m");
    expect((await clusterOf(fleet, "m1")).status).toEqual(before.status);
  });

  it.each([
    { known: "whole", lost: [], reason: "Complete" },
    { known: "in part", lost: ["/apis/batch/v1"], reason: "Partial" },
  ])(
    "known $known contradicts another writer once per probe, not without end",
    async ({ lost, reason }) => {
      const fleet = await joined();
      failReads(fleet, lost);
      await addFinalizer(fleet, "m1");
      const say = async (): Promise<void> => {
        const cluster = await clusterOf(fleet, "m1");
        const conditions = (cluster.status?.conditions ?? []).map((one) =>
          one.type === "CompleteAPIEnablements" ? { ...one, reason: "Otherwise" } : one,
        );
        const status = { ...cluster.status, conditions };
        await fleet.plane.update(clusters, { ...cluster, status }, { subresource: "status" });
        await fleet.settle();
      };
      const shown = async (): Promise<string | undefined> =>
        (await conditionOf(fleet, "m1", "CompleteAPIEnablements"))?.reason;
      await fleet.advance("10s");
      await say();
      expect(await shown()).toBe(reason);
      await say();
      expect(await shown()).toBe("Otherwise");
      await fleet.advance("10s");
      expect(await shown()).toBe(reason);
    },
  );
});

describe("a member that fails", () => {
  it.each([
    // The next probe is after 9 s; the fourth failing one has seen 30 s of it.
    { name: "down", fault: { kind: "down" }, reason: "ClusterNotReachable", after: 39 },
    { name: "errors", fault: { kind: "errors" }, reason: "ClusterNotReady", after: 39 },
    // A probe that hangs is given up after 10 s.
    { name: "partition", fault: { kind: "partition" }, reason: "ClusterNotReachable", after: 49 },
    {
      name: "slow",
      fault: { kind: "slow", delayMs: 11_000 },
      reason: "ClusterNotReachable",
      after: 49,
    },
  ] as const)("by $name is not ready after $after s", async ({ fault, reason, after }) => {
    const fleet = await probedFleet("m1");
    fleet.member("m1").link.setFault(fault);
    expect(await secondsUntil(fleet, "m1", "False")).toBe(after);
    expect(await conditionOf(fleet, "m1")).toMatchObject({ reason });
    const { status } = await clusterOf(fleet, "m1");
    expect(status?.nodeSummary).toEqual({ totalNum: 1, readyNum: 1 });
  });

  it("is ready again after successes of thirty seconds", async () => {
    const fleet = await probedFleet("m1");
    fleet.member("m1").link.setFault({ kind: "down" });
    await secondsUntil(fleet, "m1", "False");
    fleet.member("m1").link.setFault(undefined);
    expect(await secondsUntil(fleet, "m1", "True")).toBe(40);
  });

  it("stays ready when it is only slow", async () => {
    const fleet = await probedFleet("m1");
    fleet.member("m1").link.setFault({ kind: "slow", delayMs: 4000 });
    await fleet.advance("3m");
    expect(await readyOf(fleet, "m1")).toBe("True");
  });

  it("stays ready through failures that are shorter than the threshold, however many", async () => {
    const fleet = await probedFleet("m1");
    const before = await conditionOf(fleet, "m1");
    for (let i = 0; i < 5; i++) {
      fleet.member("m1").link.setFault({ kind: "down" });
      await fleet.advance("30s");
      fleet.member("m1").link.setFault(undefined);
      await fleet.advance("10s");
    }
    expect(await conditionOf(fleet, "m1")).toEqual(before);
  });

  it("does not turn because the control plane restarts in the middle of a blip", async () => {
    const fleet = await probedFleet("m1");
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("25s");
    await fleet.restart();
    await fleet.advance("20s");
    expect(await readyOf(fleet, "m1")).toBe("True");
    // Thirty seconds of its own observation are needed, and then it does turn.
    await fleet.advance("11s");
    expect(await readyOf(fleet, "m1")).toBe("False");
    await fleet.restart();
    fleet.member("m1").link.setFault(undefined);
    await fleet.advance("25s");
    expect(await readyOf(fleet, "m1")).toBe("False");
    await fleet.advance("20s");
    expect(await readyOf(fleet, "m1")).toBe("True");
  });

  it("delays no other when it hangs", async () => {
    const fleet = await probedFleet("m1", "m2", "m3");
    fleet.member("m1").link.setFault({ kind: "partition" });
    fleet.member("m2").link.setFault({ kind: "down" });
    expect(await secondsUntil(fleet, "m2", "False")).toBe(39);
    expect(await readyOf(fleet, "m1")).toBe("True");
    expect(await readyOf(fleet, "m3")).toBe("True");
    expect(await secondsUntil(fleet, "m1", "False")).toBe(10);
    expect(await readyOf(fleet, "m3")).toBe("True");
  });

  it("goes from Unknown to False at once", async () => {
    const fleet = await probedFleet("m1");
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("1s");
    const cluster = await clusterOf(fleet, "m1");
    const conditions = (cluster.status?.conditions ?? []).map((condition) =>
      condition.type === "Ready" ? { ...condition, status: "Unknown" as const } : condition,
    );
    const status = { ...cluster.status, conditions };
    await fleet.plane.update(clusters, { ...cluster, status }, { subresource: "status" });
    await fleet.advance("10s");
    expect(await readyOf(fleet, "m1")).toBe("False");
  });

  it("is not known to be anything but what the first probe reports", async () => {
    const fleet = await createFleet({
      services: (context) => createClusterStatus(context, OPTIONS),
    });
    open.push(fleet);
    await fleet.addMember("m1");
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.join("m1");
    await addFinalizer(fleet, "m1");
    expect(await conditionOf(fleet, "m1")).toMatchObject({
      status: "False",
      reason: "ClusterNotReachable",
    });
    expect((await clusterOf(fleet, "m1")).status).not.toHaveProperty("nodeSummary");
  });
});

describe("a member whose credential changes", () => {
  it("stays ready when its Secret follows, and is probed by the new one at once", async () => {
    const fleet = await probedFleet("m1");
    const before = await clusterOf(fleet, "m1");
    fleet.member("m1").setToken("second");
    await fleet.advance("25s");
    await setToken(fleet, "m1", "second");
    await fleet.advance("2m");
    expect(await conditionOf(fleet, "m1")).toEqual(
      findCondition(before.status?.conditions, "Ready"),
    );
    // Nodes and pods are watched by the new connection.
    const node = newObject(resources.pods, { name: "p" }, { spec: { containers: [] } });
    await fleet.member("m1").client.create(resources.pods, {
      ...node,
      spec: { containers: [{ name: "c", image: "x" }] },
    });
    await fleet.advance("11s");
    const { status } = await clusterOf(fleet, "m1");
    expect(status?.resourceSummary?.allocated).toEqual({ pods: "1" });
  });

  it("gets a whole threshold for each new credential", async () => {
    const fleet = await probedFleet("m1");
    fleet.member("m1").setToken("third");
    await fleet.advance("28s");
    await setToken(fleet, "m1", "second");
    await fleet.advance("25s");
    expect(await readyOf(fleet, "m1")).toBe("True");
    await fleet.advance("10s");
    expect(await conditionOf(fleet, "m1")).toMatchObject({
      status: "False",
      reason: "StatusCollectionFailed",
      message: "the member does not accept our credential (401)",
    });
  });

  it("is not hidden when it is dead and its Secret keeps changing", async () => {
    const fleet = await probedFleet("m1");
    fleet.member("m1").link.setFault({ kind: "down" });
    for (let i = 0; i < 8; i++) {
      await setToken(fleet, "m1", `token-${i}`);
      await fleet.advance("5s");
    }
    expect(await readyOf(fleet, "m1")).toBe("False");
  });

  it("is not ready when its Secret stays away, and reports why", async () => {
    const fleet = await probedFleet("m1");
    const key = { namespace: "karmada-cluster", name: "m1" };
    const secret = await fleet.plane.get(resources.secrets, key);
    await fleet.plane.delete(resources.secrets, key);
    await fleet.advance("35s");
    expect(await readyOf(fleet, "m1")).toBe("True");
    await fleet.advance("10s");
    expect(await conditionOf(fleet, "m1")).toMatchObject({
      status: "False",
      reason: "StatusCollectionFailed",
      message: "failed to create a ClusterClient: the Secret karmada-cluster/m1 does not exist",
    });
    const { metadata, ...rest } = secret;
    const { name, namespace = "" } = metadata;
    await fleet.plane.create(resources.secrets, { ...rest, metadata: { name, namespace } });
    await fleet.advance("31s");
    expect(await readyOf(fleet, "m1")).toBe("True");
  });

  it("joins ready at once when its Secret comes a moment after its Cluster", async () => {
    const fleet = await createFleet({
      services: (context) => createClusterStatus(context, OPTIONS),
    });
    open.push(fleet);
    await fleet.addMember("m1");
    await fleet.join("m1");
    const key = { namespace: "karmada-cluster", name: "m1" };
    const secret = await fleet.plane.get(resources.secrets, key);
    await fleet.plane.delete(resources.secrets, key);
    await addFinalizer(fleet, "m1");
    await fleet.advance("5s");
    expect(await readyOf(fleet, "m1")).toBeUndefined();
    const { metadata, ...rest } = secret;
    const { name, namespace = "" } = metadata;
    await fleet.plane.create(resources.secrets, { ...rest, metadata: { name, namespace } });
    await fleet.settle();
    expect(await readyOf(fleet, "m1")).toBe("True");
  });
});

describe("the control plane's own server", () => {
  it("may refuse a write, and gets it again", async () => {
    const fleet = await probedFleet("m1");
    const { plane } = fleet.context;
    const update = plane.update.bind(plane);
    let refusals = 0;
    Object.defineProperty(plane, "update", {
      value: (...given: Parameters<typeof update>) => {
        if (refusals++ < 3)
          return Promise.reject(new Refused(failure(503, "ServiceUnavailable", "later")));
        return update(...given);
      },
    });
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("45s");
    expect(refusals).toBe(4);
    expect(await readyOf(fleet, "m1")).toBe("False");
  });

  it("may forget a cluster and know another of the same name", async () => {
    const fleet = await probedFleet("m1");
    await fleet.plane.patch(
      clusters,
      { namespace: "", name: "m1" },
      { type: "merge", body: { metadata: { finalizers: null } } },
    );
    await fleet.plane.delete(clusters, { namespace: "", name: "m1" });
    await fleet.advance("30s");
    await fleet.plane.delete(resources.secrets, { namespace: "karmada-cluster", name: "m1" });
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.join("m1");
    await addFinalizer(fleet, "m1");
    expect(await readyOf(fleet, "m1")).toBe("False");
  });
});
