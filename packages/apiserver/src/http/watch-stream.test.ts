import { instantOf } from "@lifeboat/base";
import { silentLog } from "@lifeboat/kit";
import { configMap, createWorld, resources } from "@lifeboat/testkit";
import { describe, expect, test } from "vitest";
import type { AnyObject } from "@lifeboat/api";
import type { ServerWatch, ServerWatchEvent, ServerWatchSink } from "../verbs/verbs.ts";
import { openStream, StreamReader } from "./exchange.suite.ts";
import { createWatchStreams, type FrameEncoder, type WatchClosed } from "./watch-stream.ts";

const { configMaps } = resources;
const WATCH = "/api/v1/namespaces/default/configmaps?watch=1";
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const METADATA = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
const LIMITS = { maxQueuedFrames: 10, maxQueuedBytes: 100_000, maxBacklogEvents: 50 };

/** A source under the test's hand, with one watcher on it. */
async function openWatch(
  initial: readonly ServerWatchEvent[] = [],
  streams = createWatchStreams(silentLog, LIMITS),
  encode: FrameEncoder = streams.objectFrames({ kind: "ConfigMap", apiVersion: "v1" }),
) {
  const closed: WatchClosed[] = [];
  const source = { stopped: 0, sink: undefined as unknown as ServerWatchSink };
  const watch: ServerWatch = {
    stop: () => {
      source.stopped += 1;
      source.sink.end();
    },
  };
  const begin = (sink: ServerWatchSink): Promise<ServerWatch> => {
    source.sink = sink;
    for (const event of initial) sink.event(event);
    return Promise.resolve(watch);
  };
  const stream = await streams.open(encode, begin, (why) => closed.push(why));
  return { stream, source, closed, reader: new StreamReader() };
}

function added(name: string, payload = ""): ServerWatchEvent {
  const metadata = { name, uid: "u", resourceVersion: "1", creationTimestamp: "" };
  const object: AnyObject = { kind: "ConfigMap", apiVersion: "v1", metadata, payload };
  return { type: "ADDED", object, bytes: Buffer.from(JSON.stringify(object)) };
}

function names(reader: StreamReader): readonly unknown[] {
  return reader.frames.map((frame) => (frame.object["metadata"] as { name: string }).name);
}

