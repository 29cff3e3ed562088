/** Execution in a fleet: what Works ask for is in members, what members report is on Works, and nothing else is touched. */
import {
  type AnyObject,
  clusterRoles,
  clusters,
  type Condition,
  findCondition,
  isRefused,
  type New,
  type ObjectKey,
  type Resource,
  type Work,
  works,
} from "@lifeboat/api";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import type { Client, WriteOptions } from "@lifeboat/kit";
import { afterEach, describe, expect, it } from "vitest";
import { createFleet, type Fleet, type FleetOptions } from "../../../../../testkit/src/fleet.ts";
import {
  configMap,
  deployment,
  namespace,
  newObject,
  resources,
  widgetCrd,
} from "../../../../../testkit/src/objects.ts";
import { builtinInterpretation, InterpretationFailed } from "../../context/interpretation.ts";
import { createExecution } from "../../propagation/execution/create-execution.ts";
import { ES, marked, nameOf, workOf, writesDuring } from "./execution.suite.ts";

const jobs: Resource = {
  group: "batch",
  version: "v1",
  plural: "jobs",
  kind: "Job",
  namespaced: true,
};

let open: Fleet[] = [];
afterEach(async () => {
  for (const fleet of open) await fleet.close();
  open = [];
});

async function executing(options: FleetOptions = {}): Promise<Fleet> {
  const fleet = await createFleet({ members: ["m1"], services: createExecution, ...options });
  open.push(fleet);
  await fleet.plane.create(resources.namespaces, namespace(ES));
  return fleet;
}

async function read(client: Client, resource: Resource, key: Partial<ObjectKey>) {
  try {
    return await client.get(resource, { namespace: "default", name: "", ...key });
  } catch (error) {
    if (isRefused(error, "NotFound")) return undefined;
    throw error;
  }
}

/** A Work in a fleet, and what becomes of it. */
class Case {
  readonly fleet: Fleet;
  readonly manifest: New<AnyObject>;

  constructor(fleet: Fleet, manifest: New<AnyObject>) {
    this.fleet = fleet;
    this.manifest = manifest;
  }

  get key(): ObjectKey {
    return { namespace: ES, name: nameOf(this.manifest) };
  }

  async create(spec: Partial<Work["spec"]> = {}): Promise<void> {
    await this.fleet.plane.create(works, workOf(this.manifest, spec));
    await this.fleet.settle();
  }

  async work(): Promise<Work> {
    return this.fleet.plane.get(works, this.key);
  }

  async exists(): Promise<boolean> {
    return (await this.fleet.plane.list(works, { namespace: ES })).items.some(
      ({ metadata }) => metadata.name === this.key.name,
    );
  }

  async condition(type: string): Promise<Condition | undefined> {
    return findCondition((await this.work()).status?.conditions, type);
  }

  async change(spec: Partial<Work["spec"]>): Promise<void> {
    const work = await this.work();
    await this.fleet.plane.update(works, { ...work, spec: { ...work.spec, ...spec } });
    await this.fleet.settle();
  }

  async setManifest(manifest: New<AnyObject>): Promise<void> {
    await this.change({ workload: { manifests: [manifest] } });
  }

  async delete(): Promise<void> {
    await this.fleet.plane.delete(works, this.key);
    await this.fleet.settle();
  }

  inMember(resource: Resource, key: Partial<ObjectKey> = {}): Promise<AnyObject | undefined> {
    const { name = "", namespace: space = "" } = this.manifest.metadata;
    return read(this.fleet.member("m1").client, resource, { name, namespace: space, ...key });
  }
}

async function web(fleet: Fleet, resolution = "abort"): Promise<Case> {
  return new Case(fleet, marked(deployment("web", { replicas: 2 }), resolution));
}

