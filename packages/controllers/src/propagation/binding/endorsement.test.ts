/** Works of Pull clusters are endorsed after the binding was read from the server, and lose that with their place (D26). */
import { clusters, resourceBindings, setCondition, type Work, works } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { Client } from "@lifeboat/kit";
import { type Fleet, newNamespace, resources, wrapped } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import { allWorks, bindingFleet, bound, change, on } from "./binding.suite.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

async function pullFleet(through?: (plane: Client) => Client): Promise<void> {
  fleet = await bindingFleet(["m1"], through);
  await fleet.addMember("p1");
  await fleet.join("p1", { syncMode: "Pull" });
  await fleet.plane.create(resources.namespaces, newNamespace("karmada-es-p1"));
  await agentIs("True");
}

/** What the control plane reports about the agent of p1. */
async function agentIs(status: "True" | "False"): Promise<void> {
  const cluster = await fleet.plane.get(clusters, { namespace: "", name: "p1" });
  const conditions = setCondition(
    cluster.status?.conditions,
    { type: "AgentSupported", status, reason: "Test", message: "" },
    fleet.clock.now(),
  );
  const changed = { ...cluster, status: { ...cluster.status, conditions } };
  await fleet.plane.update(clusters, changed, { subresource: "status" });
  await fleet.settle();
}

async function workIn(cluster: string): Promise<Work | undefined> {
  const found = await allWorks(fleet);
  return found.find(({ metadata }) => metadata.namespace === `karmada-es-${cluster}`);
}

function endorsementOf(work: Work | undefined): string | undefined {
  return work?.metadata.annotations?.[wellKnown.ENDORSED];
}

it("the Work of a Pull cluster bears its own uid, that of a Push cluster nothing", async () => {
  await pullFleet();
  await bound(fleet, "web", on("m1", "p1"));
  const work = await workIn("p1");
  expect(endorsementOf(work)).toBe(work?.metadata.uid);
  expect(work?.metadata.generation).toBe(1);
  expect(endorsementOf(await workIn("m1"))).toBeUndefined();
});

it("it costs one write for each Work of a Pull cluster", async () => {
  const writes = new Map<string, number>();
  await pullFleet((plane) => {
    const count = (verb: string, cluster = ""): void => {
      writes.set(`${verb} ${cluster}`, (writes.get(`${verb} ${cluster}`) ?? 0) + 1);
    };
    return wrapped(plane, {
      create: (resource, object, options) => {
        if (resource.plural === works.plural) count("create", object.metadata.namespace);
        return plane.create(resource, object, options);
      },
      update: (resource, object, options) => {
        if (resource.plural === works.plural) count("update", object.metadata.namespace);
        return plane.update(resource, object, options);
      },
    });
  });
  await bound(fleet, "web", on("m1", "p1"));
  await fleet.advance("1m");
  expect(Object.fromEntries(writes)).toEqual({
    "create karmada-es-m1": 1,
    "create karmada-es-p1": 1,
    "update karmada-es-p1": 1,
  });
});

it("a Work that arrives after its workload moved on is not endorsed, although the cache has not heard of that", async () => {
  let isLate = true;
  await pullFleet((plane) =>
    wrapped(plane, {
      create: async (resource, object, options) => {
        // The workload leaves while the request is under way.
        if (resource.plural === works.plural && isLate) {
          isLate = false;
          const key = { namespace: "default", name: "web-deployment" };
          const binding = await plane.get(resourceBindings, key);
          await plane.update(resourceBindings, {
            ...binding,
            spec: { ...binding.spec, ...on("m1") },
          });
        }
        return plane.create(resource, object, options);
      },
    }),
  );
  await bound(fleet, "web", on("p1"));
  expect(endorsementOf(await workIn("p1"))).toBeUndefined();
  await fleet.advance("10s");
  const left = await workIn("p1");
  expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
});

it("a Work loses it with its place in the result", async () => {
  await pullFleet();
  await bound(fleet, "web", on("p1"));
  const gracefulEvictionTasks = [
    {
      fromCluster: "p1",
      reason: "TaintUntolerated",
      producer: "test",
      purgeMode: "Gracefully" as const,
    },
  ];
  await change(fleet, "web", { ...on("m1"), gracefulEvictionTasks });
  expect(endorsementOf(await workIn("p1"))).toBeUndefined();
  await change(fleet, "web", { ...on("p1"), gracefulEvictionTasks: [] });
  expect(endorsementOf(await workIn("p1"))).toBe((await workIn("p1"))?.metadata.uid);
});

it("an agent that does not know endorsement gets no new Work, and gets it once it does", async () => {
  await pullFleet();
  await agentIs("False");
  await bound(fleet, "web", on("m1", "p1"));
  expect(await workIn("p1")).toBeUndefined();
  expect(await workIn("m1")).toBeDefined();
  const { items } = await fleet.plane.list(resources.events);
  expect(items.map(({ message }) => message)).toContainEqual(
    expect.stringContaining("the agent of the cluster p1 gets no new Works"),
  );
  await agentIs("True");
  expect(endorsementOf(await workIn("p1"))).toBe((await workIn("p1"))?.metadata.uid);
});

it("a Work that was endorsed and never tried loses that when its agent turns out not to know it", async () => {
  await pullFleet();
  await bound(fleet, "web", on("p1"));
  expect(endorsementOf(await workIn("p1"))).toBeDefined();
  await agentIs("False");
  expect(await workIn("p1")).toBeDefined();
  expect(endorsementOf(await workIn("p1"))).toBeUndefined();
});
