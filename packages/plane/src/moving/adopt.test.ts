/** Adopting a control plane that others ran: what is refused, which writes in members are foretold, and what is left afterwards. */
import {
  type AnyObject,
  clusters,
  configMaps,
  controlPlaneKinds,
  crdOf,
  customResourceDefinitions,
  deployments,
  evacuationBudgets,
  namespaces,
  type New,
  type Resource,
  resourceBindings,
  works,
} from "@lifeboat/api";
import { createRandom, createSeededIds } from "@lifeboat/base";
import { isHeldByRestore } from "@lifeboat/core/propagation/brake";
import { renderNamespaceWork, renderWork } from "@lifeboat/core/propagation/rendering";
import { leases, silentLog, silentMetrics } from "@lifeboat/kit";
import { createWorld, deployment, newCluster, newNamespace, type World } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { validatingConfigurations } from "../webhook/resources.ts";
import { adopt, type AdoptionPlan, planAdoption } from "./adopt.ts";
import { readMark } from "./mark.ts";
import { type MovingPorts, whileLeading } from "./migrate.ts";

let world: World;

async function until<T>(working: Promise<T>): Promise<T> {
  const state = { hasEnded: false };
  const noted = working.finally(() => (state.hasEnded = true));
  noted.catch(() => undefined);
  while (!state.hasEnded) await world.advance("100ms");
  return noted;
}

const CONFLICT = "work.karmada.io/conflict-resolution";
const IDS = { "resourcebinding.karmada.io/permanent-id": "b-1" };
const OVERRIDES = { clusterOverridePolicies: [], overridePolicies: [] };

/** One workload in one cluster, as the former plane left it. */
beforeEach(async () => {
  world = await createWorld();
  const { client } = world;
  for (const kind of controlPlaneKinds.filter(({ group }) => group !== "lifeboat.dev")) {
    const { metadata, ...crd } = crdOf(kind);
    await client.create(customResourceDefinitions, {
      ...crd,
      metadata: { name: metadata.name },
    });
  }
  await world.advance("1s");
  for (const name of ["shop", "karmada-es-m1", "karmada-system", "karmada-cluster"])
    await client.create(namespaces, newNamespace(name));
  const cluster = await client.create(clusters, newCluster("m1"));
  const template = await client.create(deployments, {
    ...deployment("web"),
    metadata: { name: "web", namespace: "shop" },
  } as New<AnyObject>);
  const binding = await client.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web-deployment", namespace: "shop", labels: IDS },
    spec: {
      resource: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "shop",
        name: "web",
        uid: template.metadata.uid,
      },
      replicas: 2,
      clusters: [{ name: "m1", replicas: 2 }],
    },
  });
  const rendered = renderWork({ template, binding, cluster, ...OVERRIDES, workId: "w-1" });
  const namespace = await client.get(namespaces, { namespace: "", name: "shop" });
  const { overridePolicies: _none, ...overrides } = OVERRIDES;
  const existing = { metadata: {} } as never;
  const parts = { namespace, cluster, ...overrides, workId: "w-2", existing };
  const ofNamespace = renderNamespaceWork(parts);
  for (const one of [rendered, ofNamespace]) {
    if (one.outcome !== "rendered") throw new Error(one.message);
    await client.create(works, one.work);
  }
});
afterEach(() => world.close());

const plan = (): Promise<AdoptionPlan> => planAdoption(world.clock, world.client);

async function lease(
  name: string,
  renewTime: string,
  { namespace = "karmada-system", holderIdentity = "former" } = {},
): Promise<void> {
  await world.client.create(leases, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name },
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime },
  });
}

describe("what follows in members", () => {
  it("is nothing where the Works are what we would render", async () => {
    const { writes, counts, unknown } = await plan();
    expect(writes).toEqual([]);
    expect(unknown).toEqual([]);
    expect(Object.fromEntries(counts)).toEqual({ Cluster: 1, ResourceBinding: 1, Work: 2 });
  });

  it("is shown where they differ, with the lines that do", async () => {
    const { client } = world;
    for (const work of (await client.list(works)).items) {
      const [manifest] = work.spec.workload?.manifests ?? [];
      const changed = { ...manifest, extra: "theirs" } as never;
      await client.update(works, {
        ...work,
        spec: { ...work.spec, workload: { manifests: [changed] } },
      });
    }
    const differences = ['-extra: "theirs"'];
    expect((await plan()).writes).toEqual([
      { verb: "update", subject: "Deployment shop/web in m1", differences },
      { verb: "update", subject: "Namespace shop in m1", differences },
    ]);
  });

  it("names what would be made", async () => {
    await world.client.create(clusters, newCluster("m2"));
    expect((await plan()).writes).toEqual([
      { verb: "create", subject: "Namespace shop in m2", differences: [] },
    ]);
  });

  it("leaves the Work of a Namespace without a conflict resolution if it has none, and only then", async () => {
    const { items } = await world.client.list(works);
    const marked = items.filter(({ spec }) => JSON.stringify(spec).includes(CONFLICT));
    expect(marked.map(({ metadata }) => metadata.labels)).toEqual([
      { ...IDS, "work.karmada.io/permanent-id": "w-1" },
    ]);
  });
});

