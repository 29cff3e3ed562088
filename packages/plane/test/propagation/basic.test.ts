/** The whole way on the production composition: from a template and a policy to running copies, and status back. */
import {
  type AnyObject,
  clusters,
  type New,
  type PropagationPolicy,
  propagationPolicies,
  resourceBindings,
  works,
} from "@lifeboat/api";
import { createFleet, deployment, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createControllers, DEFAULT_CONTROLLERS } from "../../src/controllers.ts";

let fleet: Fleet;
const WEB = { namespace: "default", name: "web" };

beforeEach(async () => {
  fleet = await createFleet({
    members: ["m1", "m2", "m3"],
    services: (context) => createControllers(context, DEFAULT_CONTROLLERS),
  });
  await fleet.advance("15s");
});
afterEach(() => fleet.close());

const policy = (spec: object = {}): New<PropagationPolicy> => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "web", namespace: "default" },
  spec: {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
    placement: { clusterAffinity: { clusterNames: ["m1", "m2", "m3"] } },
    ...spec,
  },
});

describe("a Deployment with a policy", () => {
  it("runs in every member, and its status comes back", async () => {
    const { items } = await fleet.plane.list(clusters);
    expect(
      items.map(({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status),
    ).toEqual(["True", "True", "True"]);
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.plane.create(propagationPolicies, policy());
    await fleet.advance("20s");
    const binding = await fleet.plane.get(resourceBindings, { ...WEB, name: "web-deployment" });
    expect(binding.spec.clusters?.map(({ name }) => name)).toEqual(["m1", "m2", "m3"]);
    for (const name of ["m1", "m2", "m3"]) {
      const copy = await fleet.member(name).client.get(resources.deployments, WEB);
      expect(copy).toMatchObject({ status: { readyReplicas: 1 } });
    }
    const template: AnyObject = await fleet.plane.get(resources.deployments, WEB);
    const observedGeneration = template.metadata.generation;
    expect(template).toMatchObject({ status: { readyReplicas: 3, observedGeneration } });
  });

  it("goes away again, and nothing is left behind", async () => {
    await fleet.plane.create(propagationPolicies, policy());
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("20s");
    await fleet.plane.delete(resources.deployments, WEB, { propagationPolicy: "Background" });
    await fleet.advance("30s");
    expect((await fleet.plane.list(resourceBindings)).items).toEqual([]);
    const left = (await fleet.plane.list(works)).items.filter(({ spec }) =>
      JSON.stringify(spec).includes('"Deployment"'),
    );
    expect(left).toEqual([]);
    for (const name of ["m1", "m2", "m3"])
      expect((await fleet.member(name).client.list(resources.deployments)).items).toEqual([]);
  });

  it("ends in the same state when the control plane dies in the middle, and rests then", async () => {
    await fleet.plane.create(propagationPolicies, policy());
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    await fleet.restart();
    await fleet.advance("100ms");
    await fleet.restart();
    await fleet.advance("60s");
    const template = await fleet.plane.get(resources.deployments, WEB);
    expect(template).toMatchObject({ status: { readyReplicas: 3 } });
    const before = (await fleet.plane.list(works)).metadata.resourceVersion;
    await fleet.advance("10m");
    expect((await fleet.plane.list(works)).metadata.resourceVersion).toBe(before);
  });
});
