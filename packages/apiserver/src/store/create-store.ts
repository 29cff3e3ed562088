/**
 * The Store: all objects in memory, their changes in a bounded history, both made durable in commit groups.
 *
 * A write is checked against the pending head, gets its revision, is encoded once and joins the waiting group. One group
 * at a time is with the storage; when it is durable the whole group goes to memory, then to watchers, then to those who
 * wait for an answer, each in order of revision. Meanwhile the next group gathers, so the number of syncs adapts to
 * the speed of the disk.
 *
 * 1. `get`, `range`, `count` and watchers see durable changes only; `head` alone sees what is on its way.
 * 2. Storage full: the group and everything that waits behind it is refused, except removals that build on durable
 *    state; from then on until there is room again, growing writes are kept apart from those that may use the
 *    storage's reserve, so that deletions go on. While it is full, only an eighth of the history is kept, and what is
 *    dropped of it is trimmed on disk at once: otherwise a deletion moves an object to history and frees nothing.
 * 3. Storage broken: everything on its way is refused, and every later write, until the store is opened anew.
 * 4. A group of volatile changes below the revision ceiling is not sent to the storage at all.
 * 5. The ceiling that covers a revision is durable before anybody sees the revision. One that nobody saw, because its
 *    group was lost in a crash together with the ceiling, may be given out again in the next life.
 * 6. History holds every change of the last `historyMaxEvents` or `historyMaxBytes`, whichever is less, and at least one.
 */
import { assert, type Cancel, type Clock, soon } from "@lifeboat/base";
import type { Log } from "@lifeboat/kit";
import { ChangeLog } from "./change-log.ts";
import { endOfPrefix, splitStorageKey, storageKeyOf } from "./key-text.ts";
import { SortedMap } from "./sorted-map.ts";
import {
  type ChangeRow,
  type ChangeType,
  type Loaded,
  type Storage,
  type StorageBatch,
  StorageBroken,
  StorageFull,
} from "./storage.ts";
import {
  type Change,
  type ChangeSink,
  type Entry,
  HeadMoved,
  HistoryGone,
  type Mutation,
  type RangeOptions,
  type Store,
  type StoreWatch,
  type WatchRange,
} from "./store.ts";
import { coldEntry, entryOf, StoredEntry, warmEntry } from "./stored-entry.ts";
import { Watcher, WatcherSet } from "./watcher-set.ts";

export interface StorePorts {
  readonly clock: Clock;
  readonly log: Log;
}

export interface StoreOptions {
  /** Tables that are kept in memory only. */
  readonly volatileTables: ReadonlySet<string>;
  readonly historyMaxEvents?: number;
  /** Counts the JSON of the changes, not the objects parsed from it nor the states before. */
  readonly historyMaxBytes?: number;
  readonly groupMaxChanges?: number;
  readonly groupMaxBytes?: number;
  /** The disk is told to trim only when this many changes can go, so that most groups do not trim. */
  readonly trimChunk?: number;
  /** Told of every change once it is durable, so that writes can be counted where they happen. Must not throw. */
  readonly onWrite?: (table: string, type: ChangeType) => void;
}

/** The store was closed; the write was not done. */
export class StoreClosed extends Error {
  override readonly name = "StoreClosed";
}

const MIB = 1024 * 1024;
const DEFAULTS = {
  historyMaxEvents: 50_000,
  historyMaxBytes: 128 * MIB,
  groupMaxChanges: 1024,
  groupMaxBytes: 8 * MIB,
  trimChunk: 256,
  onWrite: (): void => undefined,
} as const;
/** How far ahead of the revisions the ceiling is raised; it is raised again when half of them are given out. */
const CEILING_STEP = 10_000;
/** Changes of the last so many revisions keep the parsed object of the state before them. */
const WARM_CHANGES = 256;
/** A write that makes an object larger by more than this counts as growing when the storage is full. */
const GROWTH_ALLOWED = 512;
const SLOW_COMMIT_MS = 1000;
/** The storage is no longer full when this much fits: more than any one write wants, so that it is not full again at once. */
const ENOUGH_BYTES = 8 * MIB;
/** How much of its history a full store keeps: a deleted object is in history until that is trimmed, and takes room there. */
const HISTORY_SHARE_WHEN_FULL = 1 / 8;

