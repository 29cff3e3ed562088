/** The shared view is what whole lists would give, whatever changed. */
import {
  clusterResourceBindings,
  clusters,
  type New,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { candidateOf, reservedBy } from "@lifeboat/core/placement";
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

const KEY = { namespace: "default", name: "a" };

/** Compares with a walk over everything, and answers the promised pods by cluster. */
function promised(): Readonly<Record<string, number>> {
  const { fleetView, informers } = fleet.context;
  expect(fleetView.reserved).toEqual(reservedBy(allBindings(informers)));
  return Object.fromEntries(
    [...fleetView.reserved].map(([name, sums]) => [name, sums.get("pods") ?? 0]),
  );
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
  expect(promised()).toEqual({ m1: 3, m2: 5 });

  await fleet.plane.delete(clusterResourceBindings, { namespace: "", name: "c" });
  await fleet.plane.delete(resourceBindings, KEY);
  await fleet.settle();
  expect(promised()).toEqual({ m1: 3 });
});

it("has the clusters as they are, for a controller that learns of their change, too", async () => {
  const seen: string[] = [];
  fleet = await createFleet({
    memberModel: false,
    services: ({ informers, fleetView }) => {
      informers.clusters.onChange((old, now) => {
        const name = (now ?? old)?.metadata.name ?? "";
        const found = fleetView.fleet.byName.get(name);
        if (now === undefined) expect(found).toBeUndefined();
        // One object is read once, also when it is an old one.
        else expect(found).toBe(fleetView.candidateOf(now));
        if (old !== undefined) expect(fleetView.candidateOf(old)).toEqual(candidateOf(old));
        seen.push(`${name}:${found?.labels["tier"] ?? "-"}`);
      });
      return [];
    },
  });
  const made = await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "m1" },
    spec: { syncMode: "Push" },
  });
  await fleet.settle();
  const metadata = { ...made.metadata, labels: { tier: "gold" } };
  await fleet.plane.update(clusters, { ...made, metadata });
  await fleet.settle();
  await fleet.plane.delete(clusters, { namespace: "", name: "m1" });
  await fleet.settle();
  expect(seen).toEqual(["m1:-", "m1:gold", "m1:-"]);
  expect(fleet.context.fleetView.fleet.candidates).toEqual([]);
});
