/** Moving a control plane from one API server to another: what arrives, what is refused, and that a death at any write is repaired. */
import {
  type AnyObject,
  clusters,
  clusterTaintPolicies,
  configMaps,
  deployments,
  evacuationBudgets,
  evacuations,
  evacuationSlices,
  findCondition,
  type KubeObject,
  namespaces,
  type New,
  propagationPolicies,
  type Resource,
  resourceBindings,
  secrets,
  works,
} from "@lifeboat/api";
import { createRandom, createSeededIds } from "@lifeboat/base";
import { isHeldByRestore } from "@lifeboat/core/propagation/brake";
import { renderWork } from "@lifeboat/core/propagation/rendering";
import { type Client, leases, silentLog, silentMetrics } from "@lifeboat/kit";
import {
  createWorld,
  deployment,
  newCluster,
  newNamespace,
  newObject,
  type World,
  wrapped,
} from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installPlane } from "../install/install.ts";
import { MANAGER_LEASE } from "../manager.ts";
import { mutatingConfigurations } from "../webhook/resources.ts";
import { migrate } from "./migrate.ts";
import { MIGRATION_MARK, readMark, untilMovedIn } from "./mark.ts";
import { planMigration } from "./plan-migration.ts";

let source: World;
let target: World;
let runs = 0;

async function until<T>(working: Promise<T>): Promise<T> {
  const state = { hasEnded: false };
  const noted = working.finally(() => (state.hasEnded = true));
  noted.catch(() => undefined);
  while (!state.hasEnded) await source.advance("100ms");
  return noted;
}

function install(world: World): Promise<unknown> {
  const request = {
    version: "1.0.0",
    webhook: { url: "https://127.0.0.1:9" },
    dryRun: false,
    force: false,
  };
  return until(installPlane(world.clock, world.client, request, () => undefined));
}

beforeEach(async () => {
  source = await createWorld({ seed: 1 });
  target = await createWorld({ seed: 2, clock: source.clock });
  await install(source);
  await install(target);
});
afterEach(async () => {
  await source.close();
  await target.close();
});

const T = "2026-01-01T00:00:00Z";
const CLAIM = {
  labels: { "propagationpolicy.karmada.io/permanent-id": "p-1" },
  annotations: {
    "propagationpolicy.karmada.io/namespace": "shop",
    "propagationpolicy.karmada.io/name": "web",
  },
};

async function make<T extends KubeObject>(
  resource: Resource<T>,
  object: New<AnyObject>,
  status?: object,
): Promise<T> {
  const any = resource as unknown as Resource;
  const made = (await source.client.create(any, object)) as unknown as T;
  if (status === undefined) return made;
  return source.client.update(resource, { ...made, status }, { subresource: "status" });
}

const condition = (type: string, observedGeneration: number): object => ({
  type,
  status: "True",
  reason: "Ok",
  message: "",
  lastTransitionTime: T,
  observedGeneration,
});

interface Made {
  readonly template: AnyObject;
  readonly work: AnyObject;
}

/** One workload in one cluster that is being evacuated, with everything that names something else by its uid. */
async function furnish(): Promise<Made> {
  await make(namespaces, newNamespace("shop"));
  await make(namespaces, newNamespace("karmada-es-m1"));
  const policy = await make(clusterTaintPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "default-not-ready" },
    spec: { matchConditions: [], taintsToAdd: [{ key: "a", effect: "NoSchedule" }] },
  });
  const cluster = await make(
    clusters,
    {
      ...newCluster("m1"),
      metadata: {
        name: "m1",
        annotations: {
          "lifeboat.dev/taint-policies": JSON.stringify({ [policy.metadata.uid]: {} }),
        },
      },
    },
    { conditions: [condition("Ready", 1)] },
  );
  const owner = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    name: "m1",
    uid: cluster.metadata.uid,
  };
  await make(secrets, {
    ...newObject(
      secrets,
      { name: "m1", namespace: "karmada-cluster" },
      { data: { token: "dA==" } },
    ),
    metadata: { name: "m1", namespace: "karmada-cluster", ownerReferences: [owner] },
  });
  await make(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "web", namespace: "shop", labels: CLAIM.labels },
    spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }] },
  });
  const first = await make(deployments, {
    ...deployment("web"),
    metadata: { name: "web", namespace: "shop", ...CLAIM },
  });
  // A second generation.
  const template = await source.client.update(deployments, {
    ...first,
    spec: { ...(first["spec"] as object), replicas: 5 },
  });
  const binding = await make(
    resourceBindings,
    {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: {
        name: "web-deployment",
        namespace: "shop",
        labels: { ...CLAIM.labels, "resourcebinding.karmada.io/permanent-id": "b-1" },
        finalizers: ["karmada.io/binding-controller"],
        ownerReferences: [
          {
            apiVersion: "apps/v1",
            kind: "Deployment",
            name: "web",
            uid: template.metadata.uid,
            controller: true,
          },
        ],
      },
      spec: {
        resource: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          namespace: "shop",
          name: "web",
          uid: template.metadata.uid,
        },
        replicas: 5,
        clusters: [{ name: "m1", replicas: 5 }],
      },
    },
    { schedulerObservedGeneration: 1 },
  );
  const work = await make(works, workOf(template, binding, cluster), {
    conditions: [condition("Applied", 1), condition("StatusObserved", 0)],
  });
  await source.client.patch(works, keyOfWork, {
    type: "merge",
    body: { metadata: { annotations: { "lifeboat.dev/endorsed": work.metadata.uid } } },
  });
  const evacuation = await make(evacuations, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "m1-1" },
    spec: { cluster: "m1" },
  });
  await make(evacuationSlices, sliceOf(evacuation.metadata.uid, binding.metadata.uid));
  await source.client.patch(
    resourceBindings,
    { namespace: "shop", name: "web-deployment" },
    {
      type: "merge",
      body: { metadata: { annotations: { "lifeboat.dev/evicted-for": evacuation.metadata.uid } } },
    },
  );
  return { template, work: (await source.client.get(works, keyOfWork)) as unknown as AnyObject };
}