describe("execution", () => {
  it("applies a Deployment and reports its health once it has it", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    expect(await it.inMember(resources.deployments)).toMatchObject({ spec: { replicas: 2 } });
    const early = await it.work();
    expect(early.status?.conditions).toMatchObject([
      {
        type: "Applied",
        status: "True",
        reason: "AppliedSuccessful",
        message: "Manifest has been successfully applied",
        observedGeneration: 1,
      },
      {
        type: "Dispatching",
        status: "True",
        message: "Work is being dispatched to member clusters.",
      },
      { type: "StatusObserved", status: "True", observedGeneration: 1 },
    ]);
    expect(early.status?.manifestStatuses?.[0]).toMatchObject({ health: "Unhealthy" });
    await fleet.advance("10s");
    expect((await it.work()).status?.manifestStatuses).toMatchObject([
      {
        identifier: {
          ordinal: 0,
          group: "apps",
          version: "v1",
          kind: "Deployment",
          resource: "",
          namespace: "default",
          name: "web",
        },
        status: { replicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 },
        health: "Healthy",
      },
    ]);
    const events = await fleet.plane.list(resources.events, { namespace: ES });
    expect(
      events.items.map(({ reason, message }) => `${String(reason)}: ${String(message)}`),
    ).toEqual(
      expect.arrayContaining([
        "WorkDispatching: Work is being dispatched to member clusters.",
        "SyncSucceed: Successfully applied Deployment(default/web) to cluster m1",
        "ReflectStatusSucceed: Reflect status succeed.",
        "InterpretHealthSucceed: Interpret health of Deployment(default/web) as healthy.",
      ]),
    );
    expect(events.items).toHaveLength(4);
    const templates = await fleet.plane.list(resources.events, { namespace: "default" });
    expect(templates.items).toMatchObject([
      { reason: "SyncSucceed", involvedObject: { kind: "Deployment", uid: "template-uid" } },
    ]);
  });

  it("is quiet at rest, also right after a restart, whatever the member filled in", async () => {
    const fleet = await executing();
    let updates = 0;
    const { target } = fleet.member("m1").link;
    const update = target.update.bind(target);
    target.update = (...given) => {
      // The model of the member shares this client; our writes bear our name.
      if (given[2]?.fieldManager === "lifeboat") updates += 1;
      return update(...given);
    };
    const it = await web(fleet);
    await it.create();
    await fleet.advance("30s");
    expect(await writesDuring(fleet, () => fleet.advance("10m"))).toBe(0);
    expect(updates).toBe(0);
    const before = await it.work();
    await fleet.restart();
    await fleet.advance("1m");
    expect(updates).toBe(0);
    expect(await it.work()).toEqual(before);
    await it.setManifest(marked(deployment("web", { replicas: 3 })));
    expect(updates).toBe(1);
  });

  it.each([
    ["ConfigMap", resources.configMaps, configMap("c", { a: "1" })],
    [
      "Service",
      resources.services,
      newObject(resources.services, { name: "s" }, { spec: { ports: [{ port: 80 }] } }),
    ],
    [
      "Job",
      jobs,
      newObject(
        jobs,
        { name: "j" },
        {
          spec: {
            template: {
              spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
            },
          },
        },
      ),
    ],
    ["ClusterRole", clusterRoles, newObject(clusterRoles, { name: "r" }, { rules: [] })],
  ])(
    "applies, updates and removes a %s, without a second write",
    async (_kind, resource, object) => {
      const fleet = await executing({ memberModel: false });
      const it = new Case(fleet, marked(object));
      await it.create();
      expect(await it.inMember(resource)).toBeDefined();
      expect(await it.condition("StatusObserved")).toMatchObject({ observedGeneration: 1 });
      const version = (await it.inMember(resource))?.metadata.resourceVersion;
      await fleet.advance("1m");
      expect((await it.inMember(resource))?.metadata.resourceVersion).toBe(version);
      const { metadata } = it.manifest;
      await it.setManifest({
        ...it.manifest,
        metadata: { ...metadata, labels: { ...metadata.labels, more: "1" } },
      });
      expect((await it.inMember(resource))?.metadata.labels).toMatchObject({ more: "1" });
      expect(await it.condition("Applied")).toMatchObject({
        status: "True",
        observedGeneration: 2,
      });
      await it.delete();
      await fleet.advance("30s");
      expect(await it.inMember(resource)).toBeUndefined();
      expect(await it.exists()).toBe(false);
    },
  );

  it("applies a custom resource once its definition has reached the member", async () => {
    const fleet = await executing();
    const widget = new Case(
      fleet,
      marked(newObject(resources.widgets, { name: "w" }, { spec: { replicas: 2 } })),
    );
    await widget.create();
    expect(await widget.condition("Applied")).toMatchObject({
      status: "False",
      reason: "AppliedFailed",
      message:
        "Failed to apply all manifests (0/1): resource(kind=Widget, default/w): " +
        "the cluster m1 serves no kind Widget of ex.io/v1",
    });
    const crd = new Case(fleet, marked(widgetCrd()));
    await crd.create();
    await fleet.advance("30s");
    expect(await crd.condition("Applied")).toMatchObject({ status: "True" });
    expect(await widget.condition("Applied")).toMatchObject({ status: "True" });
    expect(await widget.inMember(resources.widgets)).toMatchObject({
      spec: { replicas: 2, color: "red" },
    });
  });

  it("waits for a namespace, and reports it", async () => {
    const fleet = await executing();
    const it = new Case(fleet, marked(configMap("c", {}, { namespace: "shop" })));
    await it.create();
    expect((await it.condition("Applied"))?.message).toContain('namespaces "shop" not found');
    await fleet.member("m1").client.create(resources.namespaces, namespace("shop"));
    await fleet.advance("10s");
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
  });

  it("corrects drift and makes a deleted copy again", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    const { client } = fleet.member("m1");
    const key = { namespace: "default", name: "web" };
    await client.patch(resources.deployments, key, {
      type: "merge",
      body: { spec: { replicas: 7 } },
    });
    await fleet.settle();
    expect(await it.inMember(resources.deployments)).toMatchObject({ spec: { replicas: 2 } });
    const uid = (await it.inMember(resources.deployments))?.metadata.uid;
    await client.delete(resources.deployments, key);
    await fleet.advance("1s");
    const again = await it.inMember(resources.deployments);
    expect(again?.metadata.uid).not.toBe(uid);
    expect(again).toBeDefined();
    expect(await it.condition("Applied")).toMatchObject({ reason: "ReCreateSuccessful" });
    // Repeats of Events are gathered for ten seconds.
    await fleet.advance("15s");
    expect(await writesDuring(fleet, () => fleet.advance("1m"))).toBe(0);
  });

  it("does not fight without end with a writer that changes the copy each time", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    const key = { namespace: "default", name: "web" };
    const opponent = fleet.member("m1").client;
    const strikeBack = async (): Promise<boolean> => {
      const spec = (await it.inMember(resources.deployments))?.["spec"] as { replicas: number };
      if (spec.replicas === 7) return false;
      await opponent.patch(resources.deployments, key, {
        type: "merge",
        body: { spec: { replicas: 7 } },
      });
      await fleet.settle();
      return true;
    };
    const rounds: number[] = [];
    for (let second = 0; second <= 31; second++) {
      while (await strikeBack()) rounds.push(second);
      await fleet.advance("1s");
    }
    expect(rounds).toEqual([0, 0, 0, 0, 1, 3, 7, 15, 31]);
    await fleet.advance("31s");
    expect(await it.inMember(resources.deployments)).toMatchObject({ spec: { replicas: 2 } });
  });

  it("leaves an object of another owner alone, until it goes or may be taken over", async () => {
    const fleet = await executing({ memberModel: false });
    const { client } = fleet.member("m1");
    const foreign = await client.create(resources.configMaps, configMap("c", { theirs: "1" }));
    const it = new Case(fleet, marked(configMap("c", { ours: "1" })));
    await it.create();
    expect(await it.condition("Applied")).toMatchObject({
      status: "False",
      reason: "AppliedFailed",
    });
    await fleet.advance("5m");
    expect((await it.inMember(resources.configMaps))?.metadata.resourceVersion).toBe(
      foreign.metadata.resourceVersion,
    );
    await it.setManifest(marked(configMap("c", { ours: "1" }), "overwrite"));
    expect(await it.inMember(resources.configMaps)).toMatchObject({ data: { ours: "1" } });
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
  });

  it("never deletes an object of another owner", async () => {
    const fleet = await executing({ memberModel: false });
    await fleet.member("m1").client.create(resources.configMaps, configMap("c", { theirs: "1" }));
    const it = new Case(fleet, marked(configMap("c")));
    await it.create();
    await it.delete();
    expect(await it.exists()).toBe(false);
    expect(await it.inMember(resources.configMaps)).toMatchObject({ data: { theirs: "1" } });
  });

  it("holds changes back while a Work is suspended, goes on reporting, and still deletes", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    await it.change({
      suspendDispatching: true,
      workload: { manifests: [marked(deployment("web", { replicas: 3 }))] },
    });
    expect(await it.inMember(resources.deployments)).toMatchObject({ spec: { replicas: 2 } });
    expect(await it.condition("Dispatching")).toMatchObject({
      status: "False",
      reason: "SuspendDispatching",
      message: "Work dispatching is in a suspended state.",
    });
    expect(await it.condition("Applied")).toMatchObject({ observedGeneration: 1 });
    fleet.member("m1").model.setFault({ kind: "pods-not-ready" } as never);
    await fleet.advance("10s");
    expect((await it.work()).status?.manifestStatuses?.[0]).toMatchObject({ health: "Unhealthy" });
    expect(await it.condition("StatusObserved")).toMatchObject({ observedGeneration: 1 });
    await it.change({ suspendDispatching: false });
    expect(await it.inMember(resources.deployments)).toMatchObject({ spec: { replicas: 3 } });
    await it.change({ suspendDispatching: true });
    await it.delete();
    await fleet.advance("10s");
    expect(await it.exists()).toBe(false);
    expect(await it.inMember(resources.deployments)).toBeUndefined();
  });

  it("leaves a preserved object in the member, without our marks", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create({ preserveResourcesOnDeletion: true });
    await it.delete();
    expect(await it.exists()).toBe(false);
    const left = await it.inMember(resources.deployments);
    expect(left?.metadata.labels).toEqual({ app: "web" });
    expect(Object.keys(left?.metadata.annotations ?? {})).not.toContain("work.karmada.io/name");
  });

  it("leaves a preserved object as it is where its numbers cannot be written exactly", async () => {
    const fleet = await executing({ memberModel: false });
    const it = await web(fleet);
    await it.create({ preserveResourcesOnDeletion: true });
    const status = { observedGeneration: 2 ** 60 };
    const key = { namespace: "default", name: "web" };
    await fleet
      .member("m1")
      .client.patch(
        resources.deployments,
        key,
        { type: "merge", body: { status } },
        { subresource: "status" },
      );
    await it.delete();
    expect(await it.exists()).toBe(false);
    const left = await it.inMember(resources.deployments);
    expect(left).toMatchObject({ metadata: { labels: { app: "web" } }, status });
    expect(Object.keys(left?.metadata.annotations ?? {})).not.toContain("work.karmada.io/name");
  });

  it("keeps a Work purged Directly until the last pod is gone", async () => {
    const fleet = await executing({ member: { stopDelayMs: 20_000 } });
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    const annotations = { "lifeboat.dev/purge-mode": "Directly" };
    const body = { metadata: { annotations } };
    await fleet.plane.patch(works, it.key, { type: "merge", body });
    await it.delete();
    const pods = async () => {
      const { items } = await fleet.member("m1").client.list(resources.pods, {});
      return items.length;
    };
    for (let second = 0; second < 60 && (await it.exists()); second++) {
      await fleet.advance("1s");
      if (!(await it.exists())) break;
    }
    expect(await it.exists()).toBe(false);
    expect(await pods()).toBe(0);
    expect(await it.inMember(resources.deployments)).toBeUndefined();
  });

  it("keeps a Work purged Directly while a pod runs that has no owner any more", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    const { client } = fleet.member("m1");
    const spec = { containers: [{ name: "c", image: "nginx:1.27" }] };
    const pod = newObject(resources.pods, { name: "left", labels: { app: "web" } }, { spec });
    await client.create(resources.pods, pod);
    const body = { metadata: { annotations: { "lifeboat.dev/purge-mode": "Directly" } } };
    await fleet.plane.patch(works, it.key, { type: "merge", body });
    await it.delete();
    await fleet.advance("5m");
    expect(await it.inMember(resources.deployments)).toBeUndefined();
    expect(await it.exists()).toBe(true);
    const key = { namespace: "default", name: "left" };
    await client.delete(resources.pods, key, { gracePeriodSeconds: 0 });
    await fleet.advance("5s");
    expect(await it.exists()).toBe(false);
  });

  it("writes nothing to the member for what does not concern it", async () => {
    const fleet = await executing({ memberModel: false });
    const it = new Case(fleet, marked(configMap("c")));
    await it.create();
    const before = await it.inMember(resources.configMaps);
    const reported = await it.condition("Applied");
    for (let i = 0; i < 5; i++) {
      const body = { metadata: { labels: { touched: String(i) } } };
      await fleet.plane.patch(works, it.key, { type: "merge", body });
      await fleet.settle();
    }
    expect(await it.inMember(resources.configMaps)).toEqual(before);
    expect(await it.condition("Applied")).toEqual(reported);
  });

  it("keeps the Work while a finalizer keeps its object", async () => {
    const fleet = await executing({ memberModel: false });
    const { client } = fleet.member("m1");
    const it = new Case(fleet, marked(configMap("c")));
    await it.create();
    const key = { namespace: "default", name: "c" };
    const body = (finalizers: readonly string[]) => ({ metadata: { finalizers } });
    await client.patch(resources.configMaps, key, { type: "merge", body: body(["ex.io/hold"]) });
    await it.delete();
    await fleet.advance("1m");
    expect(await it.exists()).toBe(true);
    await client.patch(resources.configMaps, key, { type: "merge", body: body([]) });
    await fleet.settle();
    expect(await it.exists()).toBe(false);
  });
});

