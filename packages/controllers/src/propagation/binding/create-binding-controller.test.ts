import {
  clusterOverridePolicies,
  clusterResourceBindings,
  clusters,
  evacuationBudgets,
  type EvictionTask,
  keyOf,
  overridePolicies,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { formatTime } from "@lifeboat/base";
import {
  configMap,
  createFleet,
  deployment,
  type Fleet,
  newNamespace,
  resources,
  wrapped,
} from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { builtinInterpretation, InterpretationFailed } from "../../context/interpretation.ts";
import {
  allWorks,
  bindingFleet,
  bindingOf,
  bound,
  change,
  deleteTemplate,
  eventReasons,
  finishWorks,
  on,
  reportHealthy,
  services,
  workNames,
} from "./binding.suite.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const WEB = { namespace: "default", name: "web" };
const BINDING = { namespace: "default", name: "web-deployment" };
const task = (fromCluster: string, purgeMode: EvictionTask["purgeMode"]): EvictionTask => ({
  fromCluster,
  reason: "TaintUntolerated",
  producer: "test",
  ...(purgeMode === undefined ? {} : { purgeMode }),
});
const manifestOf = (work: Work | undefined): Record<string, unknown> =>
  work?.spec.workload?.manifests?.[0] ?? {};
const workIn = async (cluster: string): Promise<Work | undefined> =>
  (await allWorks(fleet)).find(({ metadata }) => metadata.namespace === `karmada-es-${cluster}`);

describe("making and keeping current", () => {
  it("does not dispute with another plane faster than once a second", async () => {
    fleet = await bindingFleet(["m1"]);
    await bound(fleet, "web", { replicas: 2, clusters: [{ name: "m1", replicas: 2 }] });
    await fleet.advance("5s");
    let disputes = 0;
    const undo = async (): Promise<void> => {
      disputes += 1;
      const [work] = await allWorks(fleet);
      if (work === undefined) return;
      const other = { ...work, spec: { workload: { manifests: [configMap("other")] } } };
      await fleet.plane.update(works, other).catch(() => undefined);
    };
    const resourceVersion = (await workIn("m1"))?.metadata.resourceVersion ?? "";
    const watch = fleet.plane.watch(
      works,
      { resourceVersion },
      {
        event: (event) => {
          if (event.type !== "MODIFIED" || disputes === 50) return;
          if (manifestOf(event.object)["kind"] === "Deployment") void undo();
        },
        end: () => undefined,
      },
    );
    await undo();
    await fleet.advance("5s");
    watch.stop();
    expect(disputes).toBeGreaterThan(3);
    expect(disputes).toBeLessThan(10);
    await fleet.advance("2s");
    expect(manifestOf(await workIn("m1"))).toMatchObject({ kind: "Deployment" });
  });

  it("does not make a Work again faster than once a second that another plane removes", async () => {
    fleet = await bindingFleet(["m1"]);
    await bound(fleet, "web", on("m1"));
    let removals = 0;
    const remove = async (): Promise<void> => {
      removals += 1;
      const [work] = await allWorks(fleet);
      if (work === undefined) return;
      await fleet.plane.delete(works, keyOf(work));
      await finishWorks(fleet);
    };
    const resourceVersion = (await workIn("m1"))?.metadata.resourceVersion ?? "";
    const watch = fleet.plane.watch(
      works,
      { resourceVersion },
      {
        event: ({ type }) => {
          if (type === "ADDED" && removals < 50) void remove();
        },
        end: () => undefined,
      },
    );
    await remove();
    await fleet.advance("5s");
    watch.stop();
    expect(removals).toBeGreaterThan(3);
    expect(removals).toBeLessThan(10);
    await fleet.advance("2s");
    expect(await workNames(fleet)).toEqual(["m1/web"]);
  });

  it("makes a Work in each cluster, follows the template, and reports it once", async () => {
    fleet = await bindingFleet(["m1", "m2", "m3"]);
    await bound(fleet, "web", {
      replicas: 5,
      clusters: [
        { name: "m1", replicas: 2 },
        { name: "m2", replicas: 3 },
      ],
    });
    expect(await workNames(fleet)).toEqual(["m1/web", "m2/web"]);
    expect(manifestOf(await workIn("m2"))).toMatchObject({ spec: { replicas: 3 } });
    expect(await eventReasons(fleet, "ResourceBinding")).toEqual(["SyncWorkSucceed"]);
    expect(await eventReasons(fleet, "Deployment")).toEqual(["SyncWorkSucceed"]);

    const before = (await workIn("m1"))?.metadata.labels;
    const template = await fleet.plane.get(resources.deployments, WEB);
    const labels = { tier: "gold" };
    await fleet.plane.update(resources.deployments, {
      ...template,
      metadata: { ...template.metadata, labels },
    });
    await fleet.settle();
    expect(manifestOf(await workIn("m1"))).toMatchObject({ metadata: { labels } });
    expect((await workIn("m1"))?.metadata.labels).toEqual(before);
  });

  it("writes nothing at rest, on restarts, and for changes that do not matter", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await bound(fleet, "web", on("m1", "m2"));
    const versions = async (): Promise<readonly string[]> =>
      (await allWorks(fleet)).map(({ metadata }) => metadata.resourceVersion);
    const before = await versions();
    await fleet.advance("10m");
    const template = await fleet.plane.get(resources.deployments, WEB);
    const status = { observedGeneration: 1, replicas: 1 };
    await fleet.plane.update(
      resources.deployments,
      { ...template, status },
      { subresource: "status" },
    );
    const cluster = await fleet.plane.get(clusters, { namespace: "", name: "m1" });
    const taints = [{ key: "x", effect: "NoSchedule" as const }];
    await fleet.plane.update(clusters, { ...cluster, spec: { ...cluster.spec, taints } });
    await fleet.restart();
    await fleet.advance("10m");
    expect(await versions()).toEqual(before);
  });

  it("follows overrides and the labels of clusters, in the bindings they concern", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await bound(fleet, "web", on("m1", "m2"));
    await bound(fleet, "api", on("m1"));
    const untouched = (await allWorks(fleet)).find(({ metadata }) =>
      metadata.name.startsWith("api"),
    );
    await fleet.plane.create(overridePolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "OverridePolicy",
      metadata: { namespace: "default", name: "gold" },
      spec: {
        resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
        overrideRules: [
          {
            targetCluster: { labelSelector: { matchLabels: { tier: "gold" } } },
            overriders: { labelsOverrider: [{ operator: "add", value: { tier: "gold" } }] },
          },
        ],
      },
    });
    await fleet.settle();
    const isGold = async (name: string): Promise<boolean> =>
      JSON.stringify(manifestOf(await workIn(name))["metadata"]).includes('"tier":"gold"');
    expect([await isGold("m1"), await isGold("m2")]).toEqual([false, false]);

    const cluster = await fleet.plane.get(clusters, { namespace: "", name: "m2" });
    const metadata = { ...cluster.metadata, labels: { tier: "gold" } };
    await fleet.plane.update(clusters, { ...cluster, metadata });
    await fleet.settle();
    expect([await isGold("m1"), await isGold("m2")]).toEqual([false, true]);
    expect(await eventReasons(fleet, "Deployment")).toContain("ApplyOverridePolicySucceed");

    await fleet.plane.delete(overridePolicies, { namespace: "default", name: "gold" });
    await fleet.settle();
    expect([await isGold("m1"), await isGold("m2")]).toEqual([false, false]);
    expect((await workIn("m2"))?.metadata.annotations).not.toHaveProperty([
      "policy.karmada.io/applied-overrides",
    ]);
    expect(await allWorks(fleet)).toContainEqual(untouched);
  });

  it("fails where an override fails, and only there, and reports it once", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await fleet.plane.create(clusterOverridePolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterOverridePolicy",
      metadata: { name: "broken" },
      spec: {
        overrideRules: [
          {
            targetCluster: { clusterNames: ["m1"] },
            overriders: { plaintext: [{ path: "/spec/none/at/all", operator: "remove" }] },
          },
        ],
      },
    });
    await bound(fleet, "web", on("m1", "m2"));
    await fleet.advance("10m");
    expect(await workNames(fleet)).toEqual(["m2/web"]);
    expect(await eventReasons(fleet, "Deployment")).toEqual(["ApplyOverridePolicyFailed"]);
    await fleet.plane.delete(clusterOverridePolicies, { namespace: "", name: "broken" });
    await fleet.settle();
    expect(await workNames(fleet)).toEqual(["m1/web", "m2/web"]);
  });

  it("makes up for an execution namespace and a Cluster that come late", async () => {
    fleet = await bindingFleet(["m1"]);
    await fleet.addMember("m2");
    await bound(fleet, "web", on("m1", "m2"));
    expect(await workNames(fleet)).toEqual(["m1/web"]);
    await fleet.join("m2");
    await fleet.settle();
    expect(await eventReasons(fleet, "ResourceBinding")).toContain("SyncWorkFailed");
    await fleet.plane.create(resources.namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "karmada-es-m2" },
    });
    await fleet.advance("1m");
    expect(await workNames(fleet)).toEqual(["m1/web", "m2/web"]);
  });

  it("makes a Work again that was deleted", async () => {
    fleet = await bindingFleet(["m1"]);
    await bound(fleet, "web", on("m1"));
    await fleet.advance("1s");
    const work = await workIn("m1");
    await fleet.plane.delete(works, {
      namespace: "karmada-es-m1",
      name: work?.metadata.name ?? "",
    });
    await fleet.settle();
    expect(await workNames(fleet)).toEqual(["-m1/web"]);
    await finishWorks(fleet);
    expect(await workNames(fleet)).toEqual(["m1/web"]);
    expect((await workIn("m1"))?.metadata.uid).not.toBe(work?.metadata.uid);
  });
});

