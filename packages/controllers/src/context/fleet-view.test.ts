/** The shared view is what whole lists would give, whatever changed. */
import { clusters } from "@lifeboat/api";
import { candidateOf } from "@lifeboat/core/placement";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";

let fleet: Fleet;
afterEach(() => fleet.close());

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
