import { type AnyObject, failure, type Resource, Refused } from "@lifeboat/api";
import { createRandom, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, test } from "vitest";
import { ExcessiveResponse, NotSent, type WatchEnd } from "./client.ts";
import {
  type CollectionLimits,
  compareVersions,
  Informer,
  type InformerOptions,
} from "./informer.ts";
import { silentLog } from "./log.ts";
import { silentMetrics } from "./metrics.ts";
import { ToyClient } from "./toy-client.suite.ts";

const things: Resource = {
  group: "",
  version: "v1",
  plural: "things",
  kind: "Thing",
  namespaced: true,
};

function thing(name: string, data: Record<string, unknown> = {}) {
  return { apiVersion: "v1", kind: "Thing", metadata: { namespace: "ns", name }, ...data };
}

function setUp(options: InformerOptions<AnyObject> = {}) {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const client = new ToyClient(clock);
  const ports = { clock, random: createRandom(1), log: silentLog, metrics: silentMetrics };
  const informer = new Informer(ports, client, things, options);
  const changes: string[] = [];
  informer.onChange((old, now) => {
    changes.push(`${old?.metadata.name ?? "-"}>${now?.metadata.name ?? "-"}`);
  });
  const stop = new AbortController();
  const start = async (): Promise<{ run: Promise<void> }> => {
    const run = informer.run(stop.signal);
    run.catch(() => undefined);
    await clock.settle();
    return { run };
  };
  return { clock, client, informer, changes, stop, start, key: { namespace: "ns", name: "a" } };
}

const names = (informer: Informer<AnyObject>): string[] =>
  informer
    .list()
    .map((object) => object.metadata.name)
    .sort();

test("it lists in pages, then follows every change", async () => {
  const { clock, client, informer, changes, start } = setUp({ pageSize: 2 });
  for (const name of ["a", "b", "c", "d", "e"]) await client.create(things, thing(name));
  expect(informer.synced).toBe(false);
  await start();
  expect(informer.synced).toBe(true);
  expect(names(informer)).toEqual(["a", "b", "c", "d", "e"]);
  expect(client.calls.filter((call) => call.startsWith("list"))).toHaveLength(3);
  const made = await client.create(things, thing("f"));
  await client.update(things, { ...made, spec: 1 });
  await client.delete(things, { namespace: "ns", name: "a" });
  await clock.settle();
  expect(names(informer)).toEqual(["b", "c", "d", "e", "f"]);
  expect(changes.slice(5)).toEqual(["->f", "f>f", "a>-"]);
});

test("a handler that comes late hears of what is there", async () => {
  const { client, informer, start } = setUp();
  await client.create(things, thing("a"));
  await start();
  const seen: string[] = [];
  informer.onChange((_, now) => seen.push(now?.metadata.name ?? "-"));
  expect(seen).toEqual(["a"]);
});

test("a handler that left hears nothing", async () => {
  const { clock, client, informer, start } = setUp();
  await start();
  let heard = 0;
  informer.onChange(() => (heard += 1))();
  await client.create(things, thing("a"));
  await clock.settle();
  expect(heard).toBe(0);
});

test("a lost watch resumes from the last version, without a list", async () => {
  const { clock, client, informer, changes, start } = setUp();
  await client.create(things, thing("a"));
  await start();
  await client.create(things, thing("b"));
  await clock.settle();
  const { version } = client;
  client.endWatches({ kind: "lost", error: new Error("reset") });
  await client.create(things, thing("c"));
  await clock.advance(200);
  expect(names(informer)).toEqual(["a", "b", "c"]);
  expect(changes).toEqual(["->a", "->b", "->c"]);
  expect(client.calls.filter((call) => call.startsWith("list"))).toHaveLength(1);
  expect(client.calls).toContain(`watch things ${version}`);
});

test("after 410 it lists again and reports what vanished and what was created again", async () => {
  const { clock, client, informer, changes, start } = setUp();
  for (const name of ["a", "b", "c"]) await client.create(things, thing(name));
  await start();
  client.endWatches({ kind: "lost", error: new Error("reset") });
  await client.delete(things, { namespace: "ns", name: "a" });
  await client.delete(things, { namespace: "ns", name: "b" });
  await client.create(things, thing("b"));
  client.forgetHistory();
  changes.length = 0;
  await clock.advance(1000);
  expect(names(informer)).toEqual(["b", "c"]);
  expect(changes).toEqual(["a>-", "b>-", "->b"]);
});

