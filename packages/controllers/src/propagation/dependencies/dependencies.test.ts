/** Dependencies against the real API server: the tests play the detector and the scheduler. */
import {
  type AnyObject,
  equalJson,
  isRefused,
  type New,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { type Client, NotSent, OutcomeUnknown, type Service } from "@lifeboat/kit";
import {
  configMap,
  createFleet,
  deployment,
  type Fleet,
  type FleetOptions,
  newObject,
  resources,
} from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { builtinInterpretation, InterpretationFailed } from "../../context/interpretation.ts";
import { createDependencies } from "./create-dependencies.ts";

const DEPENDENCIES = "resourcebinding.karmada.io/dependencies";
const FINALIZER = "karmada.io/binding-dependencies-distributor";
const NS = "default";

/** An interpretation that runs nothing. */
const idle: Service = {
  name: "interpretation",
  run: (signal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    }),
};

let fleet: Fleet;
let isRunning = true;

async function open(options: FleetOptions = {}): Promise<void> {
  isRunning = true;
  fleet = await createFleet({
    services: (context) => (isRunning ? createDependencies(context) : []),
    ...options,
  });
}

afterEach(() => fleet.close());

/** The pod template of a workload that mounts these ConfigMaps. */
function mounting(...names: readonly string[]) {
  return {
    metadata: { labels: { app: "web" } },
    spec: {
      containers: [{ name: "c", image: "nginx:1.27" }],
      volumes: names.map((name) => ({ name: `v-${name}`, configMap: { name } })),
    },
  };
}

/** A Deployment and its binding, as the detector and the scheduler would leave it. */
async function bound(
  name: string,
  needed: readonly string[],
  spec: Partial<ResourceBinding["spec"]> = {},
  annotations: Readonly<Record<string, string>> = {},
): Promise<ResourceBinding> {
  const workload = deployment(
    name,
    { template: mounting(...needed), selector: { matchLabels: { app: "web" } } },
    { annotations },
  );
  const template = await fleet.plane.create(resources.deployments, workload);
  const binding = await fleet.plane.create(resourceBindings, bindingOf(template, spec));
  await fleet.settle();
  return binding;
}

function bindingOf(
  { apiVersion, kind, metadata }: AnyObject,
  spec: Partial<ResourceBinding["spec"]>,
): New<ResourceBinding> {
  const { name, uid, resourceVersion } = metadata;
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      namespace: NS,
      name: `${name}-${kind.toLowerCase()}`,
      finalizers: [],
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: {
      resource: { apiVersion, kind, namespace: NS, name, uid, resourceVersion },
      propagateDeps: true,
      clusters: [{ name: "m1" }],
      conflictResolution: "Abort",
      ...spec,
    },
  };
}

function read(name: string): Promise<ResourceBinding> {
  return fleet.plane.get(resourceBindings, { namespace: NS, name });
}

async function exists(name: string): Promise<boolean> {
  try {
    await read(name);
    return true;
  } catch (error) {
    if (isRefused(error, "NotFound")) return false;
    throw error;
  }
}

/** Where a binding is needed, by the workload that needs it. */
async function neededIn(name: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { spec } = await read(name);
  return Object.fromEntries(
    (spec.requiredBy ?? []).map((entry) => [
      entry.name,
      (entry.clusters ?? []).map((cluster) => cluster.name),
    ]),
  );
}

async function change(
  name: string,
  spec: Partial<ResourceBinding["spec"]>,
): Promise<ResourceBinding> {
  const binding = await read(name);
  const written = await fleet.plane.update(resourceBindings, {
    ...binding,
    spec: { ...binding.spec, ...spec },
  });
  await fleet.settle();
  return written;
}

async function create(object: New<AnyObject>, resource = resources.configMaps): Promise<AnyObject> {
  const created = await fleet.plane.create(resource, object);
  await fleet.settle();
  return created;
}

async function eventsAbout(name: string): Promise<readonly AnyObject[]> {
  await fleet.settle();
  const { items } = await fleet.plane.list(resources.events, { namespace: NS });
  return items.filter((event) => (event["involvedObject"] as AnyObject["metadata"]).name === name);
}

