/** Many workloads at once do not pile onto one cluster, not even between a copy's report and its cluster's count of room. */
import {
  clusters,
  hasCondition,
  type Placement,
  propagationPolicies,
  resourceBindings,
} from "@lifeboat/api";
import { createFleet, deployment, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createControllers, DEFAULT_CONTROLLERS } from "../../src/controllers.ts";
import { openFleet, WHOLE_FLEET } from "./scheduling.suite.ts";

const MEMBERS = ["m1", "m2", "m3"];
const ROOM = 12;
let fleet: Fleet;
afterEach(() => fleet.close());

type Division = NonNullable<Placement["replicaScheduling"]>;

async function open(division: Partial<Division>): Promise<void> {
  const members = Object.fromEntries(MEMBERS.map((name) => [name, {}]));
  const capacity = { cpu: "32", memory: "64Gi", pods: String(ROOM) };
  fleet = await openFleet(members, { member: { nodes: [{ name: "node-1", capacity }] } });
  await fleet.plane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "all", namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      placement: {
        replicaScheduling: { replicaSchedulingType: "Divided", ...division },
      },
    },
  });
}

/** How many replicas each cluster was given. */
async function given(): Promise<readonly number[]> {
  const { items } = await fleet.plane.list(resourceBindings);
  const targets = items.flatMap(({ spec }) => spec.clusters ?? []);
  return MEMBERS.map((member) =>
    targets.reduce((all, { name, replicas = 0 }) => (name === member ? all + replicas : all), 0),
  );
}

async function running(): Promise<number> {
  let count = 0;
  for (const name of MEMBERS) {
    const { items } = await fleet.member(name).client.list(resources.pods);
    for (const pod of items)
      if ((pod as unknown as { status: { phase?: string } }).status.phase === "Running") count += 1;
  }
  return count;
}

describe("a burst", WHOLE_FLEET, () => {
  it("fills every cluster to the last pod, and none beyond", async () => {
    await open({
      replicaDivisionPreference: "Weighted",
      weightPreference: { dynamicWeight: "AvailableReplicas" },
    });
    for (let i = 0; i < MEMBERS.length * ROOM; i++)
      await fleet.plane.create(resources.deployments, deployment(`web-${i}`));
    await fleet.advance("60s");
    expect(await given()).toEqual([ROOM, ROOM, ROOM]);
    expect(await running()).toBe(MEMBERS.length * ROOM);
  });

  it.each([
    ["", false],
    [", with a restart in between", true],
  ])(
    "in waves, each after the last one's copies report and before clusters count again%s",
    async (_how, restarts) => {
      await open({ replicaDivisionPreference: "Aggregated" });
      for (let wave = 0; wave < 2 * MEMBERS.length; wave++) {
        const template = deployment(`web-${wave}`, { replicas: ROOM / 2 });
        await fleet.plane.create(resources.deployments, template);
        await fleet.advance("2500ms");
        for (const count of await given()) expect(count).toBeLessThanOrEqual(ROOM);
        if (restarts) await fleet.restart();
      }
      await fleet.advance("60s");
      expect(await given()).toEqual([ROOM, ROOM, ROOM]);
      expect(await running()).toBe(MEMBERS.length * ROOM);
    },
  );

  it("17.13: spreads workloads of one cluster each as soon as clusters are Ready, and beyond what they have room for", async () => {
    fleet = await createFleet({
      services: (context) => createControllers(context, DEFAULT_CONTROLLERS),
      member: { nodes: [{ name: "node-1", capacity: { cpu: "32", memory: "64Gi", pods: "20" } }] },
    });
    for (const name of MEMBERS) {
      await fleet.addMember(name);
      await fleet.join(name);
    }
    await fleet.plane.create(propagationPolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "one", namespace: "default" },
      spec: {
        resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
        placement: {
          spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
        },
      },
    });
    const areReady = async (): Promise<boolean> =>
      (await fleet.plane.list(clusters)).items.every(({ status }) =>
        hasCondition(status?.conditions, "Ready", "True"),
      );
    while (!(await areReady())) await fleet.advance("10ms");
    const COUNT = 90;
    for (let i = 0; i < COUNT; i++)
      await fleet.plane.create(resources.deployments, deployment(`web-${i}`));
    await fleet.advance("60s");
    for (const count of await given()) expect(count).toBe(COUNT / MEMBERS.length);
  });
});