describe("adopting is refused", () => {
  it("while controllers of the former plane lead, but not for its agents", async () => {
    await lease("karmada-agent-m1", "2026-01-01T00:00:00.000000Z");
    await expect(plan()).resolves.toBeDefined();
    await lease("karmada-scheduler", "2026-01-01T00:00:00.000000Z");
    await expect(plan()).rejects.toThrow("karmada-scheduler still lead");
    await world.advance("1m");
    await expect(plan()).resolves.toBeDefined();
  });

  it("while they lead in another namespace, but not for agents and clusters of such names", async () => {
    const now = "2026-01-01T00:00:00.000000Z";
    const namespace = "shop";
    await lease("karmada-agent-m1", now, { namespace });
    await lease("others", now, { namespace });
    // The sign of life of a Pull cluster that is called like a component.
    await lease("karmada-host", now, {
      namespace: "karmada-cluster",
      holderIdentity: "karmada-host",
    });
    await expect(plan()).resolves.toBeDefined();
    await lease("karmada-controller-manager", now, { namespace });
    await expect(plan()).rejects.toThrow("shop/karmada-controller-manager still lead");
    await world.advance("1m");
    await expect(plan()).resolves.toBeDefined();
  });

  it("while objects are being deleted", async () => {
    const [work] = (await world.client.list(works)).items;
    if (work === undefined) throw new Error("there is no Work");
    await world.client.delete(works, {
      namespace: work.metadata.namespace ?? "",
      name: work.metadata.name,
    });
    await expect(plan()).rejects.toThrow("are being deleted");
  });

  it("while there are Works that are not meant for members", async () => {
    const [work] = (await world.client.list(works)).items;
    if (work === undefined) throw new Error("there is no Work");
    const labels = {
      ...work.metadata.labels,
      "propagation.karmada.io/instruction": "suppressed",
    };
    await world.client.update(works, { ...work, metadata: { ...work.metadata, labels } });
    await expect(plan()).rejects.toThrow("not meant for members");
  });

  it("where there is nothing to adopt", async () => {
    const bare = await createWorld();
    await expect(planAdoption(bare.clock, bare.client)).rejects.toThrow("no control plane");
    await bare.close();
  });
});

function movingPorts(): MovingPorts {
  const random = createRandom(3);
  const ids = createSeededIds(random.fork("ids"));
  return { clock: world.clock, random, ids, log: silentLog, metrics: silentMetrics };
}

it("ends with a sentence where the Lease of the managers cannot be got", async () => {
  // There is no namespace for it.
  let hasWorked = false;
  const working = whileLeading(movingPorts(), world.client, "test", () => {
    hasWorked = true;
    return Promise.resolve();
  });
  await expect(until(working)).rejects.toThrow(
    "the Lease lifeboat-system/lifeboat-manager could not be got within 2m",
  );
  expect(hasWorked).toBe(false);
});

it("replaces admission and holds deletions; repeating it changes nothing", async () => {
  const { client } = world;
  const resource = validatingConfigurations as unknown as Resource;
  const webhook = (name: string): object => ({
    name,
    clientConfig: { url: "https://127.0.0.1:1" },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  });
  for (const [name, host] of [
    ["validating-config", "work.karmada.io"],
    ["others", "work.example.com"],
  ] as const)
    await client.create(resource, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: resource.kind,
      metadata: { name },
      webhooks: [webhook(host)],
    });
  const before = (await client.list(works)).items;
  const ports = movingPorts();
  const request = { version: "1.0.0", webhook: { url: "https://127.0.0.1:9" }, identity: "test" };
  await until(adopt(ports, client, await plan(), request, () => undefined));
  const names = (await client.list(resource)).items.map(({ metadata }) => metadata.name).sort();
  expect(names).toEqual(["lifeboat", "others"]);
  const kept = await client.get(configMaps, {
    namespace: "lifeboat-system",
    name: "adopted-webhooks",
  });
  expect(JSON.stringify(kept["data"])).toContain("work.karmada.io");
  const record = await client.get(evacuationBudgets, { namespace: "", name: "fleet" });
  expect(isHeldByRestore(record, world.clock.now())).toBe(true);
  expect(await readMark(client)).toMatchObject({ phase: "Done" });
  expect((await client.list(works)).items).toEqual(before);
  const again = await plan();
  expect(again.isDone).toBe(true);
  await until(adopt(ports, client, again, request, () => undefined));
  expect((await client.list(works)).items).toEqual(before);
});
