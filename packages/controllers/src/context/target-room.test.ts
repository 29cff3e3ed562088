/** The room for moves: what whole lists would give, and what is promised to moves that are not placed yet. */
import {
  clusterResourceBindings,
  type New,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { reservedBy } from "@lifeboat/core/placement";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import { allBindings } from "./bindings.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

function binding(name: string, shares: Readonly<Record<string, number>>): New<ResourceBinding> {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, namespace: "default" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name },
      replicas: 3,
      replicaRequirements: { resourceRequest: { cpu: "250m" } },
      clusters: Object.entries(shares).map(([cluster, replicas]) => ({ name: cluster, replicas })),
    },
  };
}

const OTHER: ResourceBinding = {
  ...binding("other", {}),
  status: {},
  metadata: {
    namespace: "default",
    name: "other",
    uid: "other",
    resourceVersion: "1",
    creationTimestamp: "",
  },
};
const KEY = { namespace: "default", name: "a" };

/** Compares with a walk over everything, and answers the pods that are promised by cluster. */
function promised(): Readonly<Record<string, number>> {
  const { targetRoom, informers, time } = fleet.context;
  const { reserved } = targetRoom.fleetFor(OTHER, time.moment());
  expect(reserved).toEqual(reservedBy(allBindings(informers)));
  return Object.fromEntries([...reserved].map(([name, sums]) => [name, sums.get("pods") ?? 0]));
}

function podsFor(one: ResourceBinding): Readonly<Record<string, number>> {
  const { targetRoom, time } = fleet.context;
  const { reserved } = targetRoom.fleetFor(one, time.moment());
  return Object.fromEntries([...reserved].map(([name, sums]) => [name, sums.get("pods") ?? 0]));
}

it("counts the promised room binding by binding", async () => {
  fleet = await createFleet({ memberModel: false });
  await fleet.plane.create(resourceBindings, binding("a", { m1: 2, m2: 1 }));
  await fleet.plane.create(resourceBindings, binding("b", { m1: 3 }));
  const { namespace: _none, ...metadata } = binding("c", {}).metadata;
  await fleet.plane.create(clusterResourceBindings, {
    ...binding("c", { m2: 4 }),
    kind: "ClusterResourceBinding",
    metadata,
  });
  await fleet.settle();
  expect(promised()).toEqual({ m1: 5, m2: 5 });

  const a = await fleet.plane.get(resourceBindings, KEY);
  const aggregatedStatus = [{ clusterName: "m1", status: { replicas: 2 } }];
  const status = { ...a.status, aggregatedStatus };
  await fleet.plane.update(resourceBindings, { ...a, status }, { subresource: "status" });
  await fleet.settle();
  // The clusters have not counted it yet.
  expect(podsFor(await fleet.plane.get(resourceBindings, KEY))).toEqual({ m1: 5, m2: 5 });
  await fleet.advance("15s");
  expect(promised()).toEqual({ m1: 3, m2: 5 });

  await fleet.plane.delete(clusterResourceBindings, { namespace: "", name: "c" });
  await fleet.plane.delete(resourceBindings, KEY);
  await fleet.settle();
  expect(promised()).toEqual({ m1: 3 });
});

it("counts what a move is promised for all others until it is taken back, and not for itself", async () => {
  fleet = await createFleet({ memberModel: false });
  await fleet.plane.create(resourceBindings, binding("a", { m1: 3 }));
  await fleet.plane.create(resourceBindings, binding("b", {}));
  await fleet.settle();
  const { targetRoom } = fleet.context;
  const a = await fleet.plane.get(resourceBindings, KEY);
  const b = await fleet.plane.get(resourceBindings, { ...KEY, name: "b" });
  targetRoom.promise(a, [{ name: "m2", replicas: 3 }]);
  expect([podsFor(a), podsFor(b)]).toEqual([{ m1: 3 }, { m2: 3 }]);
  targetRoom.forget(a);
  expect(podsFor(b)).toEqual({ m1: 3 });
});

it("keeps the promise while the workload leaves, and until the scheduler has placed it", async () => {
  fleet = await createFleet({ memberModel: false });
  await fleet.plane.create(resourceBindings, binding("a", { m1: 3 }));
  await fleet.settle();
  const { targetRoom } = fleet.context;
  const a = await fleet.plane.get(resourceBindings, KEY);
  const other = { ...a, metadata: { ...a.metadata, name: "other" } };
  targetRoom.promise(a, [{ name: "m2", replicas: 3 }]);
  const task = { fromCluster: "m1", reason: "r", producer: "p", purgeMode: "Directly" as const };
  const left = await fleet.plane.update(resourceBindings, {
    ...a,
    spec: { ...a.spec, clusters: [], gracefulEvictionTasks: [task] },
  });
  await fleet.settle();
  expect(podsFor(other)).toEqual({ m2: 3 });
  const { gracefulEvictionTasks: _over, ...spec } = left.spec;
  const gone = await fleet.plane.update(resourceBindings, { ...left, spec });
  await fleet.settle();
  expect(podsFor(other)).toEqual({ m2: 3 });
  const status = { ...gone.status, schedulerObservedGeneration: gone.metadata.generation ?? 0 };
  await fleet.plane.update(resourceBindings, { ...gone, status }, { subresource: "status" });
  await fleet.settle();
  expect(podsFor(other)).toEqual({});
});
