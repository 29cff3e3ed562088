/** Status back against the real API server: the tests play the detector, the scheduler and execution. */
import {
  type AnyObject,
  clusterResourceBindings,
  clusters,
  findCondition,
  type New,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import type { Service } from "@lifeboat/kit";
import {
  createFleet,
  deployment,
  type Fleet,
  type FleetOptions,
  namespace,
  newCluster,
  reasonsAbout,
  resources,
} from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { builtinInterpretation, InterpretationFailed } from "../../context/interpretation.ts";
import { createBindingStatus } from "./create-binding-status.ts";

const KEY = { namespace: "default", name: "web-deployment" };
const TEMPLATE = { namespace: "default", name: "web" };

/** An interpretation that runs nothing. */
const idle: Service = {
  name: "interpretation",
  run: (signal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    }),
};

let fleet: Fleet;

async function open(options: FleetOptions = {}): Promise<void> {
  fleet = await createFleet({ services: createBindingStatus, ...options });
  for (const name of ["m1", "m2"])
    await fleet.plane.create(resources.namespaces, namespace(`karmada-es-${name}`));
}

afterEach(() => fleet.close());

function newBinding({ apiVersion, kind, metadata }: AnyObject, clusters: readonly string[]) {
  const { name, namespace: home, uid, resourceVersion } = metadata;
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: home === undefined ? "ClusterResourceBinding" : "ResourceBinding",
    metadata: { ...(home && { namespace: home }), name: `${name}-${kind}`.toLowerCase() },
    spec: {
      resource: { apiVersion, kind, ...(home && { namespace: home }), name, uid, resourceVersion },
      clusters: clusters.map((cluster) => ({ name: cluster })),
      conflictResolution: "Abort",
    },
  } satisfies New<ResourceBinding>;
}

/** A Deployment of two replicas, bound to these clusters. */
async function bound(...clusters: readonly string[]): Promise<ResourceBinding> {
  const template = await fleet.plane.create(
    resources.deployments,
    deployment("web", { replicas: 2 }),
  );
  const binding = await fleet.plane.create(resourceBindings, newBinding(template, clusters));
  await fleet.settle();
  return binding;
}

async function newWork(cluster: string, { metadata }: ResourceBinding): Promise<Work> {
  const work = await fleet.plane.create(works, {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      namespace: `karmada-es-${cluster}`,
      name: "web-1",
      ...(metadata.labels && { labels: metadata.labels }),
    },
    spec: {},
  });
  await fleet.settle();
  return work;
}

interface Report {
  readonly health?: "Healthy" | "Unhealthy";
  readonly applied?: "True" | "False";
  readonly status?: Readonly<Record<string, unknown>>;
}