const keyOfWork = { namespace: "karmada-es-m1", name: "web-5676898c7d" };

function workOf(template: AnyObject, binding: KubeObject, cluster: KubeObject): New<AnyObject> {
  const rendered = renderWork({
    template,
    binding,
    cluster,
    clusterOverridePolicies: [],
    overridePolicies: [],
    workId: "w-1",
  });
  if (rendered.outcome !== "rendered") throw new Error(rendered.message);
  return { ...rendered.work, metadata: { ...rendered.work.metadata, name: keyOfWork.name } };
}

function sliceOf(evacuation: string, binding: string): New<AnyObject> {
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationSlice",
    metadata: {
      name: "m1-1-0",
      ownerReferences: [
        { apiVersion: "lifeboat.dev/v1alpha1", kind: "Evacuation", name: "m1-1", uid: evacuation },
      ],
    },
    spec: {
      evacuation: "m1-1",
      taint: { key: "a", effect: "NoExecute" },
      ordinal: 0,
      entries: [
        {
          binding: {
            kind: "ResourceBinding",
            namespace: "shop",
            name: "web-deployment",
            uid: binding,
          },
          resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          lane: "Workload",
          result: "m1",
          purgeMode: "Gracefully",
        },
      ],
    },
  };
}

function ports(): Parameters<typeof migrate>[0] {
  const random = createRandom(7).fork(String(runs++));
  return {
    clock: source.clock,
    random,
    ids: createSeededIds(random.fork("ids")),
    log: silentLog,
    metrics: silentMetrics,
  };
}

async function move(client: Client = target.client): Promise<void> {
  const plan = await until(planMigration(source.clock, source.client, target.client));
  await until(migrate(ports(), client, plan, { identity: "test", tell: () => undefined }));
}

const MANIFESTS = (work: { readonly spec: unknown }): string => JSON.stringify(work.spec);

async function expectMoved({ template, work }: Made): Promise<void> {
  const { client } = target;
  const cluster = await client.get(clusters, { namespace: "", name: "m1" });
  const moved = await client.get(deployments, { namespace: "shop", name: "web" });
  const binding = await client.get(resourceBindings, { namespace: "shop", name: "web-deployment" });
  const after = await client.get(works, keyOfWork);
  const policy = await client.get(clusterTaintPolicies, {
    namespace: "",
    name: "default-not-ready",
  });
  const slice = await client.get(evacuationSlices, { namespace: "", name: "m1-1-0" });
  const evacuation = await client.get(evacuations, { namespace: "", name: "m1-1" });
  const secret = await client.get(secrets, { namespace: "karmada-cluster", name: "m1" });
  expect(moved.metadata.uid).not.toBe(template.metadata.uid);
  expect(MANIFESTS(after)).toBe(MANIFESTS(work as unknown as { spec: unknown }));
  expect(MANIFESTS(workOf(moved, binding, cluster) as unknown as { spec: unknown })).toBe(
    MANIFESTS(after),
  );
  expect(binding).toMatchObject({
    metadata: {
      finalizers: ["karmada.io/binding-controller"],
      ownerReferences: [{ uid: moved.metadata.uid }],
      annotations: { "lifeboat.dev/evicted-for": evacuation.metadata.uid },
    },
    spec: { resource: { uid: moved.metadata.uid } },
    status: { schedulerObservedGeneration: binding.metadata.generation },
  });
  expect(after.metadata.annotations?.["lifeboat.dev/endorsed"]).toBe(after.metadata.uid);
  const { generation } = after.metadata;
  expect(findCondition(after.status?.conditions, "Applied")).toMatchObject({
    observedGeneration: generation,
  });
  expect(findCondition(after.status?.conditions, "StatusObserved")).toMatchObject({
    observedGeneration: 0,
  });
  expect(cluster.metadata.annotations?.["lifeboat.dev/taint-policies"]).toBe(
    JSON.stringify({ [policy.metadata.uid]: {} }),
  );
  expect(cluster.status?.conditions).toHaveLength(1);
  expect(secret.metadata.ownerReferences).toMatchObject([{ uid: cluster.metadata.uid }]);
  expect(slice).toMatchObject({ spec: { entries: [{ binding: { uid: binding.metadata.uid } }] } });
  const record = await client.get(evacuationBudgets, { namespace: "", name: "fleet" });
  expect(isHeldByRestore(record, source.clock.now())).toBe(true);
  expect(await readMark(client)).toMatchObject({ phase: "Done" });
  const { webhooks = [] } = await client.get(mutatingConfigurations, {
    namespace: "",
    name: "lifeboat",
  });
  expect(JSON.stringify(webhooks)).not.toContain("not-while-moving");
}