describe("execution in trouble", () => {
  it.each([
    ["down", { kind: "down" }],
    ["partitioned", { kind: "partition" }],
    ["failing", { kind: "errors" }],
  ] as const)(
    "reports of a %s member what it could not do, and does it later",
    async (_what, fault) => {
      const fleet = await executing();
      fleet.member("m1").link.setFault(fault);
      const it = await web(fleet);
      await it.create();
      await fleet.advance("3m");
      expect(await it.condition("Applied")).toMatchObject({
        status: "False",
        reason: "AppliedFailed",
        observedGeneration: 1,
      });
      expect(await it.condition("StatusObserved")).toBeUndefined();
      const quiet = await it.work();
      await fleet.advance("10m");
      expect((await it.work()).metadata.resourceVersion).toBe(quiet.metadata.resourceVersion);
      fleet.member("m1").link.setFault(undefined);
      await fleet.advance("70s");
      expect(await it.condition("Applied")).toMatchObject({ status: "True" });
      await fleet.advance("10s");
      expect((await it.work()).status?.manifestStatuses?.[0]).toMatchObject({ health: "Healthy" });
    },
  );

  it("reconciles at once when the cluster is Ready again", async () => {
    const fleet = await executing();
    fleet.member("m1").link.setFault({ kind: "down" });
    const it = await web(fleet);
    await it.create();
    await fleet.advance("1h");
    fleet.member("m1").link.setFault(undefined);
    const cluster = await fleet.plane.get(clusters, { namespace: "", name: "m1" });
    const ready = {
      type: "Ready",
      status: "True",
      reason: "ClusterReady",
      message: "",
      lastTransitionTime: "2026-01-01T01:00:00Z",
    } as const;
    await fleet.plane.update(
      clusters,
      { ...cluster, status: { ...cluster.status, conditions: [ready] } },
      { subresource: "status" },
    );
    await fleet.advance(10);
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
  });

  it("keeps what was observed of a member that went silent, and calls it no generation's", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    fleet.member("m1").link.setFault({ kind: "partition" });
    const before = await it.work();
    await fleet.advance("5m");
    expect(await it.work()).toEqual(before);
    // Nothing in the manifest changes: by the cache all is well, which proves nothing.
    await it.change({ preserveResourcesOnDeletion: true });
    await fleet.advance("5m");
    expect((await it.work()).status?.manifestStatuses).toEqual(before.status?.manifestStatuses);
    expect(await it.condition("StatusObserved")).toMatchObject({ observedGeneration: 1 });
    expect(await it.condition("Applied")).toMatchObject({ status: "False", observedGeneration: 2 });
    fleet.member("m1").link.setFault(undefined);
    await fleet.advance("70s");
    expect(await it.condition("StatusObserved")).toMatchObject({ observedGeneration: 2 });
    expect(await it.condition("Applied")).toMatchObject({ status: "True", observedGeneration: 2 });
  });

  it("does not call applied what it saw deleted and could not make again", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    const { client, link } = fleet.member("m1");
    await client.delete(resources.deployments, { namespace: "default", name: "web" });
    link.setFault({ kind: "partition" });
    await fleet.advance("1m");
    expect(await it.condition("Applied")).toMatchObject({ status: "False", observedGeneration: 1 });
    link.setFault(undefined);
    await fleet.advance("70s");
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
  });

  it("reports scripts that fail, and applies nothing that a script could not retain", async () => {
    const broken = (): Promise<never> => Promise.reject(new InterpretationFailed("out of time"));
    let retain = false;
    const fleet = await executing({
      memberModel: false,
      interpretation: () => ({
        ...builtinInterpretation,
        name: "scripts that fail",
        run: (signal) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve(), { once: true });
          }),
        isCustomized: (_apiVersion, _kind, operation) => operation === "retain" && retain,
        retain: broken,
        health: broken,
        reflectStatus: broken,
      }),
    });
    const it = new Case(fleet, marked(configMap("c", { a: "1" })));
    await it.create();
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
    expect(await it.condition("StatusObserved")).toMatchObject({
      status: "False",
      reason: "ReflectStatusFailed",
      message: "out of time",
    });
    expect((await it.work()).status?.manifestStatuses?.[0]).toMatchObject({ health: "Unknown" });
    retain = true;
    await it.setManifest(marked(configMap("c", { a: "2" })));
    expect(await it.condition("Applied")).toMatchObject({ status: "False", observedGeneration: 2 });
    expect(await it.inMember(resources.configMaps)).toMatchObject({ data: { a: "1" } });
    const events = await fleet.plane.list(resources.events, { namespace: ES });
    const reasons = events.items.map(({ reason }) => reason);
    expect(reasons).toEqual(
      expect.arrayContaining(["ReflectStatusFailed", "InterpretHealthFailed", "SyncFailed"]),
    );
    expect(await writesDuring(fleet, () => fleet.advance("1m"))).toBe(0);
  });

  it("is not held up by another member that hangs", async () => {
    const fleet = await executing({ members: ["m1", "m2"], memberModel: false });
    await fleet.plane.create(resources.namespaces, namespace(executionNamespace("m2")));
    fleet.member("m1").link.setFault({ kind: "partition" });
    for (let i = 0; i < 100; i++)
      await fleet.plane.create(works, workOf(marked(configMap(`c${i}`))));
    await fleet.settle();
    const es = executionNamespace("m2");
    const manifest = marked(configMap("c"), "abort", es);
    await fleet.plane.create(works, workOf(manifest, {}, es));
    await fleet.settle();
    const key = { namespace: "default", name: "c" };
    expect(await read(fleet.member("m2").client, resources.configMaps, key)).toBeDefined();
  });

  it("goes on with a slow member", async () => {
    const fleet = await executing({ memberModel: false });
    fleet.member("m1").link.setFault({ kind: "slow", delayMs: 4000 });
    const it = new Case(fleet, marked(configMap("c")));
    await it.create();
    await fleet.advance("2m");
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
  });

  it("follows a token that rotates", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    fleet.member("m1").setToken("new");
    await it.setManifest(marked(deployment("web", { replicas: 3 })));
    await fleet.advance("10s");
    expect(await it.condition("Applied")).toMatchObject({ status: "False" });
    const key = { namespace: "karmada-cluster", name: "m1" };
    const body = { data: { token: btoa("new") } };
    await fleet.plane.patch(resources.secrets, key, { type: "merge", body });
    await fleet.advance("1s");
    expect(await it.condition("Applied")).toMatchObject({ status: "True", observedGeneration: 2 });
    await fleet.advance("10s");
    expect((await it.work()).status?.manifestStatuses?.[0]).toMatchObject({
      status: { readyReplicas: 3 },
      health: "Healthy",
    });
  });

  it("reports of a cluster without a usable Secret that it cannot be reached", async () => {
    const fleet = await executing({ memberModel: false });
    await fleet.plane.delete(resources.secrets, { namespace: "karmada-cluster", name: "m1" });
    await fleet.settle();
    const it = new Case(fleet, marked(configMap("c")));
    await it.create();
    await fleet.advance("10s");
    expect(await it.condition("Applied")).toMatchObject({
      status: "False",
      reason: "AppliedFailed",
    });
  });

  it("keeps the Work of a member that is down until the object is gone", async () => {
    const fleet = await executing();
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    fleet.member("m1").link.setFault({ kind: "down" });
    await it.delete();
    await fleet.advance("1h");
    expect(await it.exists()).toBe(true);
    await fleet.restart();
    await fleet.advance("5m");
    expect(await it.exists()).toBe(true);
    fleet.member("m1").link.setFault(undefined);
    await fleet.advance("70s");
    expect(await it.exists()).toBe(false);
    expect(await it.inMember(resources.deployments)).toBeUndefined();
  });

  it("reports what a member refuses, and nothing is lost of what it had", async () => {
    const fleet = await executing({ memberModel: false });
    const it = new Case(fleet, marked(deployment("web")));
    await it.create();
    const odd = marked(deployment("web", { selector: { matchLabels: { other: "1" } } }));
    await it.setManifest(odd);
    await fleet.advance("2m");
    expect(await it.condition("Applied")).toMatchObject({ status: "False", observedGeneration: 2 });
    expect(await it.condition("StatusObserved")).toMatchObject({ observedGeneration: 1 });
    await it.setManifest(it.manifest);
    await fleet.settle();
    expect(await it.condition("Applied")).toMatchObject({ status: "True", observedGeneration: 3 });
  });

  it("makes again what was deleted before its creation was answered", async () => {
    const fleet = await executing({ memberModel: false });
    const { client, link } = fleet.member("m1");
    const create = link.target.create.bind(link.target);
    link.target.create = async (...given) => {
      const made = await create(...given);
      if (given[2]?.fieldManager === "lifeboat") {
        link.target.create = create;
        const key = { namespace: "default", name: "c" };
        await client.delete(resources.configMaps, key);
      }
      return made;
    };
    const it = new Case(fleet, marked(configMap("c")));
    await it.create();
    await fleet.advance("10s");
    expect(await it.inMember(resources.configMaps)).toBeDefined();
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
  });

  it.each([undefined, null, "yes", {}, { metadata: {} }, { metadata: { name: "c", uid: 1 } }])(
    "lives with a member that answers a write with %j",
    async (answer) => {
      const fleet = await executing({ memberModel: false });
      const { link } = fleet.member("m1");
      const create = link.target.create.bind(link.target);
      let odd = true;
      link.target.create = (async (...given: Parameters<typeof create>) =>
        odd && given[2]?.fieldManager === "lifeboat" ? answer : create(...given)) as typeof create;
      const it = new Case(fleet, marked(configMap("c")));
      await it.create();
      expect(await it.condition("Applied")).toMatchObject({ status: "False" });
      odd = false;
      await fleet.advance("1m");
      expect(await it.condition("Applied")).toMatchObject({ status: "True" });
    },
  );

  it("writes nothing on the word of a member that shows an object without a version", async () => {
    const fleet = await executing({ memberModel: false });
    const { link } = fleet.member("m1");
    const create = link.target.create.bind(link.target);
    let isFirst = true;
    // Another writer is faster, so that the member is asked what it has.
    link.target.create = (async (...given: Parameters<typeof create>) => {
      if (isFirst) await create(resources.configMaps, configMap("c"));
      isFirst = false;
      return create(...given);
    }) as typeof create;
    const get = link.target.get.bind(link.target);
    let odd = true;
    link.target.get = (async (...given: Parameters<typeof get>) => {
      const answer = await get(...given);
      const { resourceVersion: _version, ...metadata } = answer.metadata;
      return odd && given[1].name === "c" ? { ...answer, metadata } : answer;
    }) as typeof get;
    const update = link.target.update.bind(link.target);
    const versions: unknown[] = [];
    link.target.update = ((...given: Parameters<typeof update>) => {
      versions.push(given[1].metadata.resourceVersion);
      return update(...given);
    }) as typeof update;
    const it = new Case(fleet, marked(configMap("c", { a: "1" }), "overwrite"));
    await it.create();
    odd = false;
    await fleet.advance("1m");
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
    expect(versions.length).toBeGreaterThan(0);
    expect(versions).not.toContain(undefined);
  });

  it.each([
    ["no manifests", { workload: { manifests: [] } }],
    ["an empty manifest", { workload: { manifests: [{}] } }],
    ["a name that climbs", { workload: { manifests: [configMap("..")] } }],
    [
      "a namespace that climbs",
      { workload: { manifests: [configMap("c", {}, { namespace: ".." })] } },
    ],
    ["an empty name", { workload: { manifests: [configMap("")] } }],
    ["odd manifests", { workload: { manifests: [{ apiVersion: 1, kind: [], metadata: "x" }] } }],
  ])("lives with a Work of %s", async (_what, spec) => {
    const fleet = await executing({ memberModel: false });
    const work = workOf(configMap("c"), spec);
    await fleet.plane.create(works, work);
    const it = new Case(fleet, marked(configMap("good")));
    await it.create();
    await fleet.advance("1m");
    expect(await it.condition("Applied")).toMatchObject({ status: "True" });
    const key = { namespace: ES, name: work.metadata.name ?? "" };
    await fleet.plane.delete(works, key);
    await fleet.advance("1m");
    expect(await read(fleet.plane, works as unknown as Resource, key)).toBeUndefined();
  });
});

