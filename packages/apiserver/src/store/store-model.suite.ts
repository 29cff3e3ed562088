/**
 * A model of the store for property tests: random operations on the real store over the simulated disk, under the virtual
 * clock, with crashes, a full disk and a failing one. What is checked, after every operation:
 *
 * 1. One watcher that resumes after every restart sees each change once, in order: its record is the truth.
 * 2. Every acknowledged write is in the truth, every write refused for lack of room is not, and of those that were
 *    not answered before a crash a beginning (in order of revision) is in it.
 * 3. The store's state, now and at past revisions, is the truth replayed; `previous` is the state before.
 * 4. No revision is given out twice in one life, nor at or below one that was seen in an earlier life.
 * 5. A write on the head is never refused as moved; one on anything else always is.
 */
import fc from "fast-check";
import type { KubeObject } from "@lifeboat/api";
import { createRandom, instantOf, type Random, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { silentLog } from "@lifeboat/kit";
import { storedConfigMap } from "@lifeboat/testkit";
import { createStore } from "./create-store.ts";
import { createMemoryStorage, type MemoryStorage } from "./memory-storage.ts";
import { type ChangeType, StorageBroken, StorageFull } from "./storage.ts";
import { type Change, type Entry, HeadMoved, HistoryGone, type Store } from "./store.ts";

const TABLE = "/configmaps";
const VOLATILE = "/events";
const SYNC_MS = 3;
const KEYS = ["a/x", "a/y", "b/x", "/n"];

type Operation =
  | { readonly do: "put"; readonly key: string; readonly size: number }
  | { readonly do: "put stale"; readonly key: string }
  | { readonly do: "remove"; readonly key: string }
  | { readonly do: "event" }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "crash" | "close" | "fill" | "free" | "fail" }
  | { readonly do: "watch"; readonly prefix: string; readonly back: number }
  | { readonly do: "read at"; readonly prefix: string; readonly back: number };

const key = fc.constantFrom(...KEYS);
const prefix = fc.constantFrom("", "a/", "b/", "a/x", "/");
const back = fc.nat(30);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      key,
      size: fc.constantFrom(1, 1, 1, 900),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("put stale" as const), key }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("remove" as const), key }) },
  { weight: 2, arbitrary: fc.constant<Operation>({ do: "event" }) },
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.nat(2 * SYNC_MS) }),
  },
  { weight: 2, arbitrary: fc.constant<Operation>({ do: "crash" }) },
  { weight: 1, arbitrary: fc.constant<Operation>({ do: "close" }) },
  { weight: 1, arbitrary: fc.constant<Operation>({ do: "fill" }) },
  { weight: 2, arbitrary: fc.constant<Operation>({ do: "free" }) },
  { weight: 1, arbitrary: fc.constant<Operation>({ do: "fail" }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("watch" as const), prefix, back }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("read at" as const), prefix, back }) },
);