describe("moving", () => {
  it("carries everything over, so that the same Works follow from it", async () => {
    const made = await furnish();
    await move();
    await expectMoved(made);
    const lease = await target.client.get(leases, MANAGER_LEASE);
    expect(lease.spec?.holderIdentity ?? "").toBe("");
  });

  it("is completed by another run after a death at any write", async () => {
    const made = await furnish();
    let deaths = 0;
    for (; ; deaths++) {
      if (deaths > 200) throw new Error("it never ends");
      const allowed = 1 + (deaths % 10);
      let writes = 0;
      const dying =
        <A extends readonly unknown[], R>(send: (...given: A) => Promise<R>) =>
        async (...given: A): Promise<R> => {
          if (isLease(given[0])) return send(...given);
          if (writes === allowed) throw new Error("died");
          writes++;
          return send(...given);
        };
      const { client } = target;
      const mortal = wrapped(client, {
        create: dying(client.create.bind(client)) as Client["create"],
        update: dying(client.update.bind(client)),
        patch: dying(client.patch.bind(client)),
      });
      try {
        await move(mortal);
        break;
      } catch (error) {
        if (!(error instanceof Error) || error.message !== "died") throw error;
      }
      expect(await readMark(target.client)).not.toMatchObject({ phase: "Done" });
    }
    await expectMoved(made);
    expect(deaths).toBeGreaterThan(5);
  });

  it("changes nothing when it is repeated", async () => {
    await furnish();
    await move();
    const before = await target.client.list(works);
    const plan = await until(planMigration(source.clock, source.client, target.client));
    expect(plan.mark?.phase).toBe("Done");
    await until(migrate(ports(), target.client, plan, { identity: "test", tell: () => undefined }));
    expect((await target.client.list(works)).items).toEqual(before.items);
  });

  it("keeps controllers from running until it is complete", async () => {
    await furnish();
    const dead = wrapped(target.client, { update: () => Promise.reject(new Error("died")) });
    await expect(move(dead)).rejects.toThrow("died");
    const stop = new AbortController();
    const state = { mayRun: false };
    const waiting = untilMovedIn(ports(), target.client, stop.signal).then(
      (mayRun) => (state.mayRun = mayRun),
    );
    await source.advance("30s");
    expect(state.mayRun).toBe(false);
    await source.advance("1m");
    await move();
    await source.advance("2s");
    await waiting;
    expect(state.mayRun).toBe(true);
    await target.client.delete(configMaps, MIGRATION_MARK);
    expect(await untilMovedIn(ports(), target.client, stop.signal)).toBe(true);
  });
});

function isLease(resource: unknown): boolean {
  return (resource as { readonly kind?: string }).kind === "Lease";
}

describe("moving is refused", () => {
  const plan = (): Promise<unknown> =>
    until(planMigration(source.clock, source.client, target.client));

  it("while objects are being deleted", async () => {
    await furnish();
    await source.client.delete(resourceBindings, { namespace: "shop", name: "web-deployment" });
    await expect(plan()).rejects.toThrow("ResourceBinding shop/web-deployment");
  });

  it("while a manager leads on the target", async () => {
    const spec = {
      holderIdentity: "other",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseDurationSeconds: 15,
    };
    await target.client.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: MANAGER_LEASE,
      spec,
    });
    await expect(plan()).rejects.toThrow("other leads");
    await source.advance("1m");
    await expect(plan()).resolves.toBeDefined();
  });

  it("where another control plane is, or other objects have the names", async () => {
    await furnish();
    await target.client.create(namespaces, newNamespace("shop"));
    await expect(plan()).resolves.toBeDefined();
    await target.client.create(deployments, {
      ...deployment("web"),
      metadata: { name: "web", namespace: "shop" },
    } as New<AnyObject>);
    await expect(plan()).rejects.toThrow("Deployment shop/web");
    await target.client.delete(deployments, { namespace: "shop", name: "web" });
    await target.client.create(clusters, newCluster("other"));
    await expect(plan()).rejects.toThrow("Cluster other");
  });

  it("without the kinds of a control plane", async () => {
    const bare = await createWorld({ clock: source.clock });
    await expect(planMigration(source.clock, source.client, bare.client)).rejects.toThrow(
      "lifeboat install",
    );
    await bare.close();
  });

  it("of another state than the one that was begun with", async () => {
    await furnish();
    await move();
    await source.client.create(namespaces, newNamespace("later"));
    await expect(plan()).rejects.toThrow("another state");
  });
});
