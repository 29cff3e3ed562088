import { expect, test } from "vitest";
import { configMaps } from "@lifeboat/api";
import { createWorld } from "./world.ts";

function configMap(name: string, data: Readonly<Record<string, string>> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data };
}

test("an object that was created is found", async () => {
  const world = await createWorld();
  const created = await world.client.create(configMaps, configMap("a", { x: "1" }));
  expect(created).toMatchObject({
    metadata: { name: "a", namespace: "default" },
    data: { x: "1" },
  });
  expect(await world.client.get(configMaps, { namespace: "default", name: "a" })).toBe(created);
});

test("acknowledged writes survive a restart", async () => {
  const world = await createWorld();
  const created = await world.client.create(configMaps, configMap("a", { x: "1" }));
  await world.restart();
  expect(await world.client.get(configMaps, { namespace: "default", name: "a" })).toEqual(created);
});

test("the same seed gives the same uids, another seed others", async () => {
  const uids = async (seed: number): Promise<string> => {
    const world = await createWorld({ seed });
    return (await world.client.create(configMaps, configMap("a"))).metadata.uid;
  };
  expect(await uids(7)).toBe(await uids(7));
  expect(await uids(7)).not.toBe(await uids(8));
});

test("a world is there in a few milliseconds", async () => {
  // The best of several, because a busy machine says nothing about the world.
  let best = Infinity;
  for (let i = 0; i < 10; i++) {
    const started = performance.now();
    await createWorld();
    best = Math.min(best, performance.now() - started);
  }
  expect(best).toBeLessThan(30);
});
