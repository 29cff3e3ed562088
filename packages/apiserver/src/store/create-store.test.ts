import { beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "@lifeboat/api";
import { createRandom, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { silentLog } from "@lifeboat/kit";
import { storedConfigMap } from "@lifeboat/testkit";
import { createStore, StoreClosed, type StoreOptions } from "./create-store.ts";
import { createMemoryStorage, type MemoryStorage } from "./memory-storage.ts";
import { StorageBroken, StorageFull } from "./storage.ts";
import {
  type Change,
  type ChangeSink,
  type Entry,
  HeadMoved,
  HistoryGone,
  type Store,
  type WatchRange,
} from "./store.ts";

const TABLE = "/configmaps";
const EVENTS = "/events";
const SYNC_MS = 5;

let clock: VirtualClock;
let storage: MemoryStorage;
let store: Store;

beforeEach(async () => {
  clock = new VirtualClock(instantOf(0), drainPromises);
  storage = createMemoryStorage(clock, { syncDelayMs: SYNC_MS });
  await open();
});

async function open(options: Partial<StoreOptions> = {}): Promise<void> {
  store = await createStore({ clock, log: silentLog }, storage, {
    volatileTables: new Set([EVENTS]),
    ...options,
  });
}

async function restart(options: Partial<StoreOptions> = {}): Promise<void> {
  storage.crash({ lose: "unsynced", random: createRandom(1) });
  storage = storage.reopen();
  await open(options);
}

/** With its kind behind the rest: the store puts it first. */
function objectOf(key: string, revision: number, value: string): KubeObject {
  const { kind, apiVersion, ...rest } = storedConfigMap(key, revision, { value });
  return { ...rest, apiVersion, kind };
}

interface Write {
  readonly table?: string;
  readonly expected?: Entry | undefined;
}

/** Begins a write on the present head, or on `expected`. */
function begin(key: string, value: string, write: Write = {}): Promise<Entry> {
  const table = write.table ?? TABLE;
  const expected = "expected" in write ? write.expected : store.head(table, key);
  const build = (revision: number): KubeObject => objectOf(key, revision, value);
  const done = store.commit(table, key, expected, { kind: "put", build });
  done.catch(() => undefined);
  return done;
}

function beginRemove(key: string, table = TABLE): Promise<Entry> {
  const build = (revision: number): KubeObject => objectOf(key, revision, "removed");
  const done = store.commit(table, key, store.head(table, key), { kind: "remove", build });
  done.catch(() => undefined);
  return done;
}

async function settled<T>(done: Promise<T>): Promise<T> {
  await clock.advance(SYNC_MS * 4);
  return done;
}

const put = (key: string, value: string, write?: Write): Promise<Entry> =>
  settled(begin(key, value, write));
const remove = (key: string, table?: string): Promise<Entry> => settled(beginRemove(key, table));

const show = (change: Change): string =>
  `${change.revision} ${change.type} ${change.entry.key}=${valueOf(change.entry)}` +
  (change.previous === undefined ? "" : ` was ${valueOf(change.previous)}`);
const valueOf = (entry: Entry): string =>
  (entry.object["data"] as { readonly value: string }).value;
const list = (options: Parameters<Store["range"]>[1] = {}, table = TABLE): string[] =>
  Array.from(store.range(table, options), (entry) => `${entry.key}=${valueOf(entry)}`);

interface Recorded extends ChangeSink {
  readonly seen: string[];
}

function recorder(accept: (change: Change) => boolean = () => true): Recorded {
  const seen: string[] = [];
  return {
    seen,
    change: (change) => {
      seen.push(show(change));
      return accept(change);
    },
    end: (why) => void seen.push(why),
  };
}

const watch = (
  sink: ChangeSink,
  options: Partial<WatchRange> & { table?: string } = {},
): ReturnType<Store["watch"]> => {
  const { from = store.revision, needsPrevious = false, table = TABLE, ...rest } = options;
  return store.watch(table, { from, needsPrevious, ...rest }, sink);
};

describe("writing", () => {
  test("an object is visible to reads only when it is durable, to the next write at once", async () => {
    const done = begin("ns/a", "1");
    await clock.advance(SYNC_MS - 1);
    expect(store.get(TABLE, "ns/a")).toBeUndefined();
    expect(list()).toEqual([]);
    expect(store.revision).toBe(0);
    expect(store.head(TABLE, "ns/a")?.revision).toBe(1);
    const entry = await settled(done);
    expect(store.get(TABLE, "ns/a")).toBe(entry);
    expect(store.revision).toBe(1);
  });

  test("an entry is frozen, and its bytes begin with kind and apiVersion", async () => {
    const entry = await put("ns/a", "1");
    expect(Object.isFrozen(entry.object["data"])).toBe(true);
    const text = new TextDecoder().decode(entry.bytes);
    expect(text).toMatch(/^\{"kind":"ConfigMap","apiVersion":"v1","metadata":/);
    expect(JSON.parse(text)).toEqual(entry.object);
  });

  test("a write on a head that has moved is refused, durable or not", async () => {
    const first = await put("ns/a", "1");
    const second = begin("ns/a", "2");
    await expect(begin("ns/a", "3", { expected: first })).rejects.toBeInstanceOf(HeadMoved);
    await expect(begin("ns/a", "3", { expected: undefined })).rejects.toBeInstanceOf(HeadMoved);
    await expect(begin("ns/b", "3", { expected: first })).rejects.toBeInstanceOf(HeadMoved);
    await settled(second);
    await expect(begin("ns/a", "3", { expected: first })).rejects.toBeInstanceOf(HeadMoved);
    expect(valueOf(await put("ns/a", "3", { expected: await second }))).toBe("3");
  });

  test("writes of one turn share a sync, and those that come meanwhile share the next", async () => {
    const done = [begin("ns/a", "1"), begin("ns/b", "1"), begin("ns/a", "2")];
    await clock.advance(1);
    done.push(begin("ns/c", "1"), begin("ns/a", "3"));
    await clock.advance(SYNC_MS - 1);
    expect(list()).toEqual(["ns/a=2", "ns/b=1"]);
    await clock.advance(SYNC_MS);
    expect(list()).toEqual(["ns/a=3", "ns/b=1", "ns/c=1"]);
    expect((await Promise.all(done)).map((entry) => entry.revision)).toEqual([1, 2, 3, 4, 5]);
  });

  test("a group is cut at its limits", async () => {
    await restart({ groupMaxChanges: 2 });
    const done = ["a", "b", "c"].map((name) => begin(`ns/${name}`, "1"));
    await clock.advance(SYNC_MS);
    expect(list()).toHaveLength(2);
    await clock.advance(SYNC_MS);
    expect(list()).toHaveLength(3);
    await Promise.all(done);
  });

  test("memory comes before watchers, and watchers before answers", async () => {
    const order: string[] = [];
    watch({
      change: (change) => {
        const { key } = change.entry;
        order.push(`watcher ${key}, read ${list().length}`);
        return true;
      },
      end: () => undefined,
    });
    const done = ["ns/a", "ns/b"].map((key) =>
      begin(key, "1").then(() => order.push(`answer ${key}`)),
    );
    await settled(Promise.all(done));
    expect(order).toEqual([
      "watcher ns/a, read 2",
      "watcher ns/b, read 2",
      "answer ns/a",
      "answer ns/b",
    ]);
  });

  test("a removal is answered with the last state at the revision of the deletion", async () => {
    await put("ns/a", "1");
    const done = beginRemove("ns/a");
    expect(store.head(TABLE, "ns/a")).toBeUndefined();
    expect(store.get(TABLE, "ns/a")?.revision).toBe(1);
    const again = begin("ns/a", "2");
    expect((await settled(done)).object.metadata.resourceVersion).toBe("2");
    expect((await again).revision).toBe(3);
    expect(list()).toEqual(["ns/a=2"]);
  });

  test("a build that throws costs nothing", async () => {
    const bad = store.commit(TABLE, "ns/a", undefined, {
      kind: "put",
      build: () => {
        throw new Error("no such object");
      },
    });
    await expect(bad).rejects.toThrow("no such object");
    expect((await put("ns/a", "1")).revision).toBe(1);
  });

  test("durable waits for the head and not longer", async () => {
    await store.durable(TABLE, "ns/a");
    const done = begin("ns/a", "1");
    let isDurable = false;
    const waiting = store.durable(TABLE, "ns/a").then(() => {
      isDurable = true;
    });
    await clock.advance(SYNC_MS - 1);
    expect(isDurable).toBe(false);
    await clock.advance(1);
    await Promise.all([done, waiting]);
    await store.durable(TABLE, "ns/a");
  });
});

describe("a storage that fails", () => {
  test("full: the group and what was built on it is refused, heads go back, revisions are not reused", async () => {
    await put("ns/a", "1");
    storage.fill();
    const first = begin("ns/a", "x".repeat(9999));
    const onTop = begin("ns/a", "3");
    const outcomes = Promise.allSettled([first, onTop, store.durable(TABLE, "ns/a")]);
    for (const outcome of await settled(outcomes))
      expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(StorageFull) });
    expect(valueOf(store.head(TABLE, "ns/a") as Entry)).toBe("1");
    storage.free();
    expect((await put("ns/a", "4")).revision).toBe(4);
  });

  test("full: removals and updates that do not grow go on, also beside writes that are refused", async () => {
    await put("ns/a", "1");
    await put("ns/b", "1");
    storage.fill();
    await expect(put("ns/c", "1")).rejects.toBeInstanceOf(StorageFull);
    const refused = begin("ns/d", "1");
    const removed = beginRemove("ns/a");
    const refusedToo = begin("ns/e", "1");
    await settled(removed);
    await expect(refused).rejects.toBeInstanceOf(StorageFull);
    await expect(refusedToo).rejects.toBeInstanceOf(StorageFull);
    await put("ns/b", "2");
    expect(list()).toEqual(["ns/b=2"]);
    storage.free();
    await put("ns/f", "1");
    expect(list()).toEqual(["ns/b=2", "ns/f=1"]);
  });

  test("full: a kept removal is the head again when what was built on it is refused", async () => {
    await restart({ groupMaxChanges: 1 });
    await put("ns/a", "1");
    storage.fill();
    const grown = begin("ns/z", "1");
    const removed = beginRemove("ns/a");
    const recreated = begin("ns/a", "2");
    await clock.settle();
    await expect(grown).rejects.toBeInstanceOf(StorageFull);
    await expect(recreated).rejects.toBeInstanceOf(StorageFull);
    expect(store.get(TABLE, "ns/a")).toBeDefined();
    expect(store.head(TABLE, "ns/a")).toBeUndefined();
    await settled(removed);
    expect(list()).toEqual([]);
  });

  test("full: watchers saw exactly what a restart finds", async () => {
    const sink = recorder();
    watch(sink);
    await put("ns/a", "1");
    storage.fill();
    await expect(put("ns/b", "1")).rejects.toBeInstanceOf(StorageFull);
    await remove("ns/a");
    const seen = [...sink.seen];
    await restart();
    const later = recorder();
    watch(later, { from: 0 });
    expect(later.seen).toEqual(seen);
  });

  test("full: a removal is taken by a store that did not know yet that the disk is full", async () => {
    await put("ns/a", "1");
    storage.fill();
    await remove("ns/a");
    expect(list()).toEqual([]);
    expect(store.full).toBeUndefined();
  });

  test("full: what is kept in memory alone is taken, and does not hide that the disk is full", async () => {
    storage.fill();
    await expect(put("ns/a", "1")).rejects.toBeInstanceOf(StorageFull);
    await put("ns/event", "1", { table: EVENTS });
    expect(store.full).toBeInstanceOf(StorageFull);
    storage.free();
    await put("ns/a", "1");
    expect(store.full).toBeUndefined();
  });

  test("full: deletions leave no more than an eighth of the history on the disk", async () => {
    await restart({ historyMaxEvents: 80 });
    for (let i = 0; i < 60; i++) await put(`ns/${i}`, "1");
    expect(storage.image().history).toHaveLength(60);
    storage.fill();
    await expect(put("ns/z", "1")).rejects.toBeInstanceOf(StorageFull);
    await remove("ns/0");
    expect(storage.image().history).toHaveLength(11);
    await remove("ns/1");
    expect(storage.image().history).toHaveLength(11);
    expect(() => watch(recorder(), { from: 1 })).toThrow(HistoryGone);
    // There is room again: history may grow to its full length.
    storage.free();
    for (let i = 0; i < 60; i++) await put(`ns/later-${i}`, "1");
    expect(storage.image().history).toHaveLength(70);
  });

  test("full: that there is room, and that there is none, is found without a write", async () => {
    await store.askForRoom();
    expect(store.full).toBeUndefined();
    storage.fill();
    await store.askForRoom();
    expect(store.full?.message).toBe("the simulated disk is full");
    storage.free();
    await store.askForRoom();
    expect(store.full).toBeUndefined();
  });

  test("broken: everything on its way and every later write is refused, reads go on", async () => {
    await put("ns/a", "1");
    storage.fail(createRandom(1));
    const lost = begin("ns/a", "2");
    await clock.settle();
    await expect(lost).rejects.toBeInstanceOf(StorageBroken);
    await expect(begin("ns/b", "1")).rejects.toBeInstanceOf(StorageBroken);
    await expect(begin("ns/x", "1", { table: EVENTS })).rejects.toBeInstanceOf(StorageBroken);
    expect(list()).toEqual(["ns/a=1"]);
  });
});

describe("reading", () => {
  beforeEach(async () => {
    for (const key of ["b/y", "a/x", "b/x", "a-b/x", "/node", "b/z"]) await put(key, "1");
  });

  test.each([
    { name: "everything", options: {}, want: ["/node", "a-b/x", "a/x", "b/x", "b/y", "b/z"] },
    { name: "one namespace", options: { prefix: "a/" }, want: ["a/x"] },
    { name: "cluster scope", options: { prefix: "/" }, want: ["/node"] },
    { name: "a page", options: { prefix: "b/", after: "b/x" }, want: ["b/y", "b/z"] },
    { name: "after a key that is gone", options: { after: "b/xx" }, want: ["b/y", "b/z"] },
    {
      name: "after a key before the prefix",
      options: { prefix: "b/", after: "a/x" },
      want: ["b/x", "b/y", "b/z"],
    },
    { name: "after a key behind the prefix", options: { prefix: "a/", after: "b/x" }, want: [] },
    { name: "after the last", options: { after: "b/z" }, want: [] },
    { name: "nothing", options: { prefix: "c/" }, want: [] },
  ])("a range of $name has its keys in order, and count agrees", ({ options, want }) => {
    expect(Array.from(store.range(TABLE, options), (entry) => entry.key)).toEqual(want);
    expect(store.count(TABLE, options)).toBe(want.length);
  });

  test("a table nobody wrote to is empty", () => {
    expect(list({}, "apps/deployments")).toEqual([]);
    expect(store.count("apps/deployments", {})).toBe(0);
    expect(store.get("apps/deployments", "a/b")).toBeUndefined();
  });

  test("a range that was begun is not disturbed by later writes", async () => {
    const begun = store.range(TABLE, { prefix: "b/" })[Symbol.iterator]();
    expect(begun.next().value?.key).toBe("b/x");
    await remove("b/y");
    await put("b/yy", "1");
    const rest: unknown[] = [];
    for (let next = begun.next(); next.done !== true; next = begun.next())
      rest.push(next.value.key);
    expect(rest).toEqual(["b/y", "b/z"]);
  });

  test("a past revision is read as it was", async () => {
    const at = store.revision;
    await put("a/x", "2");
    await put("a/x", "3");
    await remove("b/y");
    await put("b/new", "1");
    await remove("b/new");
    await put("b/zz", "1");
    expect(list({ at })).toEqual(["/node=1", "a-b/x=1", "a/x=1", "b/x=1", "b/y=1", "b/z=1"]);
    expect(list({ at, prefix: "b/", after: "b/x" })).toEqual(["b/y=1", "b/z=1"]);
    expect(store.count(TABLE, { at, prefix: "b/", after: "b/x" })).toBe(2);
    expect(list({ at: at + 1 })[2]).toBe("a/x=2");
    expect(list({ prefix: "b/", at: store.revision })).toEqual(["b/x=1", "b/z=1", "b/zz=1"]);
  });

  test("a revision older than history is gone", async () => {
    await restart({ historyMaxEvents: 3 });
    expect(store.oldestRevision).toBe(3);
    expect(() => list({ at: 2 })).toThrow(HistoryGone);
    expect(list({ at: 3 })).toEqual(["a/x=1", "b/x=1", "b/y=1"]);
  });
});

describe("watching", () => {
  test("past changes come before live ones, without gap or double", async () => {
    await put("ns/a", "1");
    await put("ns/a", "2");
    await remove("ns/a");
    const sink = recorder();
    watch(sink, { from: 1 });
    expect(sink.seen).toEqual(["2 MODIFIED ns/a=2 was 1", "3 DELETED ns/a=removed was 2"]);
    await put("ns/a", "3");
    expect(sink.seen.slice(2)).toEqual(["4 ADDED ns/a=3"]);
  });

  test.each<{ name: string; range: Partial<WatchRange>; want: string[] }>([
    { name: "the whole table", range: {}, want: ["a/x", "ab/x", "/node", "a/xx"] },
    { name: "a namespace", range: { prefix: "a/" }, want: ["a/x", "a/xx"] },
    { name: "cluster scope", range: { prefix: "/" }, want: ["/node"] },
    { name: "the beginning of a name", range: { prefix: "a/xx" }, want: ["a/xx"] },
    { name: "the beginning of a namespace", range: { prefix: "a" }, want: ["a/x", "ab/x", "a/xx"] },
    { name: "one key", range: { key: "a/x" }, want: ["a/x"] },
    { name: "one key and its namespace", range: { prefix: "a/", key: "a/xx" }, want: ["a/xx"] },
  ])("a watch of $name sees its keys only, live and past", async ({ range, want }) => {
    const live: string[] = [];
    const past: string[] = [];
    const into = (seen: string[]): ChangeSink => ({
      change: ({ entry }) => seen.push(entry.key) > 0,
      end: () => undefined,
    });
    const stops = [watch(into(live), range)];
    for (const key of ["a/x", "ab/x", "/node", "a/xx"]) await put(key, "1");
    await put("a/x", "1", { table: "apps/deployments" });
    stops.push(watch(into(past), { ...range, from: 0 }));
    expect(live).toEqual(want);
    expect(past).toEqual(want);
    for (const watching of stops) watching.stop();
    await put("a/x", "2");
    await put("a/xx", "2");
    expect(live).toEqual(want);
  });

  test("a slow watcher is cut off, live or during the past, and delays nobody", async () => {
    const slow = recorder((change) => change.revision < 2);
    const quick = recorder();
    watch(slow);
    watch(quick);
    for (const value of ["1", "2", "3"]) await put("ns/a", value);
    expect(slow.seen).toEqual(["1 ADDED ns/a=1", "2 MODIFIED ns/a=2 was 1", "slow"]);
    expect(quick.seen).toHaveLength(3);
    const late = recorder(() => false);
    watch(late, { from: 0 }).stop();
    expect(late.seen).toEqual(["1 ADDED ns/a=1", "slow"]);
  });

  test("a sink that throws ends itself alone", async () => {
    const bad = recorder(() => {
      throw new Error("cannot");
    });
    const good = recorder();
    watch(bad);
    watch(good);
    await put("ns/a", "1");
    await put("ns/a", "2");
    expect(bad.seen).toEqual(["1 ADDED ns/a=1", "stopped"]);
    expect(good.seen).toHaveLength(2);
  });

  test("a sink may stop itself, stop others and begin watches while it is served", async () => {
    const late = recorder();
    const other = recorder();
    const stops: ReturnType<Store["watch"]>[] = [];
    const meddler = recorder(() => {
      for (const stop of stops) stop.stop();
      watch(late, { from: 0 });
      return true;
    });
    stops.push(watch(meddler), watch(other));
    const done = [begin("ns/a", "1"), begin("ns/b", "1")];
    await settled(Promise.all(done));
    expect(meddler.seen).toEqual(["1 ADDED ns/a=1", "stopped"]);
    expect(other.seen).toEqual(["stopped"]);
    expect(late.seen).toEqual(["1 ADDED ns/a=1", "2 ADDED ns/b=1"]);
    await put("ns/c", "1");
    expect(late.seen).toHaveLength(3);
  });

  test("stopping twice ends once", () => {
    const sink = recorder();
    const watching = watch(sink);
    watching.stop();
    watching.stop();
    expect(sink.seen).toEqual(["stopped"]);
  });

  test("a watch from a revision still to come begins after it", async () => {
    const sink = recorder();
    watch(sink, { from: 2 });
    for (const value of ["1", "2", "3"]) await put("ns/a", value);
    expect(sink.seen).toEqual(["3 MODIFIED ns/a=3 was 2"]);
  });

  test("history is bounded by events and by bytes, on disk too", async () => {
    await restart({ historyMaxEvents: 300 });
    for (let i = 0; i < 900; i += 100)
      await settled(Promise.all(Array.from({ length: 100 }, (_, j) => begin(`ns/${i + j}`, "1"))));
    expect(store.oldestRevision).toBe(600);
    expect(() => watch(recorder(), { from: 599 })).toThrow(HistoryGone);
    const sink = recorder();
    watch(sink, { from: 600 });
    expect(sink.seen).toHaveLength(300);
    await store.close();
    storage = storage.reopen();
    const rows = [...(await storage.load()).history].length;
    expect(rows).toBeGreaterThanOrEqual(300);
    expect(rows).toBeLessThan(300 + 256 + 100);
  });

  test("history is bounded by bytes, and keeps at least the newest change", async () => {
    await restart({ historyMaxBytes: 1000 });
    for (let i = 0; i < 5; i++) await put("ns/a", "x".repeat(300));
    expect(store.oldestRevision).toBe(3);
    await put("ns/a", "x".repeat(5000));
    expect(store.oldestRevision).toBe(5);
  });

  test("old states are the same text long after", async () => {
    await restart({ historyMaxEvents: 5000 });
    for (let i = 1; i <= 3000; i += 500)
      await settled(Promise.all(Array.from({ length: 500 }, (_, j) => begin("ns/a", `${i + j}`))));
    const sink = recorder();
    watch(sink, { from: 0, needsPrevious: true });
    expect(sink.seen.slice(1)).toEqual(
      Array.from({ length: 2999 }, (_, i) => `${i + 2} MODIFIED ns/a=${i + 2} was ${i + 1}`),
    );
  });
});

describe("restarting", () => {
  test("revisions go on above every one ever given out", async () => {
    await put("ns/a", "1");
    await put("ns/x", "1", { table: EVENTS });
    await restart();
    expect(store.revision).toBeGreaterThanOrEqual(2);
    const before = store.revision;
    expect((await put("ns/a", "2")).revision).toBe(before + 1);
  });

  test("the ceiling is raised ahead, also by volatile writes alone", async () => {
    for (let i = 0; i < 12_000; i += 1000)
      await settled(
        Promise.all(Array.from({ length: 1000 }, () => begin("ns/x", "1", { table: EVENTS }))),
      );
    expect(store.revision).toBe(12_000);
    await restart();
    expect(store.revision).toBeGreaterThanOrEqual(12_000);
  });

  test("volatile tables never reach the storage, need no sync, and are gone afterwards", async () => {
    await put("ns/a", "1");
    const event = begin("ns/x", "1", { table: EVENTS });
    await clock.settle();
    expect((await event).revision).toBe(2);
    const from = store.revision;
    await restart();
    expect(list({}, EVENTS)).toEqual([]);
    expect(() => watch(recorder(), { table: EVENTS, from })).toThrow(HistoryGone);
    watch(recorder(), { table: EVENTS });
  });

  test("a watch resumes where it was, with the states before", async () => {
    await put("ns/a", "1");
    await put("ns/a", "2");
    await put("ns/b", "1");
    await remove("ns/a");
    await restart();
    const sink = recorder();
    watch(sink, { from: 1, needsPrevious: true });
    await put("ns/a", "3");
    expect(sink.seen).toEqual([
      "2 MODIFIED ns/a=2 was 1",
      "3 ADDED ns/b=1",
      "4 DELETED ns/a=removed was 2",
      `${store.revision} ADDED ns/a=3`,
    ]);
    expect(list({ at: 2 })).toEqual(["ns/a=2"]);
  });

  test("a state before is known as long as the disk has it, also when its own change is trimmed", async () => {
    await put("ns/a", "1");
    await put("ns/b", "1");
    await put("ns/a", "2");
    await restart({ historyMaxEvents: 2 });
    const { oldestRevision } = store;
    const sink = recorder();
    watch(sink, { from: oldestRevision });
    expect(sink.seen).toEqual(["2 ADDED ns/b=1", "3 MODIFIED ns/a=2 was 1"]);
  });

  test("history begins where the disk was trimmed, whatever older rows it still has", async () => {
    const rows = [3, 4, 6].map((revision) => ({
      revision,
      type: revision === 3 ? ("ADDED" as const) : ("MODIFIED" as const),
      key: `${TABLE}/ns/a`,
      bytes: new TextEncoder().encode(JSON.stringify(objectOf("ns/a", revision, `${revision}`))),
    }));
    const loaded = { revisionCeiling: 10, historyStart: 6, objects: rows.slice(2), history: rows };
    store = await createStore(
      { clock, log: silentLog },
      {
        load: () => Promise.resolve(loaded),
        commit: () => Promise.resolve(),
        lackOfRoom: () => Promise.resolve(undefined),
        close: () => Promise.resolve(),
      },
      { volatileTables: new Set() },
    );
    expect(store.oldestRevision).toBe(5);
    expect(() => watch(recorder(), { from: 4 })).toThrow(HistoryGone);
    const sink = recorder();
    watch(sink, { from: 5, needsPrevious: true });
    expect(sink.seen).toEqual(["6 MODIFIED ns/a=6 was 4"]);
  });

  test("what the disk no longer knows is refused only where it matters", async () => {
    const old = objectOf("ns/a", 5, "2");
    const bytes = new TextEncoder().encode(JSON.stringify(old));
    const key = `${TABLE}/ns/a`;
    const change = { revision: 5, type: "MODIFIED", key, bytes } as const;
    await settled(storage.commit({ changes: [change], revisionCeiling: 10 }));
    await restart();
    watch(recorder(), { from: 4 });
    expect(() => watch(recorder(), { from: 4, needsPrevious: true })).toThrow(HistoryGone);
    watch(recorder(), { from: 4, needsPrevious: true, prefix: "other/" });
    expect(() => list({ at: 4 })).toThrow(HistoryGone);
    expect(list({ at: 5 })).toEqual(["ns/a=2"]);
  });
});

describe("closing", () => {
  test("what is on its way is finished, watchers are told, later writes are refused", async () => {
    const sink = recorder();
    watch(sink);
    const done = begin("ns/a", "1");
    const closing = store.close();
    await expect(begin("ns/b", "1")).rejects.toBeInstanceOf(StoreClosed);
    await settled(closing);
    await done;
    expect(sink.seen).toEqual(["1 ADDED ns/a=1", "closing"]);
    const late = recorder();
    watch(late, { from: 0 });
    expect(late.seen).toEqual(["closing"]);
    await store.close();
  });
});