/** Runs `numRuns` random histories; a failure prints the seed and the shortest history that fails. */
export async function checkStoreModel(numRuns: number): Promise<void> {
  const histories = fc.array(operation, { maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(histories, fc.nat(), async (operations, seed) => {
      const world = new World(createRandom(seed));
      await world.open();
      for (const next of operations) {
        await world.perform(next);
        world.check();
      }
      await world.finish();
    }),
    { numRuns },
  );
}

interface Seen {
  readonly revision: number;
  readonly type: ChangeType;
  readonly key: string;
  readonly value: string;
  readonly previous: string | undefined;
}

interface Attempt {
  readonly revision: number;
  readonly key: string;
  readonly value: string;
  outcome: "waiting" | "acknowledged" | "refused" | "in doubt";
}

interface SideWatch {
  readonly from: number;
  readonly prefix: string;
  readonly seen: Seen[];
}

class World {
  readonly #random: Random;
  readonly #clock = new VirtualClock(instantOf(0), drainPromises);
  #storage: MemoryStorage = createMemoryStorage(this.#clock, { syncDelayMs: SYNC_MS });
  #store!: Store;
  readonly #truth: Seen[] = [];
  readonly #attempts: Attempt[] = [];
  #inDoubt: Attempt[][] = [];
  #sideWatches: SideWatch[] = [];
  /** The highest revision given out in this life, and the highest that was seen in any. */
  #highest = 0;
  #highestSeen = 0;
  #writes = 0;
  #restarted = false;

  constructor(random: Random) {
    this.#random = random;
  }

  async open(): Promise<void> {
    this.#store = await createStore({ clock: this.#clock, log: silentLog }, this.#storage, {
      volatileTables: new Set([VOLATILE]),
      historyMaxEvents: 40,
      groupMaxChanges: 8,
      trimChunk: 4,
    });
    ensure(
      this.#store.revision >= this.#highestSeen,
      "revisions grow over restarts",
      this.#highestSeen,
    );
    this.#highest = this.#highestSeen;
    const from = this.#truth.at(-1)?.revision ?? 0;
    const sink = {
      change: (change: Change) => this.#truth.push(seenOf(change)) > 0,
      end: () => undefined,
    };
    this.#store.watch(TABLE, { from, needsPrevious: false }, sink);
  }

  async perform(operation: Operation): Promise<void> {
    switch (operation.do) {
      case "put":
        return this.#put(operation.key, operation.size);
      case "put stale":
        return this.#putStale(operation.key);
      case "remove":
        return this.#remove(operation.key);
      case "event":
        return this.#putEvent();
      case "advance":
        return this.#clock.advance(operation.ms);
      case "crash":
        return this.#crash();
      case "close":
        return this.#close();
      case "fill":
        return this.#storage.fill();
      case "free":
        return this.#storage.free();
      case "fail":
        return this.#storage.fail(this.#random);
      case "watch":
        return this.#watch(operation.prefix, operation.back);
      case "read at":
        return this.#readAt(operation.prefix, operation.back);
    }
  }

  /** Everything comes to rest, and one last restart finds what was promised. */
  async finish(): Promise<void> {
    this.#storage.free();
    await this.#clock.advance(100 * SYNC_MS);
    this.check();
    await this.#crash();
    this.check();
  }

  check(): void {
    this.#highestSeen = Math.max(this.#highestSeen, this.#store.revision);
    const seen = new Set<string>();
    let last = 0;
    for (const change of this.#truth) {
      ensure(change.revision > last, "changes come in order and once", change);
      last = change.revision;
      seen.add(nameOf(change));
    }
    for (const attempt of this.#attempts) {
      const isSeen = seen.has(nameOf(attempt));
      if (attempt.outcome === "acknowledged")
        ensure(isSeen, "no acknowledged write is lost", attempt);
      if (attempt.outcome === "refused") ensure(!isSeen, "no refused write happened", attempt);
    }
    for (const group of this.#inDoubt) {
      const kept = group.map((attempt) => seen.has(nameOf(attempt)));
      const firstLost = kept.indexOf(false);
      const isBeginning = firstLost < 0 || kept.lastIndexOf(true) < firstLost;
      ensure(isBeginning, "of the writes in doubt a beginning happened", group);
    }
    const now = this.#list("", undefined);
    ensureSame(now, replay(this.#truth, "", Number.POSITIVE_INFINITY), "the state is the truth");
    ensure(this.#store.count(TABLE, {}) === now.length, "count counts the state", now);
    for (const { from, prefix, seen: sideSeen } of this.#sideWatches) {
      const wanted = this.#truth.filter(
        (change) => change.revision > from && change.key.startsWith(prefix),
      );
      ensureSame(sideSeen.map(textOf), wanted.map(textOf), "every watcher sees the truth");
    }
  }

  async #put(key: string, size: number): Promise<void> {
    const value = `${this.#writes++} ${"x".repeat(size)}`;
    await this.#attempt(key, value, "put");
  }

  async #remove(key: string): Promise<void> {
    if (this.#store.head(TABLE, key) === undefined) return;
    await this.#attempt(key, `removed by ${this.#writes++}`, "remove");
  }

  /** Begins a write on the head and notes its outcome whenever that comes. */
  async #attempt(key: string, value: string, kind: "put" | "remove"): Promise<void> {
    const before = this.#store.head(TABLE, key);
    let attempt: Attempt | undefined;
    const build = (revision: number): KubeObject => {
      ensure(revision > this.#highest, "revisions grow", revision);
      this.#highest = revision;
      attempt = { revision, key, value, outcome: "waiting" };
      this.#attempts.push(attempt);
      return storedConfigMap(key, revision, { value });
    };
    const note = (outcome: Attempt["outcome"]): void => {
      if (attempt?.outcome === "waiting") attempt.outcome = outcome;
    };
    this.#store.commit(TABLE, key, before, { kind, build }).then(
      () => note("acknowledged"),
      (error: unknown) => {
        ensure(!(error instanceof HeadMoved), "a write on the head is not refused as moved", key);
        if (error instanceof StorageFull) note("refused");
        else if (!(error instanceof StorageBroken)) throw error;
      },
    );
    await Promise.resolve();
    if (attempt === undefined) return;
    const wanted = kind === "put" ? attempt.revision : undefined;
    ensure(
      this.#store.head(TABLE, key)?.revision === wanted,
      "a write is the head at once",
      attempt,
    );
  }

  async #putStale(key: string): Promise<void> {
    const head = this.#store.head(TABLE, key);
    const stale = { key, revision: (head?.revision ?? 1) - 1 } as Entry;
    const build = (revision: number): KubeObject =>
      storedConfigMap(key, revision, { value: "never" });
    const done = this.#store.commit(TABLE, key, stale, { kind: "put", build });
    const error: unknown = await done.catch((refusal: unknown) => refusal);
    const isRefused = error instanceof HeadMoved || error instanceof StorageBroken;
    ensure(isRefused, "a write on anything but the head is refused", error);
  }

  async #putEvent(): Promise<void> {
    const head = this.#store.head(VOLATILE, "a/e");
    const build = (revision: number): KubeObject => {
      ensure(revision > this.#highest, "revisions grow", revision);
      this.#highest = revision;
      return storedConfigMap("a/e", revision, { value: "event" });
    };
    this.#store.commit(VOLATILE, "a/e", head, { kind: "put", build }).catch(() => undefined);
    await Promise.resolve();
  }

  async #crash(): Promise<void> {
    // What was answered before the crash has been noted; the rest is in doubt, in this order.
    await this.#clock.settle();
    const doubtful = this.#attempts.filter((attempt) => attempt.outcome === "waiting");
    for (const attempt of doubtful) attempt.outcome = "in doubt";
    this.#inDoubt.push(doubtful);
    this.#storage.crash({ lose: "unsynced", random: this.#random });
    await this.#reopen();
  }

  async #close(): Promise<void> {
    const closing = this.#store.close();
    await this.#clock.advance(100 * SYNC_MS);
    await closing;
    const doubtful = this.#attempts.filter((attempt) => attempt.outcome === "waiting");
    for (const attempt of doubtful) attempt.outcome = "in doubt";
    this.#inDoubt.push(doubtful);
    await this.#reopen();
  }

  async #reopen(): Promise<void> {
    this.#restarted = true;
    this.#sideWatches = [];
    this.#storage = this.#storage.reopen();
    await this.open();
  }

  #watch(prefix: string, back: number): void {
    const from = Math.max(this.#store.revision - back, 0);
    const side: SideWatch = { from, prefix, seen: [] };
    const sink = {
      change: (change: Change) => side.seen.push(seenOf(change)) > 0,
      end: () => undefined,
    };
    try {
      this.#store.watch(TABLE, { from, prefix, needsPrevious: true }, sink);
      this.#sideWatches.push(side);
    } catch (error) {
      this.#expectGone(error, from);
    }
  }

  #readAt(prefix: string, back: number): void {
    const at = Math.max(this.#store.revision - back, 0);
    try {
      const then = this.#list(prefix, at);
      ensureSame(then, replay(this.#truth, prefix, at), "the past is the truth");
      ensure(this.#store.count(TABLE, { prefix, at }) === then.length, "count counts the past", at);
    } catch (error) {
      this.#expectGone(error, at);
    }
  }

  #expectGone(error: unknown, from: number): void {
    if (!(error instanceof HistoryGone)) throw error;
    const isOld = from < this.#store.oldestRevision || this.#restarted;
    ensure(isOld, "only what is old is gone", from);
  }

  #list(prefix: string, at: number | undefined): string[] {
    const options = { prefix, ...(at !== undefined && { at }) };
    return Array.from(
      this.#store.range(TABLE, options),
      (entry) => `${entry.key}@${entry.revision}=${valueOf(entry)}`,
    );
  }
}