test("410 within a watch leads to a list as well", async () => {
  const { clock, client, informer, start } = setUp();
  await start();
  await client.create(things, thing("a"));
  client.endWatches({ kind: "refused", status: failure(410, "Expired", "too old") });
  await clock.advance(1000);
  expect(names(informer)).toEqual(["a"]);
  expect(client.calls.filter((call) => call.startsWith("list"))).toHaveLength(2);
});

test("a streaming list gives the same copy with a single call", async () => {
  const { clock, client, informer, changes, start } = setUp({ streamingList: true });
  for (const name of ["a", "b"]) await client.create(things, thing(name));
  await start();
  expect(informer.synced).toBe(true);
  await client.create(things, thing("c"));
  await clock.settle();
  expect(changes).toEqual(["->a", "->b", "->c"]);
  expect(client.calls.filter((call) => call.startsWith("list"))).toEqual([]);
});

test("a server that refuses a streaming list is listed", async () => {
  const { client, informer, start } = setUp({ streamingList: true });
  client.refuseStreaming = true;
  await client.create(things, thing("a"));
  await start();
  expect(informer.synced).toBe(true);
  expect(names(informer)).toEqual(["a"]);
});

test("what goes while a streaming list is under way is not in the copy", async () => {
  const { clock, client, informer, start } = setUp({ streamingList: true });
  for (const name of ["a", "b"]) await client.create(things, thing(name));
  client.holdInitialEvents = true;
  await start();
  await client.delete(things, { namespace: "ns", name: "a" });
  await clock.settle();
  client.endInitialEvents();
  await clock.settle();
  expect(informer.synced).toBe(true);
  expect(names(informer)).toEqual(["b"]);
});

test("a streaming list that goes on is waited for", async () => {
  const { clock, client, informer, start } = setUp({ streamingList: true });
  client.holdInitialEvents = true;
  await start();
  for (let i = 0; i < 9; i++) {
    await clock.advance(4000);
    await client.create(things, thing(`t-${i}`));
  }
  expect(informer.synced).toBe(false);
  client.endInitialEvents();
  await clock.settle();
  expect(names(informer)).toHaveLength(9);
  expect(client.calls.filter((call) => call.startsWith("list"))).toEqual([]);
  await clock.advance(10_000);
  await client.create(things, thing("u"));
  await clock.settle();
  expect(names(informer)).toHaveLength(10);
  expect(client.calls.filter((call) => call.startsWith("list"))).toEqual([]);
});

test.each([
  { changes: "nothing changes", everyMs: 6000 },
  { changes: "something always changes", everyMs: 3000 },
])(
  "a server that takes a streaming list for a watch is listed although $changes",
  async ({ everyMs }) => {
    const { clock, client, informer, start } = setUp({ streamingList: true });
    client.ignoreStreaming = true;
    await client.create(things, thing("a"));
    await start();
    for (let ms = 0, i = 0; ms <= 60_000; ms += everyMs, i++) {
      await clock.advance(everyMs);
      if (everyMs < 5000) await client.create(things, thing(`t-${i}`));
    }
    await clock.settle();
    expect(informer.synced).toBe(true);
    expect(informer.list()).toHaveLength((await client.list(things)).items.length);
    expect(names(informer)).toContain("a");
  },
);

test.each([{ streamingList: false }, { streamingList: true }])(
  "a list older than what was seen is asked for again (%o)",
  async (options) => {
    const { clock, client, informer, changes, start } = setUp(options);
    await client.create(things, thing("a"));
    const old = client.snapshot();
    await client.create(things, thing("b"));
    await start();
    client.stale = old;
    client.refuseStreaming = true;
    client.endWatches({ kind: "refused", status: failure(410, "Expired", "too old") });
    await clock.advance(5000);
    expect(names(informer)).toEqual(["a", "b"]);
    client.stale = undefined;
    await client.create(things, thing("c"));
    await clock.advance(60_000);
    expect(names(informer)).toEqual(["a", "b", "c"]);
    expect(changes).toEqual(["->a", "->b", "->c"]);
  },
);