describe("a stream", () => {
  test("sends what came before the start, then the rest, in order", async () => {
    const { stream, source, reader } = await openWatch([added("a"), added("b")]);
    source.sink.event(added("c"));
    stream.start(reader);
    source.sink.event(added("d"));
    await Promise.resolve();
    expect(names(reader)).toEqual(["a", "b", "c", "d"]);
  });

  test("writes the frames of one tick at once, in bytes that watchers share", async () => {
    const streams = createWatchStreams(silentLog, LIMITS);
    const first = await openWatch([], streams);
    const second = await openWatch([], streams);
    first.stream.start(first.reader);
    second.stream.start(second.reader);
    for (const event of [added("a"), added("b"), added("c")]) {
      first.source.sink.event(event);
      second.source.sink.event(event);
    }
    await Promise.resolve();
    expect(names(second.reader)).toEqual(["a", "b", "c"]);
    expect(first.reader.chunks).toHaveLength(1);
    expect(second.reader.chunks[0]).toBe(first.reader.chunks[0]);
  });

  test("keeps different watchers' frames apart", async () => {
    const streams = createWatchStreams(silentLog, LIMITS);
    const first = await openWatch([], streams);
    const second = await openWatch([], streams);
    first.stream.start(first.reader);
    second.stream.start(second.reader);
    const [a, b, c] = [added("a"), added("b"), added("c")] as const;
    for (const event of [a, b]) first.source.sink.event(event);
    for (const event of [a, c]) second.source.sink.event(event);
    await Promise.resolve();
    expect(names(first.reader)).toEqual(["a", "b"]);
    expect(names(second.reader)).toEqual(["a", "c"]);
  });

  test("waits while its client is slow, and loses nothing", async () => {
    const { stream, source, reader } = await openWatch();
    stream.start(reader);
    reader.isFull = true;
    for (const name of ["a", "b", "c"]) {
      source.sink.event(added(name));
      await Promise.resolve();
    }
    expect(names(reader)).toEqual(["a"]);
    reader.drain();
    expect(names(reader)).toEqual(["a", "b", "c"]);
  });

  test("is cut off when its client stays slow, and harms no other", async () => {
    const streams = createWatchStreams(silentLog, LIMITS);
    const slow = await openWatch([], streams);
    const good = await openWatch([], streams);
    slow.stream.start(slow.reader);
    good.stream.start(good.reader);
    slow.reader.isFull = true;
    const answers: boolean[] = [];
    for (let i = 0; i < 20; i++) {
      const event = added(`c${i}`);
      answers.push(slow.source.sink.event(event));
      good.source.sink.event(event);
      await Promise.resolve();
    }
    expect(answers.filter(Boolean)).toHaveLength(11);
    expect(slow.closed).toEqual(["slow"]);
    expect(slow.reader.ended).toBe(1);
    expect(slow.source.stopped).toBe(1);
    expect(names(good.reader)).toHaveLength(20);
    slow.reader.drain();
    expect(names(slow.reader)).toEqual(["c0"]);
  });

  test("is cut off by bytes as by events", async () => {
    const { stream, source, reader, closed } = await openWatch();
    stream.start(reader);
    reader.isFull = true;
    source.sink.event(added("a"));
    await Promise.resolve();
    source.sink.event(added("b", "x".repeat(200_000)));
    expect(closed).toEqual(["slow"]);
  });

  test("a long beginning is sent at the client's speed, and what changes meanwhile waits behind it", async () => {
    const initial = Array.from({ length: 300 }, (_, i) => added(`i${i}`, "x".repeat(5000)));
    const { stream, source, reader, closed } = await openWatch(initial);
    reader.isFull = true;
    stream.start(reader);
    expect(names(reader).length).toBeLessThan(100);
    for (let i = 0; i < 40; i++) source.sink.event(added(`live${i}`));
    while (names(reader).length < 340 && reader.chunks.length < 100) {
      reader.drain();
      reader.isFull = true;
    }
    expect(names(reader)).toEqual([
      ...initial.map((_, i) => `i${i}`),
      ...Array.from({ length: 40 }, (_, i) => `live${i}`),
    ]);
    expect(closed).toEqual([]);
  });

  test("what waits behind a long beginning is bounded too", async () => {
    const initial = Array.from({ length: 300 }, (_, i) => added(`i${i}`, "x".repeat(5000)));
    const { stream, source, reader, closed } = await openWatch(initial);
    reader.isFull = true;
    stream.start(reader);
    for (let i = 0; i < 60; i++) source.sink.event(added(`live${i}`));
    expect(closed).toEqual(["slow"]);
  });

  test("ends when its source does, after what is queued", async () => {
    const { stream, source, reader, closed } = await openWatch([added("a")]);
    source.sink.event({ type: "BOOKMARK", resourceVersion: "7", initialEventsEnd: true });
    source.sink.end();
    stream.start(reader);
    expect(reader.frames.map((frame) => frame.type)).toEqual(["ADDED", "BOOKMARK"]);
    expect(reader.ended).toBe(1);
    expect(closed).toEqual(["ended"]);
  });

  test("stops its source once when the client goes away", async () => {
    const { stream, source, reader, closed } = await openWatch();
    stream.start(reader);
    stream.stop();
    stream.stop();
    expect(source.stopped).toBe(1);
    expect(source.sink.event(added("late"))).toBe(false);
    expect(closed).toEqual(["client"]);
    expect(reader.chunks).toEqual([]);
  });

  test("an event that cannot be encoded ends this watch alone", async () => {
    const streams = createWatchStreams(silentLog, LIMITS);
    const broken: FrameEncoder = () => {
      throw new Error("no");
    };
    const { stream, reader, closed } = await openWatch([added("a")], streams, broken);
    stream.start(reader);
    expect(closed).toEqual(["error"]);
    expect(reader.ended).toBe(1);
  });
});

