/** What the manager sends beyond what its controllers wrote, to any API server. */
import { type AnyObject, clusters, type KubeObject, resourceBindings, works } from "@lifeboat/api";
import { createRandom, createSeededIds, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";
import { expect, it } from "vitest";
import { preparedClient } from "./prepared-client.ts";

function setUp() {
  const sent: AnyObject[] = [];
  const take = (_: unknown, object: unknown): Promise<never> => {
    sent.push(object as AnyObject);
    return Promise.resolve(object as never);
  };
  const target = { create: take, update: take } as unknown as Client;
  const ports = {
    clock: new VirtualClock(instantOf(0), drainPromises),
    ids: createSeededIds(createRandom(1)),
  };
  return { sent, client: preparedClient(ports, target) };
}

const object = (apiVersion: string, kind: string, spec: object): KubeObject =>
  ({
    apiVersion,
    kind,
    metadata: { name: "x", namespace: "ns", uid: "u", resourceVersion: "7" },
    spec,
  }) as never;

it("updates of records let go of the owners of their fields, and name the version that they were decided on", async () => {
  const { client, sent } = setUp();
  await client.update(works, object("work.karmada.io/v1alpha1", "Work", {}) as never);
  const binding = object("work.karmada.io/v1alpha2", "ResourceBinding", { resource: {} });
  await client.update(resourceBindings, binding as never);
  for (const { metadata } of sent)
    expect(metadata).toMatchObject({ resourceVersion: "7", managedFields: [{}] });
});

it("writes of a status, of new records, and of what persons write too leave them alone", async () => {
  const { client, sent } = setUp();
  const work = object("work.karmada.io/v1alpha1", "Work", {});
  await client.update(works, work as never, { subresource: "status" });
  await client.create(works, work as never);
  const cluster = object("cluster.karmada.io/v1alpha1", "Cluster", {
    taints: [{ key: "a", effect: "NoExecute" }],
  });
  await client.update(clusters, cluster as never);
  for (const { metadata } of sent) expect(metadata).not.toHaveProperty("managedFields");
  expect(sent[2]?.["spec"]).toMatchObject({ taints: [{ timeAdded: "1970-01-01T00:00:00Z" }] });
});