/** What execution would write about the Work in a cluster. */
async function report(cluster: string, { health, applied = "True", status }: Report) {
  const work = await fleet.plane.get(works, { namespace: `karmada-es-${cluster}`, name: "web-1" });
  const { generation = 0 } = work.metadata;
  const condition = (type: string, value: "True" | "False") => ({
    type,
    status: value,
    reason: "Test",
    message: value === "True" ? "" : "denied by a webhook",
    observedGeneration: generation,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  const identifier = { ordinal: 0, version: "v1", kind: "Deployment", resource: "", name: "web" };
  await fleet.plane.update(
    works,
    {
      ...work,
      status: {
        conditions: [condition("Applied", applied), condition("StatusObserved", "True")],
        manifestStatuses: [{ identifier, ...(status && { status }), ...(health && { health }) }],
      },
    },
    { subresource: "status" },
  );
  await fleet.settle();
}

function counters(ready: number, generation = 1): Readonly<Record<string, unknown>> {
  const seen = { generation: 1, observedGeneration: 1, resourceTemplateGeneration: generation };
  if (ready === 0) return { ...seen, replicas: 2, updatedReplicas: 2 };
  return {
    ...seen,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: ready,
    availableReplicas: ready,
  };
}

async function fullyApplied(): Promise<string | undefined> {
  const { status } = await fleet.plane.get(resourceBindings, KEY);
  return findCondition(status?.conditions, "FullyApplied")?.status;
}

async function templateStatus(): Promise<unknown> {
  return (await fleet.plane.get(resources.deployments, TEMPLATE))["status"];
}

async function versions(): Promise<readonly string[]> {
  const binding = await fleet.plane.get(resourceBindings, KEY);
  const template = await fleet.plane.get(resources.deployments, TEMPLATE);
  return [binding.metadata.resourceVersion, template.metadata.resourceVersion];
}

/** How often binding and template were written while something ran. */
async function writesDuring(
  run: () => Promise<void>,
): Promise<{ binding: number; template: number }> {
  const writes = { binding: 0, template: 0 };
  const count = (kind: keyof typeof writes) => ({
    event: ({ type }: { readonly type: string }) => {
      if (type === "MODIFIED") writes[kind] += 1;
    },
    end: () => {},
  });
  const [binding = "", template = ""] = await versions();
  const watches = [
    fleet.plane.watch(resourceBindings, { resourceVersion: binding }, count("binding")),
    fleet.plane.watch(resources.deployments, { resourceVersion: template }, count("template")),
  ];
  await run();
  await fleet.settle();
  for (const watch of watches) watch.stop();
  return writes;
}

/** What a probe found, and when that last turned. */
async function probed(name: string, ready: "True" | "False", at: string, reason = "R") {
  const key = { namespace: "", name };
  const found = await fleet.plane.list(clusters);
  const cluster =
    found.items.find(({ metadata }) => metadata.name === name) ??
    (await fleet.plane.create(clusters, newCluster(name)));
  const others = (cluster.status?.conditions ?? []).filter(({ type }) => type !== "Ready");
  const condition = { type: "Ready", status: ready, reason, message: reason } as const;
  const conditions = [...others, { ...condition, lastTransitionTime: at }];
  const latest = await fleet.plane.get(clusters, key);
  await fleet.plane.update(
    clusters,
    { ...latest, status: { ...latest.status, conditions } },
    { subresource: "status" },
  );
}

describe("17.15: the status of copies in a cluster that is not Ready", () => {
  const T1 = "2026-01-01T00:01:00Z";
  const T2 = "2026-01-01T00:05:00Z";
  const upToDate = (conditions: unknown) =>
    (conditions as readonly { readonly type: string }[] | undefined)?.find(
      ({ type }) => type === "StatusUpToDate",
    );
  const shown = async (): Promise<readonly unknown[]> => {
    const { status } = await fleet.plane.get(resourceBindings, KEY);
    const { conditions } = (await templateStatus()) as { readonly conditions?: unknown };
    return [upToDate(status?.conditions), upToDate(conditions)];
  };
  const healthyIn = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await probed(name, "True", "2026-01-01T00:00:00Z");
    const binding = await bound(...names);
    for (const name of names) {
      await newWork(name, binding);
      await report(name, { health: "Healthy", status: counters(2) });
    }
    await fleet.advance("2s");
  };

  it("is marked with the cluster and the time on binding and template, in one write each", async () => {
    await open();
    await healthyIn("m1", "m2");
    expect(await shown()).toEqual([undefined, undefined]);
    const before = await templateStatus();
    const turned = async (ready: "True" | "False", at: string) => {
      await probed("m1", ready, at);
      await fleet.advance("3s");
    };
    const writes = await writesDuring(() => turned("False", T1));
    expect(writes).toEqual({ binding: 1, template: 1 });
    const mark = {
      status: "False",
      reason: "ClusterNotReady",
      message: `The status of copies may be outdated in clusters that are not Ready: m1 (since ${T1}).`,
    };
    expect(await shown()).toMatchObject([mark, mark]);
    expect(await templateStatus()).toMatchObject({ readyReplicas: 4 });
    const atRest = await writesDuring(async () => {
      await probed("m1", "False", T1, "AnotherReason");
      await fleet.restart();
      await fleet.advance("5m");
    });
    expect(atRest).toEqual({ binding: 0, template: 0 });
    const after = await writesDuring(() => turned("True", T2));
    expect(after).toEqual({ binding: 1, template: 1 });
    expect(await shown()).toEqual([undefined, undefined]);
    expect(await templateStatus()).toEqual(before);
  });

  it("is no longer marked when the copy is gone", async () => {
    await open();
    await healthyIn("m1", "m2");
    await probed("m1", "False", T1);
    await fleet.advance("3s");
    expect(await shown()).not.toContain(undefined);
    await fleet.plane.delete(works, { namespace: "karmada-es-m1", name: "web-1" });
    await fleet.advance("2s");
    expect(await shown()).toEqual([undefined, undefined]);
  });

  it("is marked after a start that finds the cluster so", async () => {
    await open();
    await healthyIn("m1");
    // In the second in which it is gathered.
    await probed("m1", "False", T1);
    await fleet.restart();
    await fleet.advance("3s");
    const [binding, template] = await shown();
    expect(binding).toMatchObject({ status: "False" });
    expect(template).toMatchObject({ status: "False" });
  });
});

describe("the status of copies", () => {
  it("comes back to the binding and the template", async () => {
    await open();
    const binding = await bound("m1", "m2");
    await newWork("m1", binding);
    await newWork("m2", binding);
    await report("m1", { health: "Healthy", status: counters(2) });
    await fleet.advance("2s");
    expect(await fullyApplied()).toBe("False");
    expect(await templateStatus()).toMatchObject({ readyReplicas: 2 });
    await report("m2", { health: "Healthy", status: counters(2) });
    const { status } = await fleet.plane.get(resourceBindings, KEY);
    expect(status?.aggregatedStatus).toEqual([
      { clusterName: "m1", applied: true, health: "Healthy", status: counters(2) },
      { clusterName: "m2", applied: true, health: "Healthy", status: counters(2) },
    ]);
    expect(await fullyApplied()).toBe("True");
    expect(await templateStatus()).toMatchObject({
      observedGeneration: 1,
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
    });
    expect(await reasonsAbout(fleet.plane, "web-deployment")).toContain("AggregateStatusSucceed");
    expect(await reasonsAbout(fleet.plane, "web")).toContain("AggregateStatusSucceed");
  });

  it("reports that nothing is observed before every cluster has the template's generation", async () => {
    await open();
    const binding = await bound("m1", "m2");
    expect(await templateStatus()).not.toHaveProperty("observedGeneration");
    await newWork("m1", binding);
    await report("m1", { health: "Healthy", status: counters(2) });
    expect(await templateStatus()).not.toHaveProperty("observedGeneration");
    await newWork("m2", binding);
    await report("m2", { health: "Healthy", status: counters(2) });
    expect(await templateStatus()).toMatchObject({ observedGeneration: 1 });
    const template = await fleet.plane.get(resources.deployments, TEMPLATE);
    const spec = { ...(template["spec"] as object), replicas: 3 };
    await fleet.plane.update(resources.deployments, { ...template, spec });
    await report("m1", { health: "Healthy", status: counters(2, 2) });
    await fleet.advance("2s");
    expect(await templateStatus()).toMatchObject({ observedGeneration: 1 });
    await report("m2", { health: "Healthy", status: counters(2, 2) });
    await fleet.advance("2s");
    expect(await templateStatus()).toMatchObject({ observedGeneration: 2 });
  });

  it("is of unknown health while the Work is newer than what was reported", async () => {
    await open();
    const binding = await bound("m1");
    await newWork("m1", binding);
    await report("m1", { health: "Healthy", status: counters(2) });
    const work = await fleet.plane.get(works, { namespace: "karmada-es-m1", name: "web-1" });
    await fleet.plane.update(works, { ...work, spec: { suspendDispatching: true } });
    await fleet.settle();
    const { status } = await fleet.plane.get(resourceBindings, KEY);
    expect(status?.aggregatedStatus).toMatchObject([{ applied: true, health: "Unknown" }]);
  });

  it("reports why a member refused", async () => {
    await open();
    await newWork("m1", await bound("m1"));
    await report("m1", { applied: "False" });
    const { status } = await fleet.plane.get(resourceBindings, KEY);
    expect(status?.aggregatedStatus).toEqual([
      {
        clusterName: "m1",
        applied: false,
        appliedMessage: "denied by a webhook",
        health: "Unknown",
      },
    ]);
    expect(await fullyApplied()).toBe("False");
  });

  it("goes with the Work", async () => {
    await open();
    const binding = await bound("m1");
    await newWork("m1", binding);
    await report("m1", { health: "Healthy", status: counters(2) });
    await fleet.plane.delete(works, { namespace: "karmada-es-m1", name: "web-1" });
    await fleet.settle();
    const { status } = await fleet.plane.get(resourceBindings, KEY);
    expect(status?.aggregatedStatus).toEqual([]);
    expect(await fullyApplied()).toBe("False");
    expect(await templateStatus()).not.toHaveProperty("readyReplicas");
  });

  it("comes back to objects without a namespace, whose kind has no status of ours", async () => {
    await open();
    const template = await fleet.plane.create(resources.namespaces, namespace("team"));
    const binding = await fleet.plane.create(clusterResourceBindings, newBinding(template, ["m1"]));
    await newWork("m1", binding);
    await report("m1", { health: "Healthy", status: { phase: "Active" } });
    const key = { namespace: "", name: "team-namespace" };
    const { status } = await fleet.plane.get(clusterResourceBindings, key);
    expect(status?.aggregatedStatus).toMatchObject([{ clusterName: "m1", health: "Healthy" }]);
  });

  it("is not written on another object of the template's name", async () => {
    await open();
    const binding = await bound("m1");
    await newWork("m1", binding);
    await fleet.plane.delete(resources.deployments, TEMPLATE);
    await fleet.plane.create(resources.deployments, deployment("web", { replicas: 2 }));
    await report("m1", { health: "Healthy", status: counters(2) });
    await fleet.advance("5s");
    expect(await templateStatus()).not.toHaveProperty("readyReplicas");
  });

  it("is put right when another writer changes the template's status", async () => {
    await open();
    await newWork("m1", await bound("m1"));
    await report("m1", { health: "Healthy", status: counters(2) });
    const template = await fleet.plane.get(resources.deployments, TEMPLATE);
    const status = { replicas: 99, observedGeneration: 1 };
    await fleet.plane.update(
      resources.deployments,
      { ...template, status },
      { subresource: "status" },
    );
    await fleet.advance("1s");
    expect(await templateStatus()).toMatchObject({ replicas: 2, readyReplicas: 2 });
  });
});

describe("the economy of writes", () => {
  it("writes counters of a rollout at most once a second, and the end at once", async () => {
    await open();
    const binding = await bound("m1");
    await newWork("m1", binding);
    await report("m1", { health: "Unhealthy", status: counters(0) });
    await fleet.advance("5s");
    const writes = await writesDuring(async () => {
      for (let i = 0; i < 50; i += 1) {
        await report("m1", { health: "Unhealthy", status: { ...counters(1), replicas: 10 + i } });
        await fleet.advance(40);
      }
    });
    expect(writes.binding).toBeLessThanOrEqual(3);
    expect(writes.template).toBeLessThanOrEqual(3);
    expect(writes.binding).toBeGreaterThanOrEqual(1);
    await report("m1", { health: "Healthy", status: counters(2) });
    expect(await templateStatus()).toMatchObject({ replicas: 2, readyReplicas: 2 });
  });

  it("writes the last counters also when nothing follows", async () => {
    await open();
    await newWork("m1", await bound("m1"));
    await report("m1", { health: "Unhealthy", status: counters(0) });
    await report("m1", { health: "Unhealthy", status: counters(1) });
    await fleet.advance("2s");
    expect(await templateStatus()).toMatchObject({ readyReplicas: 1 });
  });

  it("brings a workload to two clusters in few writes", async () => {
    await open();
    const binding = await bound("m1", "m2");
    const writes = await writesDuring(async () => {
      const clusters = ["m1", "m2"];
      for (const cluster of clusters) await newWork(cluster, binding);
      for (const cluster of clusters) await report(cluster, {});
      for (const cluster of clusters)
        await report(cluster, { health: "Unhealthy", status: counters(0) });
      for (const cluster of clusters)
        await report(cluster, { health: "Healthy", status: counters(2) });
    });
    // That both are applied, and that both are healthy.
    expect(writes).toEqual({ binding: 2, template: 1 });
  });

  it("writes nothing at rest, neither by time nor by a restart", async () => {
    await open();
    const binding = await bound("m1", "m2");
    for (const cluster of ["m1", "m2"]) {
      await newWork(cluster, binding);
      await report(cluster, { health: "Healthy", status: counters(2) });
    }
    await fleet.advance("5s");
    const before = await versions();
    await fleet.advance("10m");
    await fleet.restart();
    await fleet.advance("10m");
    expect(await versions()).toEqual(before);
  });

  it.each(["binding", "template"] as const)(
    "does not dispute with another plane about a %s faster than once a second",
    async (what) => {
      await open();
      await newWork("m1", await bound("m1"));
      await report("m1", { health: "Healthy", status: counters(2) });
      await fleet.advance("5s");
      const resource = what === "binding" ? resourceBindings : resources.deployments;
      const key = what === "binding" ? KEY : TEMPLATE;
      let disputes = 0;
      const contradict = async (): Promise<void> => {
        disputes += 1;
        const now: AnyObject = await fleet.plane.get(resource as Resource, key);
        const status = what === "binding" ? { ...(now["status"] as object) } : {};
        const other = { ...now, status: { ...status, aggregatedStatus: [] } };
        const options = { subresource: "status" };
        await fleet.plane.update(resource as Resource, other, options).catch(() => undefined);
      };
      const [binding = "", template = ""] = await versions();
      const isRight = (object: AnyObject): boolean => {
        const { aggregatedStatus, readyReplicas } = (object["status"] ?? {}) as {
          readonly aggregatedStatus?: readonly unknown[];
          readonly readyReplicas?: number;
        };
        return what === "binding" ? aggregatedStatus?.length === 1 : readyReplicas === 2;
      };
      const watch = fleet.plane.watch(
        resource as Resource,
        { resourceVersion: what === "binding" ? binding : template },
        {
          event: (event) => {
            if (event.type === "MODIFIED" && isRight(event.object) && disputes < 50)
              void contradict();
          },
          end: () => {},
        },
      );
      await contradict();
      await fleet.advance("5s");
      watch.stop();
      expect(disputes).toBeGreaterThan(3);
      expect(disputes).toBeLessThan(10);
      await fleet.advance("2s");
      expect(await fullyApplied()).toBe("True");
      expect(await templateStatus()).toMatchObject({ readyReplicas: 2 });
    },
  );

  it("loses nothing that was held back by a crash", async () => {
    await open();
    await newWork("m1", await bound("m1"));
    await report("m1", { health: "Unhealthy", status: counters(0) });
    await report("m1", { health: "Unhealthy", status: counters(1) });
    await fleet.restart();
    await fleet.advance("2s");
    expect(await templateStatus()).toMatchObject({ readyReplicas: 1 });
  });
});

describe("what cannot be aggregated", () => {
  it("is reported, leaves the binding right, and is tried again", async () => {
    let isBroken = true;
    await open({
      interpretation: () => ({
        ...builtinInterpretation,
        ...idle,
        aggregateStatus: (template, items) =>
          isBroken
            ? Promise.reject(new InterpretationFailed("no answer"))
            : builtinInterpretation.aggregateStatus(template, items),
      }),
    });
    await newWork("m1", await bound("m1"));
    await report("m1", { health: "Healthy", status: counters(2) });
    expect(await fullyApplied()).toBe("True");
    expect(await reasonsAbout(fleet.plane, "web")).toContain("AggregateStatusFailed");
    expect(await reasonsAbout(fleet.plane, "web-deployment")).toContain("AggregateStatusFailed");
    isBroken = false;
    await fleet.advance("10m");
    expect(await templateStatus()).toMatchObject({ readyReplicas: 2 });
  });

  it("is left alone when the template does not exist", async () => {
    await open();
    const ghost = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...TEMPLATE, uid: "u", resourceVersion: "1", creationTimestamp: "" },
    };
    const binding = await fleet.plane.create(resourceBindings, newBinding(ghost, ["m1"]));
    await newWork("m1", binding);
    await report("m1", { health: "Healthy", status: counters(2) });
    expect(await fullyApplied()).toBe("True");
  });
});
