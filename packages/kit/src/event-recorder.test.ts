import { type AnyObject, events } from "@lifeboat/api";
import { createRandom, createSeededIds, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, test } from "vitest";
import { createPromMetrics } from "./adapters/prom-metrics.ts";
import { createEventRecorder, type Involved } from "./event-recorder.ts";
import { type Log, silentLog } from "./log.ts";
import { RecentMap } from "./recent-map.ts";
import { ToyClient } from "./toy-client.suite.ts";

function setUp() {
  const clock = new VirtualClock(instantOf(1_700_000_000_000), drainPromises);
  const client = new ToyClient(clock);
  const metrics = createPromMetrics();
  const ids = createSeededIds(createRandom(1));
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (...given) => warnings.push(given) };
  const recorder = createEventRecorder({ clock, ids, log, metrics }, client, {
    component: "tester",
    instance: "host-1",
  });
  const stop = new AbortController();
  const ended = recorder.run(stop.signal);
  const list = async (): Promise<readonly AnyObject[]> => {
    await clock.settle();
    return (await client.list(events)).items;
  };
  return { clock, client, metrics, warnings, recorder, stop, ended, list };
}

const web: Involved = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "ns", name: "web", uid: "u1", resourceVersion: "5" },
};
const numbered = (i: number): Involved => ({
  ...web,
  metadata: { ...web.metadata, name: `w${i}`, uid: `u${i}` },
});
const moved = { type: "Normal", reason: "Moved", message: "moved to eu-2" } as const;

test("an Event names what happened, to which object, the reporter and the time", async () => {
  const { recorder, list } = setUp();
  recorder.record(web, moved);
  const [event] = await list();
  expect(event).toMatchObject({
    metadata: { namespace: "ns", name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) as string },
    involvedObject: {
      kind: "Deployment",
      namespace: "ns",
      name: "web",
      uid: "u1",
      resourceVersion: "5",
    },
    type: "Normal",
    reason: "Moved",
    message: "moved to eu-2",
    source: { component: "tester", host: "host-1" },
    count: 1,
    firstTimestamp: "2023-11-14T22:13:20Z",
    lastTimestamp: "2023-11-14T22:13:20Z",
  });
});

test("the same Event again counts up, with one write for all that come within ten seconds", async () => {
  const { client, clock, recorder, list } = setUp();
  recorder.record(web, moved);
  await clock.advance(60_000);
  recorder.record(web, moved);
  await clock.advance(9000);
  recorder.record(web, moved);
  expect((await list())[0]).toMatchObject({ count: 1 });
  await clock.advance(1000);
  const all = await list();
  expect(all).toHaveLength(1);
  expect(all[0]).toMatchObject({ count: 3, lastTimestamp: "2023-11-14T22:14:29Z" });
  recorder.record(web, moved);
  await clock.advance(10_000);
  expect((await list())[0]).toMatchObject({ count: 4 });
  expect(client.calls.filter((call) => call.startsWith("patch"))).toHaveLength(2);
});

test("repeats of several series are gathered each for its own time", async () => {
  const { client, clock, recorder, list } = setUp();
  for (const i of [1, 2]) recorder.record(numbered(i), moved);
  await clock.advance(60_000);
  recorder.record(numbered(1), moved);
  await clock.advance(4000);
  recorder.record(numbered(2), moved);
  await clock.advance(6000);
  expect((await list()).map((event) => event["count"])).toEqual([2, 1]);
  await clock.advance(4000);
  expect((await list()).map((event) => event["count"])).toEqual([2, 2]);
  expect(client.calls.filter((call) => call.startsWith("patch"))).toHaveLength(2);
});

test("an Event about a cluster-scoped object is in default", async () => {
  const { recorder, list } = setUp();
  recorder.record({ apiVersion: "v1", kind: "Node", metadata: { name: "n1", uid: "u" } }, moved);
  expect((await list())[0]?.metadata.namespace).toBe("default");
});

test("a flood of similar messages becomes one Event", async () => {
  const { recorder, list } = setUp();
  for (let i = 0; i < 20; i++) recorder.record(web, { ...moved, message: `attempt ${i}` });
  const all = await list();
  expect(all).toHaveLength(11);
  expect(all[10]).toMatchObject({
    count: 10,
    message: "(combined from similar events): attempt 19",
  });
});

test("one object may not speak without end, and others still may", async () => {
  const { clock, metrics, recorder, list } = setUp();
  for (let i = 0; i < 100; i++) recorder.record(web, moved);
  recorder.record({ ...web, metadata: { ...web.metadata, name: "other", uid: "u2" } }, moved);
  expect((await list()).map((event) => event["count"])).toEqual([25, 1]);
  expect(await metrics.expose()).toContain('kit_events_total{outcome="dropped"} 75');
  await clock.advance(300_000);
  recorder.record(web, moved);
  recorder.record(web, moved);
  await clock.advance(10_000);
  expect((await list())[0]).toMatchObject({ count: 26 });
});

test("a series whose object expired goes on in a new object", async () => {
  const { clock, client, recorder, list } = setUp();
  recorder.record(web, moved);
  const [first] = await list();
  await client.delete(events, { namespace: "ns", name: first?.metadata.name ?? "" });
  await clock.advance(1000);
  recorder.record(web, moved);
  await clock.advance(10_000);
  const [second] = await list();
  expect(second).toMatchObject({ count: 2, firstTimestamp: "2023-11-14T22:13:20Z" });
  expect(second?.metadata.name).not.toBe(first?.metadata.name);
});