describe("removing", () => {
  it("takes a cluster's Work away, without preserving it, once another copy is healthy", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await bound(fleet, "web", { ...on("m1"), preserveResourcesOnDeletion: true });
    await reportHealthy(fleet, "m1");
    await change(fleet, "web", on("m2"));
    expect(await workNames(fleet)).toEqual(["m1/web", "m2/web"]);
    expect(await eventReasons(fleet, "ResourceBinding")).toContain("LastHealthyCopyKept");
    await fleet.restart();
    await reportHealthy(fleet, "m2");
    expect(await workNames(fleet)).toEqual(["-m1/web", "m2/web"]);
    expect((await workIn("m1"))?.spec.preserveResourcesOnDeletion).toBe(false);
    expect((await workIn("m2"))?.spec.preserveResourcesOnDeletion).toBe(true);
  });

  it("with mode Directly makes the new copy only when the old Work is gone", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await bound(fleet, "web", { ...on("m1"), preserveResourcesOnDeletion: true });
    await reportHealthy(fleet, "m1");
    await change(fleet, "web", {
      ...on("m2"),
      gracefulEvictionTasks: [task("m1", "Directly")],
    });
    expect(await workNames(fleet)).toEqual(["-m1/web"]);
    expect(await workIn("m1")).toMatchObject({
      metadata: { annotations: { "lifeboat.dev/purge-mode": "Directly" } },
      spec: { preserveResourcesOnDeletion: false },
    });
    await fleet.restart();
    await fleet.advance("10m");
    expect(await workNames(fleet)).toEqual(["-m1/web"]);
    await finishWorks(fleet);
    expect(await workNames(fleet)).toEqual(["m2/web"]);
  });

  it("freezes the Work of a graceful eviction until its task is gone", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await bound(fleet, "web", on("m1"));
    await change(fleet, "web", { ...on("m2"), gracefulEvictionTasks: [task("m1", "Gracefully")] });
    const frozen = (await workIn("m1"))?.spec;
    const template = await fleet.plane.get(resources.deployments, WEB);
    const metadata = { ...template.metadata, labels: { version: "two" } };
    await fleet.plane.update(resources.deployments, { ...template, metadata });
    await fleet.settle();
    expect((await workIn("m1"))?.spec).toEqual(frozen);
    expect(manifestOf(await workIn("m2"))).toMatchObject({
      metadata: { labels: { version: "two" } },
    });
    await change(fleet, "web", { gracefulEvictionTasks: [] });
    expect(await workNames(fleet)).toEqual(["-m1/web", "m2/web"]);
  });

  it("removes all Works with the template and lets the binding go when they are gone", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await bound(fleet, "web", { ...on("m1", "m2"), preserveResourcesOnDeletion: true });
    await deleteTemplate(fleet, "web");
    expect(await workNames(fleet)).toEqual(["-m1/web", "-m2/web"]);
    expect((await workIn("m1"))?.spec.preserveResourcesOnDeletion).toBe(true);
    expect((await fleet.plane.list(resourceBindings)).items).toHaveLength(1);
    await fleet.restart();
    await finishWorks(fleet);
    expect(await allWorks(fleet)).toEqual([]);
    expect((await fleet.plane.list(resourceBindings)).items).toEqual([]);
  });

  it("touches nothing for a binding whose template is another object of the same name", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    const template = await fleet.plane.create(resources.deployments, deployment("web"));
    const binding = bindingOf(template, on("m1"));
    const resource = { ...binding.spec.resource, uid: "another" };
    await fleet.plane.create(resourceBindings, { ...binding, spec: { ...binding.spec, resource } });
    await fleet.advance("1m");
    expect(await workNames(fleet)).toEqual([]);
  });

  it("removes the Works of a Cluster that is gone, and keeps on serving the others", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await bound(fleet, "web", on("m1", "m2"));
    await fleet.plane.delete(clusters, { namespace: "", name: "m2" });
    await fleet.settle();
    await change(fleet, "web", on("m1"));
    expect(await workNames(fleet)).toEqual(["-m2/web", "m1/web"]);
    expect(await fleet.plane.get(resourceBindings, BINDING)).toMatchObject({ spec: on("m1") });
  });
});