/** Opens a store on what the storage holds. The storage belongs to the store from here on. */
export async function createStore(
  ports: StorePorts,
  storage: Storage,
  options: StoreOptions,
): Promise<Store> {
  const loaded = await storage.load();
  return new MemoryStore(ports, storage, { ...DEFAULTS, ...options }, loaded);
}

interface Table {
  readonly name: string;
  readonly volatile: boolean;
  readonly entries: SortedMap<StoredEntry>;
  /** The newest write on its way, per key. */
  readonly pending: Map<string, PendingWrite>;
  readonly history: ChangeLog<Change>;
  readonly watchers: WatcherSet;
}

interface PendingWrite {
  readonly table: Table;
  readonly type: ChangeType;
  readonly entry: StoredEntry;
  readonly previous: StoredEntry | undefined;
  readonly durable: Promise<Entry>;
  readonly resolve: (entry: Entry) => void;
  readonly reject: (error: Error) => void;
}

/** Somebody who waits for a revision. */
interface Awaited {
  readonly revision: number;
  readonly callback: () => void;
}

interface LoggedChange {
  readonly revision: number;
  readonly table: Table;
}

class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #storage: Storage;
  readonly #options: Required<StoreOptions>;
  readonly #tables = new Map<string, Table>();
  /** Every change of every table; a table's own history holds the same changes in the same order. */
  readonly #history = new ChangeLog<LoggedChange>();
  #historyBytes = 0;
  #warmFrom = 0;
  #oldestRevision: number;
  readonly #openedAt: number;
  #revision: number;
  #lastGivenOut: number;
  #ceiling: number;
  #waiting: PendingWrite[] = [];
  #committing = false;
  #idle: Promise<void> = Promise.resolve();
  #becomeIdle: () => void = () => undefined;
  #full: StorageFull | undefined;
  #broken: StorageBroken | undefined;
  #closed: Promise<void> | undefined;
  readonly #awaited = new Set<Awaited>();
  /** How many changes that are on disk were dropped from history since the disk was last told to trim. */
  #untrimmed = 0;

  constructor(
    ports: StorePorts,
    storage: Storage,
    options: Required<StoreOptions>,
    loaded: Loaded,
  ) {
    this.#clock = ports.clock;
    this.#log = ports.log;
    this.#storage = storage;
    this.#options = options;
    this.#ceiling = loaded.revisionCeiling;
    this.#openedAt = loaded.revisionCeiling;
    this.#revision = loaded.revisionCeiling;
    this.#lastGivenOut = loaded.revisionCeiling;
    this.#oldestRevision = Math.max(loaded.historyStart - 1, 0);
    this.#loadObjects(loaded);
    this.#loadHistory(loaded);
  }

  get revision(): number {
    return this.#revision;
  }

  get oldestRevision(): number {
    return this.#oldestRevision;
  }

  get broken(): StorageBroken | undefined {
    return this.#broken;
  }

  get full(): StorageFull | undefined {
    return this.#full;
  }

  async askForRoom(): Promise<void> {
    if (this.#closed !== undefined || this.#broken !== undefined) return;
    const lack = await this.#storage.lackOfRoom(this.#full === undefined ? 0 : ENOUGH_BYTES);
    if (lack !== undefined) this.#becomeFull(lack);
    else if (this.#full !== undefined) this.#leaveFull();
  }

  whenReached(revision: number, callback: () => void): Cancel {
    const awaited = { revision, callback };
    this.#awaited.add(awaited);
    return () => void this.#awaited.delete(awaited);
  }

  get(table: string, key: string): Entry | undefined {
    return this.#tables.get(table)?.entries.get(key);
  }

  head(table: string, key: string): Entry | undefined {
    const found = this.#tables.get(table);
    return found === undefined ? undefined : headOf(found, key);
  }

  range(table: string, options: RangeOptions): Iterable<Entry> {
    const found = this.#table(table);
    const undone = options.at === undefined ? NOTHING_UNDONE : this.#undo(found, options.at);
    return walk(found.entries, options, undone);
  }

  count(table: string, options: RangeOptions): number {
    const found = this.#table(table);
    const undone = options.at === undefined ? NOTHING_UNDONE : this.#undo(found, options.at);
    const end = endOfPrefix(options.prefix ?? "");
    const start = startOf(options);
    let count = found.entries.count(start, end);
    for (const [key, entry] of undone) {
      if (key < start || (end !== undefined && key >= end)) continue;
      count += (entry === undefined ? 0 : 1) - (found.entries.get(key) === undefined ? 0 : 1);
    }
    return count;
  }

  async commit(
    tableName: string,
    key: string,
    expected: Entry | undefined,
    mutation: Mutation,
  ): Promise<Entry> {
    if (this.#closed !== undefined) throw new StoreClosed("the store is closed");
    if (this.#broken !== undefined) throw this.#broken;
    const table = this.#table(tableName);
    const previous = headOf(table, key);
    // seed: head-moved
    if (previous?.revision !== expected?.revision)
      throw new HeadMoved(`${tableName} ${key} was changed by somebody else`);
    assert(mutation.kind === "put" || previous !== undefined, "what is removed exists", { key });

    const revision = this.#lastGivenOut + 1;
    const entry = entryOf(key, revision, mutation.build(revision));
    mutation.checkSize?.(entry.bytes.length);
    entry.viewedAsIs = mutation.viewedAsIs;
    assert(
      entry.object.metadata.resourceVersion === String(revision),
      "an object carries the revision of its write",
      { table: tableName, key },
    );
    this.#lastGivenOut = revision;
    const write = pendingWrite(table, typeOf(mutation, previous), entry, previous);
    table.pending.set(key, write);
    this.#enqueue(write);
    // seed: answer-when-durable
    return write.durable;
  }

  async durable(table: string, key: string): Promise<void> {
    await this.#tables.get(table)?.pending.get(key)?.durable;
  }

  watch(tableName: string, options: WatchRange, sink: ChangeSink): StoreWatch {
    const table = this.#table(tableName);
    const { from } = options;
    this.#requireHistory(table, from);
    const watcher = new Watcher(options, sink, this.#log);
    const first = table.history.indexAfter(from);
    if (options.needsPrevious) requirePrevious(table.history, first, watcher);

    if (this.#closed !== undefined) watcher.end("closing");
    const end = table.history.size;
    for (let i = first; i < end && watcher.open; i++) {
      const change = table.history.at(i);
      if (change !== undefined && watcher.wants(change.entry.key)) watcher.deliver(change);
    }
    if (watcher.open) table.watchers.add(watcher);
    return {
      stop: () => {
        table.watchers.remove(watcher);
        watcher.end("stopped");
      },
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#idle;
    for (const table of this.#tables.values()) table.watchers.endAll("closing");
    await this.#storage.close();
  }

  #table(name: string): Table {
    const found = this.#tables.get(name);
    if (found !== undefined) return found;
    const table: Table = {
      name,
      volatile: this.#options.volatileTables.has(name),
      entries: new SortedMap(),
      pending: new Map(),
      history: new ChangeLog(),
      watchers: new WatcherSet(),
    };
    this.#tables.set(name, table);
    return table;
  }

  // Opening.

  #loadObjects(loaded: Loaded): void {
    for (const row of loaded.objects) {
      const { table: name, key } = splitStorageKey(row.key);
      const table = this.#table(name);
      if (!table.volatile) table.entries.set(key, warmEntry(key, row.revision, row.bytes));
    }
  }

  /** A change's `previous` is the change of the same key before it, when that is still in history. */
  #loadHistory(loaded: Loaded): void {
    const last = new Map<string, StoredEntry>();
    for (const row of loaded.history) {
      const { table: name, key } = splitStorageKey(row.key);
      const table = this.#table(name);
      if (table.volatile) continue;
      const newest = table.entries.get(key);
      const entry =
        newest?.revision === row.revision ? newest : coldEntry(key, row.revision, row.bytes);
      const previous = row.type === "ADDED" ? undefined : last.get(row.key);
      if (row.type === "DELETED") last.delete(row.key);
      else last.set(row.key, entry);
      if (row.revision >= loaded.historyStart)
        this.#remember(table, changeOf(row.type, entry, previous));
    }
    this.#warmFrom = this.#history.size;
    this.#forgetOld();
  }

  // Committing.

  #enqueue(write: PendingWrite): void {
    this.#waiting.push(write);
    if (this.#committing) return;
    this.#committing = true;
    this.#idle = new Promise((resolve) => {
      this.#becomeIdle = resolve;
    });
    // In a microtask, so that the writes of one turn share a sync.
    soon(() => void this.#commitWaiting());
  }

  async #commitWaiting(): Promise<void> {
    while (this.#waiting.length > 0) await this.#commitGroup(this.#takeGroup());
    this.#committing = false;
    this.#becomeIdle();
  }

  /** The oldest waiting writes, up to the limits of a group; when the storage is full, only such as are alike. */
  #takeGroup(): readonly PendingWrite[] {
    const waiting = this.#waiting;
    const alike = waiting[0] !== undefined && isGrowing(waiting[0]);
    let count = 0;
    let bytes = 0;
    for (const write of waiting) {
      if (count === this.#options.groupMaxChanges) break;
      if (count > 0 && bytes + write.entry.bytes.length > this.#options.groupMaxBytes) break;
      if (this.#full !== undefined && isGrowing(write) !== alike) break;
      count += 1;
      bytes += write.entry.bytes.length;
    }
    this.#waiting = waiting.slice(count);
    return count === waiting.length ? waiting : waiting.slice(0, count);
  }

  async #commitGroup(group: readonly PendingWrite[]): Promise<void> {
    const trimmed = this.#untrimmed;
    const batch = this.#batchOf(group);
    if (batch !== undefined) {
      const started = this.#clock.monotonic();
      try {
        await this.#storage.commit(batch);
      } catch (error) {
        this.#fail(group, error);
        await this.#trimWhenFull();
        return;
      }
      this.#noteSpeed(this.#clock.monotonic() - started, group.length);
    }
    if (batch?.revisionCeiling !== undefined) this.#ceiling = batch.revisionCeiling;
    if (batch?.trimHistoryBefore !== undefined) this.#untrimmed -= trimmed;
    this.#apply(group);
    // A small write may fit where a large one does not.
    if (this.#full !== undefined && group.some(isGrowing)) await this.askForRoom();
  }

  /** Undefined when nothing of the group concerns the disk. */
  #batchOf(group: readonly PendingWrite[]): StorageBatch | undefined {
    const changes: ChangeRow[] = [];
    for (const { table, type, entry } of group) {
      if (table.volatile) continue;
      const key = storageKeyOf(table.name, entry.key);
      changes.push({ revision: entry.revision, type, key, bytes: entry.bytes });
    }
    const last = this.#lastGivenOut;
    const raise = last > this.#ceiling - CEILING_STEP / 2;
    if (changes.length === 0 && !raise) return undefined;
    const oldest = this.#history.at(0)?.revision;
    const trimChunk = this.#full === undefined ? this.#options.trimChunk : 1;
    return {
      changes,
      ...(raise && { revisionCeiling: last + CEILING_STEP }),
      ...(this.#untrimmed >= trimChunk && oldest !== undefined && { trimHistoryBefore: oldest }),
      ...(!group.some(isGrowing) && { mayUseReserve: true }),
    };
  }

  #apply(group: readonly PendingWrite[]): void {
    const changes: Change[] = [];
    for (const write of group) {
      const { table, type, entry } = write;
      if (type === "DELETED") table.entries.delete(entry.key);
      else table.entries.set(entry.key, entry);
      if (table.pending.get(entry.key) === write) table.pending.delete(entry.key);
      const change = changeOf(type, entry, write.previous);
      changes.push(change);
      this.#remember(table, change);
      this.#revision = entry.revision;
      this.#options.onWrite(table.name, type);
    }
    this.#forgetOld();
    group.forEach((write, i) => write.table.watchers.deliver(changes[i] as Change));
    for (const write of group) write.resolve(write.entry);
    this.#tellAwaited();
  }

  #tellAwaited(): void {
    for (const awaited of this.#awaited) {
      if (awaited.revision > this.#revision) continue;
      this.#awaited.delete(awaited);
      awaited.callback();
    }
  }

  #fail(group: readonly PendingWrite[], cause: unknown): void {
    const error = failureOf(cause);
    if (error instanceof StorageBroken) {
      this.#broken = error;
      this.#log.error("the storage is broken, no more writes", { error });
    } else this.#becomeFull(error);
    const waiting = this.#waiting;
    this.#waiting = this.#broken === undefined ? waiting.filter(isRemovalOfDurable) : [];
    const kept = new Set(this.#waiting);
    for (const write of group) refuse(write, error);
    for (const write of waiting) if (!kept.has(write)) refuse(write, error);
    // What was built upon a kept removal is gone, so the removal is the head again.
    for (const write of kept) write.table.pending.set(write.entry.key, write);
  }

  #becomeFull(error: StorageFull): void {
    const wasFull = this.#full !== undefined;
    this.#full = error;
    if (wasFull) return;
    this.#log.warn("the storage is full, growing writes are refused", { error });
    this.#forgetOld();
  }

  /** So that the next write finds the room that history gave up; it need not be a deletion. */
  async #trimWhenFull(): Promise<void> {
    const trimmed = this.#untrimmed;
    const oldest = this.#history.at(0)?.revision;
    if (this.#full === undefined || this.#broken !== undefined) return;
    if (trimmed === 0 || oldest === undefined) return;
    try {
      await this.#storage.commit({ changes: [], trimHistoryBefore: oldest, mayUseReserve: true });
      this.#untrimmed -= trimmed;
    } catch (error) {
      this.#fail([], error);
    }
  }

  #leaveFull(): void {
    this.#full = undefined;
    this.#log.info("the storage has room again");
  }

  #noteSpeed(tookMs: number, changes: number): void {
    if (tookMs >= SLOW_COMMIT_MS)
      this.#log.warn("a commit to disk was slow", { tookMs: Math.round(tookMs), changes });
  }

  // History.

  #remember(table: Table, change: Change): void {
    table.history.push(change);
    this.#history.push({ revision: change.revision, table });
    this.#historyBytes += change.entry.bytes.length;
  }

  #forgetOld(): void {
    const share = this.#full === undefined ? 1 : HISTORY_SHARE_WHEN_FULL;
    const historyMaxEvents = this.#options.historyMaxEvents * share;
    const historyMaxBytes = this.#options.historyMaxBytes * share;
    while (
      (this.#history.size > historyMaxEvents && this.#history.size > 1) ||
      (this.#historyBytes > historyMaxBytes && this.#history.size > 1)
    )
      this.#forgetOldest();
    this.#chillOld();
  }

  #forgetOldest(): void {
    const table = this.#history.shift()?.table;
    const change = table?.history.shift();
    if (table === undefined || change === undefined) return;
    this.#historyBytes -= change.entry.bytes.length;
    this.#oldestRevision = change.revision;
    this.#warmFrom = Math.max(this.#warmFrom - 1, 0);
    if (!table.volatile) this.#untrimmed += 1;
  }

  /**
   * Drops the parsed form of what a change replaced, once the change is not among the newest any more. Of volatile tables
   * also that of the present state: Events are many, and hardly ever read again.
   */
  #chillOld(): void {
    for (; this.#warmFrom < this.#history.size - WARM_CHANGES; this.#warmFrom++) {
      const logged = this.#history.at(this.#warmFrom);
      if (logged === undefined) return;
      const { history } = logged.table;
      const change = history.at(history.indexAfter(logged.revision - 1));
      if (change?.previous instanceof StoredEntry) change.previous.chill();
      const isLast = change?.type === "DELETED" || logged.table.volatile;
      if (isLast && change?.entry instanceof StoredEntry) change.entry.chill();
    }
  }

  #requireHistory(table: Table, from: number): void {
    const oldest = table.volatile
      ? Math.max(this.#oldestRevision, this.#openedAt)
      : this.#oldestRevision;
    if (from < oldest)
      throw new HistoryGone(`revision ${from} is older than ${oldest}, the oldest retained`);
  }

  /** What differed at revision `at`: per key the state then, undefined for absent. */
  #undo(table: Table, at: number): ReadonlyMap<string, Entry | undefined> {
    this.#requireHistory(table, at);
    const undone = new Map<string, Change>();
    const first = table.history.indexAfter(at);
    for (let i = table.history.size - 1; i >= first; i--) {
      const change = table.history.at(i);
      if (change !== undefined) undone.set(change.entry.key, change);
    }
    const states = new Map<string, Entry | undefined>();
    for (const [key, change] of undone) {
      if (change.type !== "ADDED" && change.previous === undefined)
        throw new HistoryGone(`the state of ${key} at revision ${at} is no longer retained`);
      states.set(key, change.previous);
    }
    return states;
  }
}