test("a server whose versions went back is believed after a minute", async () => {
  const { clock, client, informer, changes, start } = setUp();
  await client.create(things, thing("a"));
  const before = client.snapshot();
  const b = await client.create(things, thing("b"));
  const metadata = { ...b.metadata, resourceVersion: "99999999" };
  await start();
  client.repeat({ type: "MODIFIED", object: { ...b, metadata } });
  await clock.settle();
  client.stale = before;
  client.endWatches({ kind: "refused", status: failure(410, "Expired", "too old") });
  await clock.advance(50_000);
  expect(names(informer)).toEqual(["a", "b"]);
  await clock.advance(60_000);
  // Its history is the true one, and holds b once more.
  expect(changes).toEqual(["->a", "->b", "b>b", "b>-", "->b"]);
  client.stale = undefined;
  await client.create(things, thing("c"));
  await clock.settle();
  expect(names(informer)).toEqual(["a", "b", "c"]);
});

const NONSENSE: readonly unknown[] = [
  null,
  7,
  ["no"],
  {},
  { metadata: null },
  { metadata: { name: "a", uid: "u" } },
  { metadata: { name: "", uid: "u", resourceVersion: "999" } },
  { metadata: { name: "a", uid: [], resourceVersion: "999" } },
  { metadata: { name: "a", uid: "u", resourceVersion: 999 } },
  { metadata: { name: "a", uid: "u", resourceVersion: "999", labels: "all" } },
];

test.each(NONSENSE)(
  "an event about something that is no object is not taken in: %j",
  async (it) => {
    const { clock, client, informer, changes, start } = setUp();
    await client.create(things, thing("a"));
    await start();
    client.repeat({ type: "MODIFIED", object: it as AnyObject });
    await clock.settle();
    expect(changes).toEqual(["->a"]);
    await client.create(things, thing("b"));
    await clock.advance(1000);
    expect(names(informer)).toEqual(["a", "b"]);
  },
);

test.each([
  ...NONSENSE.map((item) => ({ metadata: { resourceVersion: "101" }, items: [item] })),
  null,
  {},
  { items: [], metadata: { resourceVersion: 7 } },
  { items: {}, metadata: { resourceVersion: "101" } },
])("a list of something else is asked for again: %j", async (answer) => {
  const { clock, client, informer, start } = setUp();
  await client.create(things, thing("a"));
  const list = client.list.bind(client);
  client.list = () => Promise.resolve(answer as never);
  await start();
  await clock.advance(1000);
  expect(informer.synced).toBe(false);
  client.list = list;
  await clock.advance(5000);
  expect(names(informer)).toEqual(["a"]);
});

test("an object that cannot be made smaller is as if there were no list", async () => {
  const transform = (object: AnyObject): AnyObject => {
    if (object["spec"] === "deep") throw new RangeError("too deep");
    return object;
  };
  const { clock, client, informer, start } = setUp({ transform });
  const made = await client.create(things, thing("a", { spec: "deep" }));
  await start();
  expect(informer.synced).toBe(false);
  await client.update(things, { ...made, spec: "flat" });
  await clock.advance(5000);
  expect(names(informer)).toEqual(["a"]);
});

test("repeated and old events change nothing", async () => {
  const { clock, client, informer, changes, start } = setUp();
  const first = await client.create(things, thing("a"));
  await client.update(things, { ...first, spec: 2 });
  await start();
  client.repeat({ type: "MODIFIED", object: first });
  client.repeat({ type: "DELETED", object: first });
  await clock.settle();
  expect(changes).toEqual(["->a"]);
  expect(informer.list()[0]?.["spec"]).toBe(2);
});

test("an event from before the version of the watch leads to a list", async () => {
  const { clock, client, informer, start } = setUp();
  const first = await client.create(things, thing("a"));
  await client.update(things, { ...first, spec: 2 });
  await start();
  client.repeat({ type: "MODIFIED", object: first });
  await clock.advance(1000);
  expect(client.calls.filter((call) => call.startsWith("list"))).toHaveLength(2);
  expect(informer.list()[0]?.["spec"]).toBe(2);
});