describe("the brake", () => {
  it("stops a mass removal, over a restart too, until a person releases it", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    const names = Array.from({ length: 15 }, (_, i) => `w${i}`);
    for (const name of names) await bound(fleet, name, on("m1", "m2"));
    for (const name of names) await change(fleet, name, { clusters: [] });
    const counts = async (): Promise<readonly number[]> => {
      const all = await workNames(fleet);
      return [all.filter((name) => !name.startsWith("-")).length, all.length];
    };
    expect(await counts()).toEqual([10, 30]);
    await fleet.restart();
    await fleet.advance("10m");
    expect(await counts()).toEqual([10, 30]);
    const budget = await fleet.plane.get(evacuationBudgets, { namespace: "", name: "fleet" });
    const spec = { ...budget.spec, brakeReleasedAt: formatTime(fleet.clock.now()) };
    await fleet.plane.update(evacuationBudgets, { ...budget, spec });
    await fleet.settle();
    expect(await counts()).toEqual([0, 30]);
  });

  it("does not stop what follows from deleting templates", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    const names = Array.from({ length: 15 }, (_, i) => `w${i}`);
    for (const name of names) await bound(fleet, name, on("m1", "m2"));
    for (const name of names)
      await fleet.plane.delete(resources.deployments, { namespace: "default", name });
    await fleet.settle();
    expect((await workNames(fleet)).filter((name) => !name.startsWith("-"))).toEqual([]);
  });
});