const NOTHING_UNDONE: ReadonlyMap<string, Entry | undefined> = new Map();

function headOf(table: Table, key: string): StoredEntry | undefined {
  const pending = table.pending.get(key);
  if (pending === undefined) return table.entries.get(key);
  return pending.type === "DELETED" ? undefined : pending.entry;
}

function typeOf(mutation: Mutation, previous: Entry | undefined): ChangeType {
  if (mutation.kind === "remove") return "DELETED";
  return previous === undefined ? "ADDED" : "MODIFIED";
}

function changeOf(type: ChangeType, entry: Entry, previous: Entry | undefined): Change {
  return previous === undefined
    ? { type, revision: entry.revision, entry }
    : { type, revision: entry.revision, entry, previous };
}

function pendingWrite(
  table: Table,
  type: ChangeType,
  entry: StoredEntry,
  previous: StoredEntry | undefined,
): PendingWrite {
  let resolve: (entry: Entry) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const durable = new Promise<Entry>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { table, type, entry, previous, durable, resolve, reject };
}

function refuse(write: PendingWrite, error: Error): void {
  const { pending } = write.table;
  if (pending.get(write.entry.key) === write) pending.delete(write.entry.key);
  write.reject(error);
}

/** A storage may fail only in its two ways; whatever else it throws leaves the disk in doubt. */
function failureOf(cause: unknown): StorageFull | StorageBroken {
  if (cause instanceof StorageFull || cause instanceof StorageBroken) return cause;
  return new StorageBroken("the storage failed in an unknown way", { cause });
}