test.each<WatchEnd>([
  { kind: "lost", error: new Error("reset") },
  { kind: "refused", status: failure(503, "ServiceUnavailable", "not now") },
])(
  "a watch after a failure that brings nothing, no bookmark either, ends soon and is followed by a list (%o)",
  async (end) => {
    const { clock, client, start } = setUp();
    await start();
    client.endWatches(end);
    await clock.advance(100_000);
    expect(client.timeouts.at(-1)).toBe(100);
    client.endWatches({ kind: "closed" });
    await clock.advance(1000);
    expect(client.calls.filter((call) => call.startsWith("list"))).toHaveLength(2);
  },
);

test("a watch that brought a bookmark is resumed", async () => {
  const { clock, client, start } = setUp();
  await start();
  client.endWatches({ kind: "lost", error: new Error("reset") });
  await clock.advance(60_000);
  client.repeat({ type: "BOOKMARK", resourceVersion: client.version, initialEventsEnd: false });
  await clock.advance(40_000);
  client.endWatches({ kind: "closed" });
  await clock.advance(1000);
  expect(client.calls.filter((call) => call.startsWith("list"))).toHaveLength(1);
});

test("a bookmark moves the version to resume from", async () => {
  const { clock, client, informer, start } = setUp();
  await start();
  const other = { ...things, plural: "others" };
  await client.create(other, thing("x"));
  client.repeat({ type: "BOOKMARK", resourceVersion: client.version, initialEventsEnd: false });
  await clock.settle();
  expect(informer.resourceVersion).toBe(client.version);
});

test("while the server is down the copy stays, and the pauses grow", async () => {
  const { clock, client, informer, start } = setUp();
  await client.create(things, thing("a"));
  await start();
  client.down = true;
  client.endWatches({ kind: "lost", error: new Error("reset") });
  const before = client.calls.length;
  await clock.advance(10 * 60_000);
  const attempts = client.calls.length - before;
  expect(attempts).toBeGreaterThan(15);
  expect(attempts).toBeLessThan(60);
  expect(names(informer)).toEqual(["a"]);
  client.down = false;
  await client.create(things, thing("b"));
  await clock.advance(31_000);
  expect(names(informer)).toEqual(["a", "b"]);
});

test("a Retry-After is kept to", async () => {
  const { clock, client, informer, start } = setUp();
  client.listRefusals.push(
    new Refused(failure(429, "TooManyRequests", "busy", { retryAfterSeconds: 7 })),
  );
  await start();
  await clock.advance(6999);
  expect(informer.synced).toBe(false);
  await clock.advance(1);
  expect(informer.synced).toBe(true);
});

test("indexes follow the objects", async () => {
  const { clock, client, informer, start } = setUp({
    indexes: { colour: (object) => (object["colours"] as string[] | undefined) ?? [] },
  });
  const a = await client.create(things, thing("a", { colours: ["red", "blue"] }));
  await client.create(things, thing("b", { colours: ["red"] }));
  await start();
  const red = (): string[] => informer.byIndex("colour", "red").map((o) => o.metadata.name);
  expect(red()).toEqual(["a", "b"]);
  await client.update(things, { ...a, colours: ["blue"] });
  await client.delete(things, { namespace: "ns", name: "b" });
  await clock.settle();
  expect(red()).toEqual([]);
  expect(informer.byIndex("colour", "blue")).toHaveLength(1);
  expect(() => informer.byIndex("shape", "round")).toThrow("not declared");
});

test("transformed objects are kept, and frozen", async () => {
  const { client, informer, start, key } = setUp({
    transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata, small: true }),
  });
  await client.create(things, thing("a", { spec: "large" }));
  await start();
  expect(informer.get(key)).toMatchObject({ small: true });
  expect(informer.get(key)).not.toHaveProperty("spec");
  expect(Object.isFrozen(informer.get(key))).toBe(true);
});

test("untransformed objects are the client's own", async () => {
  const { client, informer, start, key } = setUp();
  const made = await client.create(things, thing("a"));
  await start();
  expect(informer.get(key)).toBe(made);
});

test("waiting for the copy ends when it is there or when the wait is given up", async () => {
  const { clock, informer, start } = setUp();
  const impatient = new AbortController();
  const given = informer.whenSynced(impatient.signal);
  const patient = informer.whenSynced(new AbortController().signal);
  impatient.abort();
  expect(await given).toBe(false);
  await start();
  await clock.settle();
  expect(await patient).toBe(true);
  expect(await informer.whenSynced(impatient.signal)).toBe(true);
});