describe("a crash", () => {
  const written = ["create", "update", "delete"] as const;

  /** Kills the control plane before or after its n-th write to the member, and lets it go on afterwards. */
  async function crashAt(n: number, when: "before" | "after"): Promise<number> {
    const fleet = await executing({ member: { startDelayMs: 100, stopDelayMs: 100 } });
    const { link } = fleet.member("m1");
    const target = link.target;
    let count = 0;
    for (const verb of written) {
      const call = target[verb].bind(target) as (...given: unknown[]) => Promise<unknown>;
      (target as unknown as Record<string, unknown>)[verb] = async (...given: unknown[]) => {
        const options = given.at(-1) as WriteOptions | undefined;
        const isOurs = options?.fieldManager === "lifeboat" || verb === "delete";
        const hit = isOurs && ++count === n;
        if (hit && when === "before") await fleet.restart();
        const answer = await call(...given);
        if (hit && when === "after") await fleet.restart();
        return answer;
      };
    }
    const it = await web(fleet);
    await it.create();
    await fleet.advance("10s");
    await it.setManifest(marked(deployment("web", { replicas: 3 })));
    await fleet.advance("10s");
    expect(await it.condition("StatusObserved")).toMatchObject({ observedGeneration: 2 });
    expect((await it.work()).status?.manifestStatuses?.[0]).toMatchObject({
      status: { readyReplicas: 3 },
      health: "Healthy",
    });
    await it.delete();
    await fleet.advance("3m");
    expect(await it.exists()).toBe(false);
    expect(await it.inMember(resources.deployments)).toBeUndefined();
    return count;
  }

  it.each([
    [1, "before"],
    [1, "after"],
    [2, "before"],
    [2, "after"],
    [3, "before"],
    [3, "after"],
  ] as const)("at write %i to the member, %s it, changes nothing in the end", async (n, when) => {
    expect(await crashAt(n, when)).toBeGreaterThanOrEqual(n);
  });
});