/** What is kept in memory alone takes no room on the disk. */
function isGrowing({ table, entry, previous }: PendingWrite): boolean {
  if (table.volatile) return false;
  return previous === undefined || entry.bytes.length > previous.bytes.length + GROWTH_ALLOWED;
}

function isRemovalOfDurable({ table, type, entry, previous }: PendingWrite): boolean {
  return type === "DELETED" && table.entries.get(entry.key) === previous;
}

function requirePrevious(history: ChangeLog<Change>, first: number, watcher: Watcher): void {
  for (let i = first; i < history.size; i++) {
    const change = history.at(i);
    if (change === undefined || change.type === "ADDED" || change.previous !== undefined) continue;
    if (watcher.wants(change.entry.key))
      throw new HistoryGone(`the state before revision ${change.revision} is no longer retained`);
  }
}

/** The least key that is below the prefix and after `after`: a key with one more character is its successor. */
function startOf({ prefix = "", after }: RangeOptions): string {
  if (after === undefined) return prefix;
  const next = `${after}\0`;
  return next > prefix ? next : prefix;
}

/** The entries of a range in key order, with the states in `undone` in place of the present ones. */
function walk(
  entries: SortedMap<StoredEntry>,
  options: RangeOptions,
  undone: ReadonlyMap<string, Entry | undefined>,
): Iterable<Entry> {
  const start = startOf(options);
  const prefix = options.prefix ?? "";
  const present = entries.valuesFrom(start);
  if (undone.size === 0) return whileBelow(present, prefix);
  const before: Entry[] = [];
  for (const [key, entry] of undone)
    if (entry !== undefined && key >= start && key.startsWith(prefix)) before.push(entry);
  before.sort((a, b) => (a.key < b.key ? -1 : 1));
  return merge(whileBelow(present, prefix), before, undone);
}

function* whileBelow(entries: Iterable<Entry>, prefix: string): Iterable<Entry> {
  for (const entry of entries) {
    if (!entry.key.startsWith(prefix)) return;
    yield entry;
  }
}

function* merge(
  present: Iterable<Entry>,
  before: readonly Entry[],
  undone: ReadonlyMap<string, Entry | undefined>,
): Iterable<Entry> {
  let next = 0;
  for (const entry of present) {
    for (let old = before[next]; old !== undefined && old.key <= entry.key; old = before[next]) {
      yield old;
      next += 1;
    }
    if (!undone.has(entry.key)) yield entry;
  }
  yield* before.slice(next);
}
