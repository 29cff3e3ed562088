/** How calls end when the disk fails or the server is closed, and what a watch does when its queue is full. */
import { expect, test } from "vitest";
import { type AnyObject, Refused, type Resource } from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { NotSent, OutcomeUnknown, type WatchEnd } from "@lifeboat/kit";
import { configMap, createWorld, refusalOf, resources } from "@lifeboat/testkit";
import { dropUndefined } from "../verbs/drop-undefined.ts";
import { WatchQueue } from "./watch-queue.ts";

const { configMaps } = resources;
const key = (name: string) => ({ namespace: "default", name });

test("a full disk refuses writes, answers reads, and takes writes again when there is room", async () => {
  const world = await createWorld({ housekeeping: false });
  const before = await world.client.create(configMaps, configMap("a"));
  world.storage.fill();
  expect(await refusalOf(world.client.create(configMaps, configMap("b")))).toMatchObject({
    code: 507,
    reason: "InsufficientStorage",
  });
  expect(await world.client.get(configMaps, key("a"))).toBe(before);
  expect(await refusalOf(world.client.get(configMaps, key("b")))).toMatchObject({ code: 404 });
  world.storage.free();
  await world.client.create(configMaps, configMap("b"));
});

test("a broken disk leaves the outcome of a write unknown, and reads go on", async () => {
  const world = await createWorld({ housekeeping: false });
  const before = await world.client.create(configMaps, configMap("a"));
  world.storage.fail(createRandom(3));
  await expect(world.client.create(configMaps, configMap("b"))).rejects.toThrow(OutcomeUnknown);
  await expect(world.client.create(configMaps, configMap("c"))).rejects.toThrow(OutcomeUnknown);
  expect(await world.client.get(configMaps, key("a"))).toBe(before);
});

test("a closed server takes no writes", async () => {
  const world = await createWorld({ housekeeping: false });
  await world.close();
  await expect(world.client.create(configMaps, configMap("a"))).rejects.toThrow(NotSent);
});

test("fields that are undefined do not reach the server", async () => {
  const world = await createWorld({ housekeeping: false });
  const sent = { ...configMap("a", { x: "1" }), immutable: undefined };
  const created = await world.client.create(configMaps, sent);
  expect(Object.keys(created)).not.toContain("immutable");
  const clean = { a: [1, { b: "x" }], c: null };
  expect(dropUndefined(clean)).toBe(clean);
  expect(dropUndefined({ a: [{ b: undefined, c: 1 }], d: undefined })).toEqual({
    a: [{ c: 1 }],
  });
});

test("objects that come out are frozen all the way down", async () => {
  const { client } = await createWorld({ housekeeping: false });
  const created = await client.create(
    configMaps,
    configMap("a", { x: "1" }, { labels: { l: "1" } }),
  );
  const dry = await client.create(configMaps, configMap("b", { x: "1" }), { dryRun: true });
  const listed = await client.list(configMaps);
  for (const value of [
    created,
    created.metadata.labels,
    created["data"],
    dry,
    dry["data"],
    listed,
    listed.items,
  ])
    expect(Object.isFrozen(value)).toBe(true);
});

test("a resource that is not served is refused as a real client would say it", async () => {
  const { client } = await createWorld({ housekeeping: false });
  const things: Resource = { ...configMaps, group: "none.io", plural: "things", kind: "Thing" };
  await expect(client.list(things)).rejects.toThrow(
    new Refused({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "the server could not find the requested resource",
      reason: "NotFound",
      code: 404,
    }),
  );
});

function queueOf(limit: number) {
  const seen: string[] = [];
  const ends: WatchEnd[] = [];
  const queue = new WatchQueue<AnyObject>(
    { event: (event) => seen.push(event.type), end: (why) => ends.push(why) },
    limit,
  );
  return { queue, seen, ends };
}
const object = { apiVersion: "v1", kind: "X", metadata: { name: "x" } } as AnyObject;

test("a queue takes the beginning whatever its length, and is lost when it overflows later", async () => {
  const { queue, seen, ends } = queueOf(2);
  for (let i = 0; i < 10; i++) expect(queue.event({ type: "ADDED", object })).toBe(true);
  await Promise.resolve();
  let stopped = 0;
  queue.started(() => {
    stopped += 1;
  });
  expect(queue.event({ type: "MODIFIED", object })).toBe(true);
  expect(queue.event({ type: "MODIFIED", object })).toBe(true);
  expect(queue.event({ type: "MODIFIED", object })).toBe(false);
  await Promise.resolve();
  expect(seen).toHaveLength(12);
  expect(ends).toMatchObject([{ kind: "lost" }]);
  expect(stopped).toBe(1);
});

test("a queue that was stopped drops what waits and ends once", async () => {
  const { queue, seen, ends } = queueOf(5);
  queue.started(() => queue.end());
  queue.event({ type: "ADDED", object });
  queue.stop();
  queue.stop();
  expect(queue.event({ type: "ADDED", object })).toBe(false);
  await Promise.resolve();
  expect(seen).toEqual([]);
  expect(ends).toEqual([{ kind: "closed" }]);
});

test("an error event makes the end a refusal", async () => {
  const { queue, ends } = queueOf(5);
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code: 410,
  } as const;
  queue.event({ type: "ERROR", status });
  queue.end();
  await Promise.resolve();
  expect(ends).toEqual([{ kind: "refused", status }]);
});
