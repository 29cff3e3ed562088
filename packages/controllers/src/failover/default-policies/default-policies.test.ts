/** The default taint policies: made once, editable, and gone for ever when deleted (D2). */
import { clusterTaintPolicies } from "@lifeboat/api";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDefaultPolicies } from "./create-default-policies.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await createFleet({ services: (context) => [createDefaultPolicies(context)] });
});
afterEach(() => fleet.close());

const names = async (): Promise<readonly string[]> =>
  (await fleet.plane.list(clusterTaintPolicies)).items.map(({ metadata }) => metadata.name);

it("are made on the first start", async () => {
  expect(await names()).toEqual(["default-not-ready", "default-unreachable"]);
  const { items } = await fleet.plane.list(clusterTaintPolicies);
  expect(items.map(({ spec }) => spec.taintsToAdd)).toMatchObject([
    [{ key: "cluster.karmada.io/not-ready", effect: "NoSchedule", addOnMatchSeconds: 1 }],
    [{ key: "cluster.karmada.io/unreachable", effect: "NoSchedule", addOnMatchSeconds: 1 }],
  ]);
});

it("stay deleted after a restart", async () => {
  await fleet.plane.delete(clusterTaintPolicies, { namespace: "", name: "default-unreachable" });
  await fleet.restart();
  await fleet.advance("1m");
  expect(await names()).toEqual(["default-not-ready"]);
});

it("are not written over when they were edited before the control plane died", async () => {
  const key = { namespace: "", name: "default-not-ready" };
  const patch = {
    type: "merge",
    body: { spec: { targetCluster: { clusterNames: ["a"] } } },
  } as const;
  await fleet.plane.patch(clusterTaintPolicies, key, patch);
  await fleet.plane.delete(
    { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
    { namespace: "lifeboat-system", name: "default-policies" },
  );
  await fleet.restart();
  expect((await fleet.plane.get(clusterTaintPolicies, key)).spec.targetCluster).toEqual({
    clusterNames: ["a"],
  });
});
