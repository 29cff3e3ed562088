/**
 * A member that is not well, over real sockets: a condition and an event say so, the others are served, and it catches up
 * when it is well again.
 */
import { type AnyObject, clusters, resourceBindings } from "@lifeboat/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { deployments, fileOf } from "./manifests.ts";
import { MEMBERS, type SimulatedFleet, startSimulatedFleet } from "./propagation-fleet.ts";

let fleet: SimulatedFleet;

beforeAll(async () => {
  fleet = await startSimulatedFleet([
    "--cluster-failure-threshold",
    "3s",
    "--cluster-success-threshold",
    "3s",
  ]);
});
afterAll(() => fleet?.close());

const policy = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "all", namespace: "default" },
  spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }], placement: {} },
};

function deployment(name: string): Parameters<typeof fileOf>[0][number] {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "main", image: "nginx:1.27" }] },
      },
    },
  };
}

async function where(name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [member, client] of fleet.members) {
    const { items } = await client.list(deployments, { namespace: "default" });
    if (items.some(({ metadata }) => metadata.name === name)) found.push(member);
  }
  return found;
}

async function readiness(): Promise<readonly unknown[]> {
  const { items } = await fleet.plane.list(clusters);
  return items.map(
    ({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status,
  );
}

describe.each(["api-down", "partition", "errors"])("member2 with %s", (mode) => {
  const name = `web-${mode}`;
  const binding = { namespace: "default", name: `${name}-deployment` };

  it("is told not to be ready, and the others get what is new", async () => {
    await eventually(async () => {
      expect(await readiness()).toEqual(["True", "True", "True"]);
    });
    await fleet.fail("member2", mode);
    const file = fileOf([policy, deployment(name)]);
    expect(await fleet.kubectl.run(["apply", "-f", "-"], file)).toMatchObject({ code: 0 });
    await eventually(async () => {
      const [first, second] = [fleet.members.get("member1"), fleet.members.get("member3")];
      for (const member of [first, second])
        expect(await member?.get(deployments, { namespace: "default", name })).toBeDefined();
    });
    await eventually(async () => {
      expect(await readiness()).toEqual(["True", "False", "True"]);
      const { status } = await fleet.plane.get(resourceBindings, binding);
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({ type: "FullyApplied", status: "False" }),
      );
      const { items } = await fleet.plane.list(events, { namespace: "default" });
      const told = (items as readonly Told[]).filter(
        ({ involvedObject }) => involvedObject.name === name,
      );
      expect(told.map(({ reason }) => reason)).toContain("SyncFailed");
    });
  });

  it("has it once it is well", async () => {
    await fleet.heal("member2");
    await eventually(async () => {
      expect(await readiness()).toEqual(["True", "True", "True"]);
      expect(await where(name)).toEqual(MEMBERS);
    });
    const deleted = await fleet.kubectl.run(["delete", "deployment", name]);
    expect(deleted).toMatchObject({ code: 0 });
    await eventually(async () => {
      expect(await where(name)).toEqual([]);
    });
  });
});

const events = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };

interface Told extends AnyObject {
  readonly reason: string;
  readonly involvedObject: { readonly name: string };
}