async function bindingVersions(): Promise<Readonly<Record<string, string>>> {
  const { items } = await fleet.plane.list(resourceBindings);
  return Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

describe("another writer's version", () => {
  it("of what a workload needs is contradicted once a second at most", async () => {
    await open();
    await bound("web", ["cfg"]);
    await fleet.advance("10s");
    const record = async () => (await read("web-deployment")).metadata.annotations?.[DEPENDENCIES];
    const wanted = await record();
    const forget = async (): Promise<void> => {
      const body = { metadata: { annotations: { [DEPENDENCIES]: "[]" } } };
      const key = { namespace: NS, name: "web-deployment" };
      await fleet.plane.patch(resourceBindings, key, { type: "merge", body });
      await fleet.settle();
    };
    await forget();
    expect(await record()).toBe(wanted);
    await forget();
    expect(await record()).toBe("[]");
    await fleet.advance("1s");
    expect(await record()).toBe(wanted);
  });

  it("of the workloads that need an object is contradicted once a second at most", async () => {
    await open();
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    await fleet.advance("10s");
    const wanted = { "web-deployment": ["m1"] };
    await change("cfg-configmap", { requiredBy: [] });
    expect(await neededIn("cfg-configmap")).toEqual(wanted);
    await change("cfg-configmap", { requiredBy: [] });
    expect(await neededIn("cfg-configmap")).toEqual({});
    await fleet.advance("1s");
    expect(await neededIn("cfg-configmap")).toEqual(wanted);
  });
});

describe("a ConfigMap that a workload mounts", () => {
  it("is bound to where the workload is, and the workload's binding records it", async () => {
    await open();
    const cfg = await create(configMap("cfg"));
    const web = await bound("web", ["cfg"]);
    expect(await read("cfg-configmap")).toMatchObject({
      metadata: {
        finalizers: ["karmada.io/binding-controller"],
        ownerReferences: [{ kind: "ConfigMap", uid: cfg.metadata.uid, controller: true }],
      },
      spec: {
        resource: { kind: "ConfigMap", name: "cfg", uid: cfg.metadata.uid },
        requiredBy: [{ namespace: NS, name: "web-deployment", clusters: [{ name: "m1" }] }],
        conflictResolution: "Abort",
      },
    });
    const labels = Object.entries((await read("cfg-configmap")).metadata.labels ?? {});
    const id = web.metadata.labels?.["resourcebinding.karmada.io/permanent-id"];
    expect(labels.find(([key]) => key.includes("/depended-by-"))?.[1]).toBe(id);
    const { metadata } = await read("web-deployment");
    expect(metadata.finalizers).toContain(FINALIZER);
    expect(JSON.parse(metadata.annotations?.[DEPENDENCIES] ?? "")).toEqual([
      { apiVersion: "v1", kind: "ConfigMap", namespace: NS, name: "cfg" },
    ]);
    const reasons = (await eventsAbout("web-deployment")).map((event) => event["reason"]);
    expect(reasons).toEqual(["SyncScheduleResultToDependenciesSucceed"]);
    expect(await eventsAbout("web")).toMatchObject([{ reason: "GetDependenciesSucceed" }]);
  });

  it("follows when it is created after the workload", async () => {
    await open();
    await bound("web", ["late"]);
    expect(await exists("late-configmap")).toBe(false);
    await create(configMap("late"));
    expect(await neededIn("late-configmap")).toEqual({ "web-deployment": ["m1"] });
  });

  it("stays where the workload has not left yet, and goes with it", async () => {
    await open();
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    const before = await bindingVersions();
    const task = { fromCluster: "m1", reason: "TaintUntolerated", producer: "test" };
    await change("web-deployment", {
      clusters: [],
      gracefulEvictionTasks: [{ ...task, purgeMode: "Gracefully" }],
    });
    expect((await bindingVersions())["cfg-configmap"]).toBe(before["cfg-configmap"]);
    await change("web-deployment", { clusters: [{ name: "m2" }] });
    expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m2", "m1"] });
    await change("web-deployment", { gracefulEvictionTasks: [] });
    expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m2"] });
    await change("web-deployment", {
      clusters: [{ name: "m3" }],
      gracefulEvictionTasks: [{ ...task, fromCluster: "m2", purgeMode: "Directly" }],
    });
    expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m3"] });
  });

  it("is carried on when its content changes", async () => {
    await open();
    const cfg = await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    const updated = await fleet.plane.update(resources.configMaps, { ...cfg, data: { a: "b" } });
    await fleet.settle();
    const { spec } = await read("cfg-configmap");
    expect(spec.resource.resourceVersion).toBe(updated.metadata.resourceVersion);
  });

  it("is released when the workload no longer mounts it", async () => {
    await open();
    await create(configMap("cfg"));
    await create(configMap("other"));
    await bound("web", ["cfg"]);
    const template = await fleet.plane.get(resources.deployments, { namespace: NS, name: "web" });
    await fleet.plane.update(resources.deployments, {
      ...template,
      spec: { ...(template["spec"] as object), template: mounting("other") },
    });
    await fleet.settle();
    expect(await neededIn("cfg-configmap")).toEqual({});
    expect(await neededIn("other-configmap")).toEqual({ "web-deployment": ["m1"] });
    expect(
      Object.keys((await read("cfg-configmap")).metadata.labels ?? {}).filter((key) =>
        key.includes("depended-by"),
      ),
    ).toEqual([]);
  });

  it("is released when the policy no longer propagates dependencies, and the record goes", async () => {
    await open();
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    await change("web-deployment", { propagateDeps: false });
    expect(await neededIn("cfg-configmap")).toEqual({});
    const { metadata } = await read("web-deployment");
    expect(metadata.finalizers ?? []).not.toContain(FINALIZER);
    expect(metadata.annotations ?? {}).not.toHaveProperty([DEPENDENCIES]);
    await change("web-deployment", { propagateDeps: true });
    expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m1"] });
  });

  it("is released before the binding of a deleted workload goes", async () => {
    await open();
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    await fleet.plane.delete(resourceBindings, { namespace: NS, name: "web-deployment" });
    await fleet.settle();
    expect(await exists("web-deployment")).toBe(false);
    expect(await neededIn("cfg-configmap")).toEqual({});
  });

  it.each(["deleted", "gone without a trace"])(
    "is released when the workload was %s while the control plane was down",
    async (how) => {
      await open();
      await create(configMap("cfg"));
      await bound("web", ["cfg"]);
      isRunning = false;
      await fleet.restart();
      const web = await read("web-deployment");
      if (how !== "deleted")
        await fleet.plane.update(resourceBindings, {
          ...web,
          metadata: { ...web.metadata, finalizers: [] },
        });
      await fleet.plane.delete(resourceBindings, { namespace: NS, name: "web-deployment" });
      await fleet.settle();
      expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m1"] });
      isRunning = true;
      await fleet.restart();
      await fleet.settle();
      expect(await neededIn("cfg-configmap")).toEqual({});
      expect(await exists("web-deployment")).toBe(false);
    },
  );

  it("is bound again when its binding is deleted", async () => {
    await open();
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    await fleet.plane.delete(resourceBindings, { namespace: NS, name: "cfg-configmap" });
    const cfg = await read("cfg-configmap");
    await fleet.plane.update(resourceBindings, {
      ...cfg,
      metadata: { ...cfg.metadata, finalizers: [] },
    });
    await fleet.settle();
    const again = await read("cfg-configmap");
    expect(again.metadata.uid).not.toBe(cfg.metadata.uid);
    expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m1"] });
  });

  it("keeps what a policy decided about it", async () => {
    await open();
    const cfg = await create(configMap("cfg"));
    const made = bindingOf(cfg, {
      propagateDeps: false,
      clusters: [{ name: "m7" }],
      conflictResolution: "Overwrite",
      placement: {},
    });
    const labels = { "propagationpolicy.karmada.io/permanent-id": "p" };
    await fleet.plane.create(resourceBindings, { ...made, metadata: { ...made.metadata, labels } });
    const { spec } = await read("cfg-configmap");
    await bound("web", ["cfg"]);
    expect((await read("cfg-configmap")).spec).toEqual({
      ...spec,
      requiredBy: [{ namespace: NS, name: "web-deployment", clusters: [{ name: "m1" }] }],
    });
  });
});

describe("several workloads that need one object", () => {
  it("are all named, in order; what they disagree on is reported", async () => {
    await open();
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    await bound("api", ["cfg"], {
      clusters: [{ name: "m2" }],
      conflictResolution: "Overwrite",
      preserveResourcesOnDeletion: true,
    });
    expect(await neededIn("cfg-configmap")).toEqual({
      "api-deployment": ["m2"],
      "web-deployment": ["m1"],
    });
    expect((await read("cfg-configmap")).spec).toMatchObject({
      conflictResolution: "Overwrite",
      preserveResourcesOnDeletion: true,
    });
    const [conflict] = await eventsAbout("cfg-configmap");
    expect(conflict).toMatchObject({ type: "Warning", reason: "DependencyPolicyConflict" });
    expect(conflict?.["message"]).toContain("ConflictResolution conflicted (Overwrite vs Abort)");
    await fleet.plane.delete(resourceBindings, { namespace: NS, name: "api-deployment" });
    await fleet.settle();
    expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m1"] });
    expect((await read("cfg-configmap")).spec.conflictResolution).toBe("Abort");
    expect((await read("cfg-configmap")).spec.preserveResourcesOnDeletion).toBe(false);
  });
});

describe("a Service", () => {
  const service = (selector: Readonly<Record<string, string>>) =>
    newObject(resources.services, { name: "svc" }, { spec: { selector, ports: [{ port: 80 }] } });
  const asking = { "lifeboat.dev/propagate-services": "true" };

  it("follows the workload whose pods it selects, when the workload asks for it", async () => {
    await open();
    const svc = await create(service({ app: "web" }), resources.services);
    await bound("plain", []);
    expect(await exists("svc-service")).toBe(false);
    await bound("web", [], { propagateDeps: false }, asking);
    expect(await neededIn("svc-service")).toEqual({ "web-deployment": ["m1"] });
    const current = await fleet.plane.get(resources.services, { namespace: NS, name: "svc" });
    await fleet.plane.update(resources.services, {
      ...current,
      spec: { ...(svc["spec"] as object), selector: { app: "other" } },
    });
    await fleet.settle();
    expect(await neededIn("svc-service")).toEqual({});
  });

  it("follows when it is created later", async () => {
    await open();
    await bound("web", [], {}, asking);
    await create(service({ app: "web" }), resources.services);
    expect(await neededIn("svc-service")).toEqual({ "web-deployment": ["m1"] });
  });
});

describe("dependencies that a script chooses by labels", () => {
  it("are all objects that have them, also later, and no longer those that lost them", async () => {
    const dependency = {
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: NS,
      labelSelector: { matchLabels: { for: "web" } },
    };
    await open({
      interpretation: () => ({
        ...builtinInterpretation,
        ...idle,
        dependencies: () => Promise.resolve([dependency]),
      }),
    });
    const metadata = { labels: { for: "web" } };
    const one = await create(configMap("one", {}, metadata));
    await create(configMap("other"));
    await bound("web", []);
    await create(configMap("two", {}, metadata));
    expect(await neededIn("one-configmap")).toEqual({ "web-deployment": ["m1"] });
    expect(await neededIn("two-configmap")).toEqual({ "web-deployment": ["m1"] });
    expect(await exists("other-configmap")).toBe(false);
    await fleet.plane.update(resources.configMaps, {
      ...one,
      metadata: { ...one.metadata, labels: {} },
    });
    await fleet.settle();
    expect(await neededIn("one-configmap")).toEqual({});
    await change("web-deployment", { clusters: [{ name: "m4" }] });
    expect(await neededIn("two-configmap")).toEqual({ "web-deployment": ["m4"] });
  });
});

describe("the record of what a workload needs", () => {
  it("comes back when another writer removes it, and nothing is released meanwhile", async () => {
    await open();
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    const before = await bindingVersions();
    const web = await read("web-deployment");
    await fleet.plane.update(resourceBindings, {
      ...web,
      metadata: { ...web.metadata, annotations: {}, finalizers: [] },
    });
    await fleet.advance("1s");
    const { metadata } = await read("web-deployment");
    expect(metadata.finalizers).toContain(FINALIZER);
    expect(metadata.annotations?.[DEPENDENCIES]).toContain("cfg");
    expect((await bindingVersions())["cfg-configmap"]).toBe(before["cfg-configmap"]);
  });

  it("stays while a script fails, with an event, and is right once it works", async () => {
    let isBroken = false;
    await open({
      interpretation: () => ({
        ...builtinInterpretation,
        ...idle,
        dependencies: (object) =>
          isBroken
            ? Promise.reject(new InterpretationFailed("no answer"))
            : builtinInterpretation.dependencies(object),
      }),
    });
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    isBroken = true;
    await change("web-deployment", { clusters: [{ name: "m2" }] });
    expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m2"] });
    const reasons = (await eventsAbout("web")).map((event) => event["reason"]);
    expect(reasons).toContain("GetDependenciesFailed");
    const web = await read("web-deployment");
    await fleet.plane.update(resourceBindings, {
      ...web,
      metadata: { ...web.metadata, annotations: {} },
      spec: { ...web.spec, clusters: [{ name: "m3" }] },
    });
    await fleet.settle();
    expect(await neededIn("cfg-configmap")).toEqual({ "web-deployment": ["m3"] });
    isBroken = false;
    await fleet.advance("1m");
    expect((await read("web-deployment")).metadata.annotations?.[DEPENDENCIES]).toContain("cfg");
  });
});

describe("a control plane that loses answers", () => {
  it("settles as if it did not, and reports what failed", async () => {
    let writes = 0;
    await open({
      services: (context) => {
        const { plane } = context;
        const losing: Client = {
          ...plane,
          create: async (resource, object, options) => {
            const created = await plane.create(resource, object, options);
            writes += 1;
            if (writes % 2 === 0) throw new OutcomeUnknown("the answer was lost");
            return created;
          },
          update: async (resource, object, options) => {
            writes += 1;
            if (writes % 3 === 0) throw new NotSent("the server is away");
            return plane.update(resource, object, options);
          },
        };
        return createDependencies({ ...context, plane: losing });
      },
    });
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    await bound("api", ["cfg"], { clusters: [{ name: "m2" }] });
    await fleet.advance("1m");
    expect(await neededIn("cfg-configmap")).toEqual({
      "api-deployment": ["m2"],
      "web-deployment": ["m1"],
    });
    const reasons = (await eventsAbout("web-deployment")).map((event) => event["reason"]);
    expect(reasons).toContain("SyncScheduleResultToDependenciesFailed");
  });
});

describe("at rest", () => {
  it("nothing is written, neither by time nor by a restart", async () => {
    await open();
    await create(configMap("cfg"));
    await bound("web", ["cfg"]);
    await bound("api", ["cfg"], { clusters: [{ name: "m2" }] });
    const before = await bindingVersions();
    await fleet.advance("10m");
    await fleet.restart();
    await fleet.advance("10m");
    expect(equalJson(await bindingVersions(), before)).toBe(true);
  });

  it("many workloads and one object settle after a crash in the middle", async () => {
    await open();
    await create(configMap("cfg"));
    for (let i = 0; i < 10; i += 1) {
      const workload = deployment(`w${i}`, {
        template: mounting("cfg"),
        selector: { matchLabels: { app: "web" } },
      });
      const template = await fleet.plane.create(resources.deployments, workload);
      await fleet.plane.create(resourceBindings, bindingOf(template, {}));
      if (i === 5) await fleet.restart();
    }
    await fleet.advance("1m");
    expect(Object.keys(await neededIn("cfg-configmap"))).toHaveLength(10);
  });
});