test("it stops when its signal aborts, and stops its watch", async () => {
  const { clock, client, start, stop } = setUp();
  const { run } = await start();
  expect(client.openWatches).toBe(1);
  stop.abort();
  await clock.settle();
  await run;
  expect(client.openWatches).toBe(0);
});

test("it stops while it waits for a server that is down", async () => {
  const { clock, client, start, stop } = setUp();
  client.down = true;
  const { run } = await start();
  stop.abort();
  await clock.settle();
  await run;
});

test("a handler that throws ends the run with its error", async () => {
  const { client, clock, informer, start } = setUp();
  const { run } = await start();
  informer.onChange(() => {
    throw new Error("bug");
  });
  await client.create(things, thing("a"));
  await clock.settle();
  await expect(run).rejects.toThrow("bug");
  expect(client.openWatches).toBe(0);
});

test.each([
  ["9", "10", -1],
  ["10", "9", 1],
  ["10", "10", 0],
  ["99999999999999999998", "99999999999999999999", -1],
])("version %s against %s", (a, b, want) => {
  expect(Math.sign(compareVersions(a, b))).toBe(want);
});

function limited(limits: Partial<CollectionLimits> = {}) {
  const told: string[] = [];
  const tell = ({ kind }: ExcessiveResponse): void => void told.push(kind);
  return { told, ...setUp({ limits: { maxObjects: 30, pageSize: 10, tell, ...limits } }) };
}

test("a list with more objects than the server may have is not taken in, and is reported", async () => {
  const { client, informer, told, start } = limited();
  for (let i = 0; i < 31; i++) await client.create(things, thing(`t${i}`));
  await start();
  expect(informer.synced).toBe(false);
  expect(informer.size).toBe(0);
  expect(told).toEqual(["TooManyItems"]);
  expect(client.calls.filter((call) => call.startsWith("list"))).toHaveLength(4);
});

test("a list whose pages have no end is given up, also when they are empty", async () => {
  const { client, told, start } = limited();
  let pages = 0;
  client.list = async () => {
    pages += 1;
    return {
      apiVersion: "v1",
      kind: "ThingList",
      metadata: { resourceVersion: "1", continue: "more" },
      items: [],
    };
  };
  await start();
  expect(told).toEqual(["TooManyItems"]);
  expect(pages).toBe(4);
});

test("a watch that brings more objects, or larger ones, than the server may have leaves the copy as it is", async () => {
  const { clock, client, informer, told, stop, start } = limited({ maxBytes: 10_000 });
  for (let i = 0; i < 20; i++) await client.create(things, thing(`t${i}`));
  await start();
  await client.create(things, thing("large", { text: "x".repeat(10_000) }));
  await clock.settle();
  expect(informer.size).toBe(20);
  expect(told).toEqual(["ResponseTooLarge"]);
  // It does not try without a pause.
  await clock.advance(10_000);
  const tries = told.length;
  expect(tries).toBeGreaterThan(1);
  expect(tries).toBeLessThan(12);
  await client.delete(things, { namespace: "ns", name: "large" });
  await clock.advance(60_000);
  for (let i = 0; i < 20; i++) await client.create(things, thing(`n${i}`));
  await clock.advance(10_000);
  expect(informer.size).toBe(30);
  expect(told).toContain("TooManyItems");
  stop.abort();
});

test("pages that are too large for the client become smaller", async () => {
  const { clock, client, informer, start } = limited({ maxObjects: 100, pageSize: 64 });
  for (let i = 0; i < 50; i++) await client.create(things, thing(`t${i}`));
  const list = client.list.bind(client);
  const limits: number[] = [];
  client.list = async (resource, options) => {
    limits.push(options?.limit ?? 0);
    if ((options?.limit ?? 0) > 8)
      throw new NotSent("too large", {
        cause: new ExcessiveResponse("ResponseTooLarge", "too large"),
      });
    return list(resource, options);
  };
  await start();
  await clock.advance(5000);
  expect(informer.size).toBe(50);
  expect(limits.slice(0, 3)).toEqual([64, 16, 4]);
});