/** Values are never written twice, so this names one write. */
function nameOf(write: Pick<Attempt, "revision" | "key" | "value">): string {
  return `${write.revision} ${write.key} ${write.value}`;
}

const textOf = (seen: Seen): string => JSON.stringify(seen);

/** A plain check: the assertions of the test runner are too slow for millions of them. */
function ensure(condition: boolean, promise: string, about: unknown): void {
  if (!condition) throw new Error(`broken promise: ${promise}: ${JSON.stringify(about)}`);
}

function ensureSame(found: readonly string[], wanted: readonly string[], promise: string): void {
  ensure(found.join("\n") === wanted.join("\n"), promise, { found, wanted });
}

function replay(truth: readonly Seen[], prefix: string, at: number): string[] {
  const state = new Map<string, string>();
  const values = new Map<string, string>();
  for (const { revision, type, key, value, previous } of truth) {
    if (revision > at) break;
    ensure(values.has(key) === (type !== "ADDED"), "a change has the type of what it did", key);
    if (previous !== undefined)
      ensure(previous === values.get(key), "previous is the state before", key);
    if (type === "DELETED") {
      state.delete(key);
      values.delete(key);
    } else {
      state.set(key, `${key}@${revision}=${value}`);
      values.set(key, value);
    }
  }
  return [...state.keys()]
    .filter((key) => key.startsWith(prefix))
    .sort()
    .map((key) => state.get(key) ?? "");
}

function seenOf({ revision, type, entry, previous }: Change): Seen {
  return {
    revision,
    type,
    key: entry.key,
    value: valueOf(entry),
    previous: previous === undefined ? undefined : valueOf(previous),
  };
}

const valueOf = (entry: Entry): string =>
  (entry.object["data"] as { readonly value: string }).value;