test("what cannot be written is dropped, and recording goes on", async () => {
  const { client, metrics, recorder, list } = setUp();
  client.writeFaults.push("not sent", "lost after");
  recorder.record(web, moved);
  recorder.record(web, { ...moved, reason: "Other" });
  recorder.record(web, { ...moved, reason: "Third" });
  const reasons = (await list()).map((event) => event["reason"]);
  expect(reasons).toEqual(["Other", "Third"]);
  expect(await metrics.expose()).toContain('kit_events_total{outcome="dropped"} 2');
});

test("while the server does not answer, a bounded number waits, and the log reports it once", async () => {
  const { clock, client, metrics, warnings, recorder } = setUp();
  client.create = () => new Promise(() => undefined);
  for (let i = 0; i < 12_000; i++) recorder.record(numbered(i), moved);
  await clock.settle();
  expect(await metrics.expose()).toContain('kit_events_total{outcome="dropped"} 2000');
  const full = "too many Events wait, newer ones are dropped until they are written";
  expect(warnings).toEqual([[full, { waiting: 10_000, reason: "Moved" }]]);
});

test("news is written although ten thousand series repeat, and before them", async () => {
  const { clock, client, metrics, recorder, list } = setUp();
  const series = 10_000;
  for (let i = 0; i < series; i++) recorder.record(numbered(i), moved);
  await clock.settle();
  for (let i = 0; i < series; i++) recorder.record(numbered(i), moved);
  recorder.record(numbered(series), moved);
  expect(await list()).toHaveLength(series + 1);
  // They are due, and wait for a writer, when there is news again.
  await clock.advance(9999);
  client.calls.length = 0;
  void clock.advance(1);
  recorder.record(numbered(series + 1), moved);
  expect(await list()).toHaveLength(series + 2);
  expect(client.calls.findIndex((call) => call.startsWith("create"))).toBeLessThan(5);
  expect((await list()).filter((event) => event["count"] === 2)).toHaveLength(series);
  expect(await metrics.expose()).not.toContain('outcome="dropped"');
});

test("a bounded number of repeats is gathered", async () => {
  const { clock, metrics, recorder } = setUp();
  const series = 16_384;
  for (const from of [0, series / 2]) {
    for (let i = from; i < from + series / 2; i++) recorder.record(numbered(i), moved);
    await clock.settle();
  }
  for (let i = 0; i < series; i++) recorder.record(numbered(i), moved);
  recorder.record({ ...web, metadata: { ...web.metadata, name: "a", uid: "ua" } }, moved);
  recorder.record({ ...web, metadata: { ...web.metadata, name: "b", uid: "ub" } }, moved);
  await clock.settle();
  recorder.record({ ...web, metadata: { ...web.metadata, name: "a", uid: "ua" } }, moved);
  recorder.record({ ...web, metadata: { ...web.metadata, name: "b", uid: "ub" } }, moved);
  expect(await metrics.expose()).toContain('kit_events_total{outcome="dropped"} 2');
});

test("a thousand Events at once are all written, a few at a time", async () => {
  const { clock, client, metrics, recorder } = setUp();
  const create = client.create.bind(client);
  let underWay = 0;
  let most = 0;
  client.create = async (...given) => {
    most = Math.max(most, (underWay += 1));
    await new Promise<void>((resolve) => clock.after(5, resolve));
    underWay -= 1;
    return create(...given);
  };
  for (let i = 0; i < 1000; i++) recorder.record(numbered(i), moved);
  await clock.advance(10_000);
  expect(most).toBe(4);
  expect(await metrics.expose()).toContain('kit_events_total{outcome="written"} 1000');
});

test("the same Event while it waits, or is written, is one object and one more write", async () => {
  const { clock, client, recorder, list } = setUp();
  const create = client.create.bind(client);
  let answer: () => void = () => undefined;
  client.create = async (...given) => {
    await new Promise<void>((resolve) => (answer = resolve));
    return create(...given);
  };
  recorder.record(web, moved);
  await clock.advance(1000);
  for (let i = 0; i < 5; i++) recorder.record(web, moved);
  await clock.advance(1000);
  answer();
  const all = await list();
  expect(all).toHaveLength(1);
  expect(all[0]).toMatchObject({ count: 6, lastTimestamp: "2023-11-14T22:13:21Z" });
  expect(client.calls.filter((call) => call.startsWith("patch"))).toHaveLength(1);
});

test("long messages and names are cut, between characters", async () => {
  const { recorder, list } = setUp();
  const name = "n".repeat(252);
  recorder.record(
    { ...web, metadata: { ...web.metadata, name } },
    { ...moved, message: `${"x".repeat(1022)}\u{1F6DF}\u{1F6DF}` },
  );
  const [event] = await list();
  expect(event?.metadata.name.length).toBeLessThanOrEqual(253);
  expect(event?.["message"]).toBe(`${"x".repeat(1022)}…`);
});

test("it ends when its signal aborts, and writes nothing that it had gathered", async () => {
  const { client, clock, recorder, stop, ended } = setUp();
  recorder.record(web, moved);
  await clock.settle();
  recorder.record(web, moved);
  stop.abort();
  await clock.settle();
  await ended;
  await clock.advance(60_000);
  expect(client.calls.filter((call) => call.startsWith("patch"))).toEqual([]);
});

test("a recent map forgets what was not used for longest", () => {
  const map = new RecentMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.get("a");
  map.set("c", 3);
  expect([map.get("a"), map.get("b"), map.get("c"), map.size]).toEqual([1, undefined, 3, 2]);
});
