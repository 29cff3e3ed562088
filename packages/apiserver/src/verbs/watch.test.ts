/** What watches deliver, through the in-process client on a real server under the virtual clock. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnyObject, WatchEvent } from "@lifeboat/api";
import type { WatchEnd, WatchOptions } from "@lifeboat/kit";
import { configMap, createWorld, newObject, resources, type World } from "@lifeboat/testkit";

const { configMaps, eventsV1, events } = resources;
const key = (name: string) => ({ namespace: "default", name });

interface Seen {
  readonly events: WatchEvent[];
  readonly ends: WatchEnd[];
  readonly texts: () => readonly string[];
  readonly stop: () => void;
}

async function watching(world: World, options: WatchOptions, resource = configMaps): Promise<Seen> {
  const seen: WatchEvent[] = [];
  const ends: WatchEnd[] = [];
  const watch = world.client.watch<AnyObject>(resource, options, {
    event: (event) => seen.push(event),
    end: (why) => ends.push(why),
  });
  await world.settle();
  return { events: seen, ends, texts: () => seen.map(textOf), stop: () => watch.stop() };
}

function textOf(event: WatchEvent): string {
  if (event.type === "BOOKMARK") return event.initialEventsEnd ? "BOOKMARK end" : "BOOKMARK";
  return `${event.type} ${event.object.metadata.name}`;
}

async function worldWith(...names: readonly string[]): Promise<World> {
  const world = await createWorld({ housekeeping: false });
  for (const name of names) await world.client.create(configMaps, configMap(name));
  return world;
}

test("a watch without a version begins with what exists, then follows", async () => {
  const world = await worldWith("a", "b");
  const seen = await watching(world, {});
  expect(seen.texts()).toEqual(["ADDED a", "ADDED b"]);
  await world.client.create(configMaps, configMap("c"));
  const updated = await world.client.patch(configMaps, key("a"), {
    type: "merge",
    body: { data: { x: "1" } },
  });
  await world.client.delete(configMaps, key("b"));
  await world.settle();
  expect(seen.texts().slice(2)).toEqual(["ADDED c", "MODIFIED a", "DELETED b"]);
  expect((seen.events[3] as { object: AnyObject }).object).toBe(updated);
  expect(seen.ends).toEqual([]);
});

test("a watch from a version gets every later change once and in order, also after a restart", async () => {
  const world = await worldWith("a");
  const { resourceVersion } = (await world.client.list(configMaps)).metadata;
  for (const name of ["b", "c"]) await world.client.create(configMaps, configMap(name));
  await world.client.delete(configMaps, key("a"));
  await world.restart();
  await world.client.create(configMaps, configMap("d"));
  const seen = await watching(world, { resourceVersion });
  expect(seen.texts()).toEqual(["ADDED b", "ADDED c", "DELETED a", "ADDED d"]);
  const versions = seen.events.map((event) =>
    event.type === "BOOKMARK" ? 0 : Number(event.object.metadata.resourceVersion),
  );
  expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  expect(versions[0]).toBeGreaterThan(Number(resourceVersion));
});

test("a streaming list ends its first part with a bookmark", async () => {
  const world = await worldWith("a", "b");
  const seen = await watching(world, {
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: true,
  });
  expect(seen.texts()).toEqual(["ADDED a", "ADDED b", "BOOKMARK end"]);
  const { resourceVersion } = (await world.client.list(configMaps)).metadata;
  expect(seen.events[2]).toEqual({ type: "BOOKMARK", resourceVersion, initialEventsEnd: true });
});

test("without initial events a watch without a version begins now", async () => {
  const world = await worldWith("a");
  const seen = await watching(world, {
    sendInitialEvents: false,
    resourceVersionMatch: "NotOlderThan",
  });
  await world.client.create(configMaps, configMap("b"));
  await world.settle();
  expect(seen.texts()).toEqual(["ADDED b"]);
});

test("bookmarks come each minute and shortly before the end, which comes on time", async () => {
  const world = await worldWith("a");
  const { resourceVersion } = (await world.client.list(configMaps)).metadata;
  const seen = await watching(world, {
    resourceVersion,
    allowWatchBookmarks: true,
    timeoutSeconds: 90,
  });
  await world.advance("59s");
  expect(seen.texts()).toEqual([]);
  await world.advance("1s");
  expect(seen.events).toEqual([{ type: "BOOKMARK", resourceVersion, initialEventsEnd: false }]);
  await world.advance("28s");
  expect(seen.events).toHaveLength(2);
  expect(seen.ends).toEqual([]);
  await world.advance("2s");
  expect(seen.ends).toEqual([{ kind: "closed" }]);
  await world.advance("10m");
  expect(seen.events).toHaveLength(2);
});

test("a watch without a timeout ends between half an hour and an hour", async () => {
  const world = await worldWith();
  const seen = await watching(world, {});
  await world.advance("30m");
  expect(seen.ends).toEqual([]);
  await world.advance("30m");
  expect(seen.ends).toEqual([{ kind: "closed" }]);
});

test("a version that history does not reach ends the watch with 410", async () => {
  const world = await createWorld({ housekeeping: false, historyMaxEvents: 2 });
  for (const name of ["a", "b", "c", "d"]) await world.client.create(configMaps, configMap(name));
  const seen = await watching(world, { resourceVersion: "1" });
  expect(seen.events).toEqual([]);
  expect(seen.ends).toMatchObject([
    {
      kind: "refused",
      status: {
        code: 410,
        reason: "Expired",
        message: "The resourceVersion for the provided watch is too old.",
      },
    },
  ]);
});

test("a watch from the future is silent", async () => {
  const world = await worldWith("a");
  const seen = await watching(world, {
    resourceVersion: "99999999",
    allowWatchBookmarks: true,
    timeoutSeconds: 100,
  });
  await world.client.create(configMaps, configMap("b"));
  await world.advance("100s");
  expect(seen.events).toEqual([]);
  expect(seen.ends).toEqual([{ kind: "closed" }]);
});

const refusals = [
  {
    options: { sendInitialEvents: true },
    want: {
      code: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    },
  },
  {
    options: { resourceVersion: "abc" },
    want: {
      code: 500,
      message:
        'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    },
  },
  { options: { fieldSelector: "foo=bar" }, want: { code: 400 } },
];
for (const { options, want } of refusals) {
  test(`a watch with ${JSON.stringify(options)} is refused`, async () => {
    const seen = await watching(await worldWith("a"), options);
    expect(seen.events).toEqual([]);
    expect(seen.ends).toMatchObject([{ kind: "refused", status: want }]);
  });
}

test("entering a selector is ADDED, leaving it is DELETED with the last matching content", async () => {
  const world = await worldWith("a");
  const seen = await watching(world, { labelSelector: "on=yes" });
  const label = (value: string | null) =>
    world.client.patch(configMaps, key("a"), {
      type: "merge",
      body: { metadata: { labels: { on: value } } },
    });
  const entered = await label("yes");
  const left = await label(null);
  await world.settle();
  expect(seen.events).toEqual([
    { type: "ADDED", object: entered },
    {
      type: "DELETED",
      object: {
        ...entered,
        metadata: { ...entered.metadata, resourceVersion: left.metadata.resourceVersion },
      },
    },
  ]);
});

test("a watch by name sees that object alone", async () => {
  const world = await worldWith("a", "b");
  const seen = await watching(world, { namespace: "default", fieldSelector: "metadata.name=b" });
  await world.client.delete(configMaps, key("a"));
  await world.client.delete(configMaps, key("b"));
  await world.client.create(configMaps, configMap("b"));
  await world.settle();
  expect(seen.texts()).toEqual(["ADDED b", "DELETED b", "ADDED b"]);
});

test("stopping ends a watch once, and nothing comes after", async () => {
  const world = await worldWith("a");
  const seen = await watching(world, {});
  seen.stop();
  seen.stop();
  await world.client.create(configMaps, configMap("b"));
  await world.settle();
  expect(seen.texts()).toEqual(["ADDED a"]);
  expect(seen.ends).toEqual([{ kind: "closed" }]);
});

test("a server that closes ends its watches in order", async () => {
  const world = await worldWith("a");
  const seen = await watching(world, {});
  await world.close();
  await world.settle();
  expect(seen.ends).toEqual([{ kind: "closed" }]);
});

test("the second view of events is watched like the first", async () => {
  const world = await worldWith();
  const seen = await watching(world, {}, eventsV1);
  const involvedObject = { kind: "Pod", namespace: "default", name: "p" };
  await world.client.create(
    events,
    newObject(events, { name: "e" }, { involvedObject, message: "m" }),
  );
  await world.settle();
  expect(seen.events).toMatchObject([
    { type: "ADDED", object: { apiVersion: "events.k8s.io/v1", note: "m" } },
  ]);
});

test("whatever happens, a selecting watcher knows exactly what a list would show", async () => {
  const step = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    action: fc.constantFrom("on", "off", "delete", "restart"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.nat(20), async (steps, beginAt) => {
      const world = await createWorld({ housekeeping: false });
      const mirror = new Map<string, string>();
      const follow = (from: string): void => {
        world.client.watch<AnyObject>(
          configMaps,
          { labelSelector: "on=yes", ...(from !== "" && { resourceVersion: from }) },
          { event: (event) => track(mirror, event), end: () => undefined },
        );
      };
      let version = "";
      for (const [i, { name, action }] of steps.entries()) {
        if (i === beginAt) follow("");
        version = (await world.client.list(configMaps)).metadata.resourceVersion;
        if (action === "restart") {
          await world.settle();
          await world.restart();
          if (i >= beginAt) follow(version);
        } else await act(world, name, action);
      }
      if (beginAt >= steps.length) follow("");
      await world.settle();
      const list = await world.client.list(configMaps, { labelSelector: "on=yes" });
      const wanted = list.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]);
      expect([...mirror].toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual(wanted);
    }),
    { numRuns: 40 },
  );
});

/** What an informer keeps; it refuses events that do not fit what it has. */
function track(mirror: Map<string, string>, event: WatchEvent): void {
  if (event.type === "BOOKMARK") return;
  const { name, resourceVersion } = event.object.metadata;
  expect(mirror.has(name)).toBe(event.type !== "ADDED");
  expect(Number(resourceVersion)).toBeGreaterThan(Number(mirror.get(name) ?? 0));
  if (event.type === "DELETED") mirror.delete(name);
  else mirror.set(name, resourceVersion);
}

async function act(world: World, name: string, action: "on" | "off" | "delete"): Promise<void> {
  const on = action === "on" ? "yes" : "no";
  const found = await world.client.get(configMaps, key(name)).catch(() => undefined);
  if (action === "delete") {
    if (found !== undefined) await world.client.delete(configMaps, key(name));
  } else if (found === undefined) {
    await world.client.create(configMaps, configMap(name, {}, { labels: { on } }));
  } else {
    const body = { metadata: { labels: { on } }, data: { v: found.metadata.resourceVersion } };
    await world.client.patch(configMaps, key(name), { type: "merge", body });
  }
}