describe("frames", () => {
  test("a bookmark and an error have the real server's form", async () => {
    const streams = createWatchStreams(silentLog, LIMITS);
    const encode = streams.objectFrames({ kind: "ConfigMap", apiVersion: "v1" });
    const bookmark: ServerWatchEvent = {
      type: "BOOKMARK",
      resourceVersion: "1362",
      initialEventsEnd: true,
    };
    expect(String(encode(bookmark))).toBe(
      '{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"1362","annotations":{"k8s.io/initial-events-end":"true"}}}}\n',
    );
    expect(String(streams.metadataFrames("v1")({ ...bookmark, initialEventsEnd: false }))).toBe(
      '{"type":"BOOKMARK","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1362"}}}\n',
    );
  });

  test("a table's columns come with the first event", () => {
    const streams = createWatchStreams(silentLog, LIMITS);
    const printer = {
      columns: [{ name: "Name", type: "string", format: "name", description: "", priority: 0 }],
      cells: (object: AnyObject) => [object.metadata.name],
    } as const;
    const form = { printer, includeObject: "None", metaVersion: "v1" } as const;
    const encode = streams.tableFrames(form, () => instantOf(0));
    const first = JSON.parse(String(encode(added("a")))) as { object: Record<string, unknown> };
    const second = JSON.parse(String(encode(added("b")))) as { object: Record<string, unknown> };
    expect(first.object["columnDefinitions"]).toHaveLength(1);
    expect(second.object).toMatchObject({ columnDefinitions: null, rows: [{ cells: ["b"] }] });
  });
});

describe("watches on the real server", () => {
  test("existing objects, changes and deletions arrive", async () => {
    const world = await createWorld();
    await world.client.create(configMaps, configMap("a"));
    const { reader, response } = await openStream(world.server.handle, WATCH);
    expect(response.headers["content-type"]).toBe("application/json");
    const b = await world.client.create(configMaps, configMap("b"));
    await world.client.update(configMaps, { ...b, data: { x: "1" } });
    await world.client.delete(configMaps, { namespace: "default", name: "a" });
    await world.settle();
    expect(reader.frames.map((frame) => frame.type)).toEqual([
      "ADDED",
      "ADDED",
      "MODIFIED",
      "DELETED",
    ]);
    expect(reader.frames[2]?.object).toMatchObject({ kind: "ConfigMap", data: { x: "1" } });
  });

  test("tables and metadata are other forms of the same events", async () => {
    const world = await createWorld();
    const table = await openStream(world.server.handle, WATCH, { headers: TABLE });
    const metadata = await openStream(world.server.handle, WATCH, { headers: METADATA });
    await world.client.create(configMaps, configMap("a", { x: "1" }));
    await world.settle();
    expect(table.reader.frames).toMatchObject([
      { type: "ADDED", object: { kind: "Table", rows: [{ object: { metadata: { name: "a" } } }] } },
    ]);
    expect(metadata.reader.frames).toMatchObject([
      { type: "ADDED", object: { kind: "PartialObjectMetadata", metadata: { name: "a" } } },
    ]);
    expect(metadata.reader.frames[0]?.object).not.toHaveProperty("data");
  });

  test("a streaming list ends its first part with a bookmark", async () => {
    const world = await createWorld();
    await world.client.create(configMaps, configMap("a"));
    const { reader } = await openStream(
      world.server.handle,
      `${WATCH}&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
    );
    expect(reader.frames.map((frame) => frame.type)).toEqual(["ADDED", "BOOKMARK"]);
    expect(reader.frames[1]?.object["metadata"]).toMatchObject({
      annotations: { "k8s.io/initial-events-end": "true" },
    });
  });

  test("a watch ends after its time", async () => {
    const world = await createWorld();
    const { reader } = await openStream(world.server.handle, `${WATCH}&timeoutSeconds=5`);
    await world.advance("4s");
    expect(reader.ended).toBe(0);
    await world.advance("1s");
    expect(reader.ended).toBe(1);
  });

  test("a version that is too old is told as an event", async () => {
    const world = await createWorld({ historyMaxEvents: 10 });
    for (let i = 0; i < 3000; i++) await world.client.create(configMaps, configMap(`c${i}`));
    const { reader } = await openStream(world.server.handle, `${WATCH}&resourceVersion=1`);
    expect(reader.frames).toMatchObject([
      { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } },
    ]);
    expect(reader.ended).toBe(1);
  });

  test("the legacy path watches, one object too", async () => {
    const world = await createWorld();
    await world.client.create(configMaps, configMap("a"));
    await world.client.create(configMaps, configMap("b"));
    const legacy = "/api/v1/watch/namespaces/default/configmaps";
    const all = await openStream(world.server.handle, legacy);
    const one = await openStream(world.server.handle, `${legacy}/b`);
    expect(names(all.reader)).toEqual(["a", "b"]);
    expect(names(one.reader)).toEqual(["b"]);
  });
});