describe("followers", () => {
  it("stay where their workload's Work is, and leave after it", async () => {
    fleet = await bindingFleet(["m1", "m2"]);
    await bound(fleet, "web", on("m1"));
    const config = await fleet.plane.create(resources.configMaps, configMap("settings"));
    const requiredBy = (...names: string[]) => [{ ...BINDING, ...on(...names) }];
    const follower = await fleet.plane.create(
      resourceBindings,
      bindingOf(config, { requiredBy: requiredBy("m1") }),
    );
    await fleet.settle();
    await change(fleet, "web", on("m2"));
    const spec = { ...follower.spec, requiredBy: requiredBy("m2") };
    await fleet.plane.update(resourceBindings, { ...follower, spec });
    await fleet.settle();
    expect(await workNames(fleet)).toEqual(["-m1/web", "m1/settings", "m2/settings", "m2/web"]);
    await finishWorks(fleet);
    expect(await workNames(fleet)).toEqual(["-m1/settings", "m2/settings", "m2/web"]);
  });
});

describe("other views", () => {
  it("serves ClusterResourceBindings alike", async () => {
    fleet = await bindingFleet(["m1"]);
    const template = await fleet.plane.create(resources.namespaces, newNamespace("team"));
    const { spec, ...rest } = bindingOf(template, on("m1"));
    const { namespace: _, ...reference } = spec.resource;
    await fleet.plane.create(clusterResourceBindings, {
      ...rest,
      kind: "ClusterResourceBinding",
      metadata: { name: "team-namespace" },
      spec: { ...spec, resource: reference },
    });
    await fleet.settle();
    expect(await workNames(fleet)).toEqual(["m1/team"]);
    await fleet.plane.delete(clusterResourceBindings, { namespace: "", name: "team-namespace" });
    await fleet.settle();
    await finishWorks(fleet);
    expect(await workNames(fleet)).toEqual([]);
    expect((await fleet.plane.list(clusterResourceBindings)).items).toEqual([]);
  });

  it("removes nothing that was decided on a binding of before", async () => {
    let isAhead = false;
    fleet = await bindingFleet(["m1", "m2"], (plane) =>
      wrapped(plane, {
        get: async (...given) => {
          const found = await plane.get(...given);
          if (!isAhead || given[0].plural !== "resourcebindings") return found;
          return { ...found, metadata: { ...found.metadata, generation: 99 } };
        },
      }),
    );
    await bound(fleet, "web", on("m1", "m2"));
    isAhead = true;
    await change(fleet, "web", on("m1"));
    await fleet.advance("1m");
    expect(await workNames(fleet)).toEqual(["m1/web", "m2/web"]);
    isAhead = false;
    await fleet.advance("2s");
    expect(await workNames(fleet)).toEqual(["-m2/web", "m1/web"]);
  });

  it("takes the replicas of a script, and tries again when the script is another", async () => {
    let isBroken = true;
    let changed: ((apiVersion: string, kind: string) => void) | undefined;
    fleet = await createFleet({
      members: ["m1"],
      memberModel: false,
      services,
      interpretation: () => ({
        ...builtinInterpretation,
        name: "scripts",
        run: (signal) =>
          new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
        isCustomized: (_apiVersion, _kind, operation) => operation === "reviseReplicas",
        reviseReplicas: (object, replicas) =>
          isBroken
            ? Promise.reject(new InterpretationFailed("the script has no answer"))
            : Promise.resolve({ ...object, spec: { size: replicas } }),
        onChange: (handler) => {
          changed = handler;
          return () => {};
        },
      }),
    });
    await fleet.plane.create(resources.namespaces, newNamespace("karmada-es-m1"));
    await bound(fleet, "web", { replicas: 3, clusters: [{ name: "m1", replicas: 3 }] });
    expect(await workNames(fleet)).toEqual([]);
    expect(await eventReasons(fleet, "ResourceBinding")).toEqual(["SyncWorkFailed"]);
    isBroken = false;
    changed?.("apps/v1", "Deployment");
    await fleet.settle();
    expect(manifestOf(await workIn("m1"))).toMatchObject({ spec: { size: 3 } });
  });
});
