/**
 * The Store: all objects in memory, their changes in a bounded history, both made durable in commit groups.
 *
 *   load-tables.ts   storage ──▶ tables and history, once, on opening
 *   this file        write ──▶ checked against the head, gets its revision (revisions.ts), is encoded once
 *   commit-queue.ts        ──▶ waits, is made durable in a group
 *   this file              ──▶ memory, history (history.ts), watchers (watcher-set.ts), then the answer
 *   range.ts, start-watch.ts   what readers and watches get of tables and history
 *
 * 1. `get`, `range`, `count` and watchers see durable changes only; `head` alone sees what is on its way.
 * 2. A durable group goes to memory as a whole, then to watchers, then to the callers that wait for an answer, each in
 *    order of revision.
 * 3. Storage full or broken: commit-queue.ts refuses what was taken; a broken storage takes no later write until the store
 *    is opened again.
 */
import { assert, type Cancel, type Clock } from "@lifeboat/base";
import type { Log } from "@lifeboat/kit";
import { CommitQueue } from "./commit-queue.ts";
import { changeOf, History } from "./history.ts";
import { loadTables } from "./load-tables.ts";
import { countRange, NOTHING_UNDONE, type Undone, walkRange } from "./range.ts";
import { Revisions } from "./revisions.ts";
import { startWatch } from "./start-watch.ts";
import type { ChangeType, Loaded, Storage, StorageBroken, StorageFull } from "./storage.ts";
import {
  type Change,
  type ChangeSink,
  type Entry,
  HeadMoved,
  type Mutation,
  type RangeOptions,
  type Store,
  type StoreWatch,
  type WatchRange,
} from "./store.ts";
import { entryOf } from "./stored-entry.ts";
import { addPending, dropPending, headOf, type PendingWrite, type Table, Tables } from "./table.ts";

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
  /** The disk is trimmed only when this many changes can go, so that most groups do not trim. */
  readonly trimChunk?: number;
  /** Called with every change once it is durable, so that writes can be counted where they happen. Must not throw. */
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

/** Opens a store on what the storage holds. The storage belongs to the store from here on. */
export async function createStore(
  ports: StorePorts,
  storage: Storage,
  options: StoreOptions,
): Promise<Store> {
  const loaded = await storage.load();
  return new MemoryStore(ports, storage, { ...DEFAULTS, ...options }, loaded);
}

/** A caller that waits for a revision. */
interface Awaited {
  readonly revision: number;
  readonly callback: () => void;
}

class MemoryStore implements Store {
  readonly #log: Log;
  readonly #storage: Storage;
  readonly #options: Required<StoreOptions>;
  readonly #tables: Tables;
  readonly #history: History;
  readonly #revisions: Revisions;
  readonly #queue: CommitQueue;
  #revision: number;
  #closed: Promise<void> | undefined;
  readonly #awaited = new Set<Awaited>();

  constructor(
    ports: StorePorts,
    storage: Storage,
    options: Required<StoreOptions>,
    loaded: Loaded,
  ) {
    const { revisionCeiling } = loaded;
    this.#log = ports.log;
    this.#storage = storage;
    this.#options = options;
    this.#revision = revisionCeiling;
    this.#tables = new Tables(options.volatileTables);
    this.#history = new History(options, Math.max(loaded.historyStart - 1, 0), revisionCeiling);
    this.#revisions = new Revisions(revisionCeiling);
    this.#queue = new CommitQueue(
      {
        clock: ports.clock,
        log: ports.log,
        storage,
        history: this.#history,
        revisions: this.#revisions,
        apply: (group) => this.#apply(group),
      },
      options,
    );
    loadTables(loaded, this.#tables, this.#history);
  }

  get revision(): number {
    return this.#revision;
  }

  get oldestRevision(): number {
    return this.#history.oldestRevision;
  }

  get broken(): StorageBroken | undefined {
    return this.#queue.broken;
  }

  get full(): StorageFull | undefined {
    return this.#queue.full;
  }

  askForRoom(): Promise<void> {
    return this.#queue.askForRoom();
  }

  whenReached(revision: number, callback: () => void): Cancel {
    const awaited = { revision, callback };
    this.#awaited.add(awaited);
    return () => void this.#awaited.delete(awaited);
  }

  get(table: string, key: string): Entry | undefined {
    return this.#tables.find(table)?.entries.get(key);
  }

  head(table: string, key: string): Entry | undefined {
    const found = this.#tables.find(table);
    return found === undefined ? undefined : headOf(found, key);
  }

  range(table: string, options: RangeOptions): Iterable<Entry> {
    const found = this.#tables.of(table);
    return walkRange(found.entries, options, this.#undone(found, options));
  }

  count(table: string, options: RangeOptions): number {
    const found = this.#tables.of(table);
    return countRange(found.entries, options, this.#undone(found, options));
  }

  #undone(table: Table, { at }: RangeOptions): Undone {
    return at === undefined ? NOTHING_UNDONE : this.#history.statesAt(table, at);
  }

  async commit(
    tableName: string,
    key: string,
    expected: Entry | undefined,
    mutation: Mutation,
  ): Promise<Entry> {
    if (this.#closed !== undefined) throw new StoreClosed("the store is closed");
    if (this.#queue.broken !== undefined) throw this.#queue.broken;
    const table = this.#tables.of(tableName);
    const previous = headOf(table, key);
    // seed: head-moved
    if (previous?.revision !== expected?.revision)
      throw new HeadMoved(`${tableName} ${key} was changed by another client`);
    assert(mutation.kind === "put" || previous !== undefined, "what is removed exists", { key });

    const revision = this.#revisions.next;
    const entry = entryOf(key, revision, mutation.build(revision));
    mutation.checkSize?.(entry.bytes.length);
    entry.viewedAsIs = mutation.viewedAsIs;
    assert(
      entry.object.metadata.resourceVersion === String(revision),
      "an object carries the revision of its write",
      { table: tableName, key },
    );
    this.#revisions.take();
    const write = addPending(table, typeOf(mutation, previous), entry, previous);
    this.#queue.add(write);
    // seed: answer-when-durable
    return write.durable;
  }

  async durable(table: string, key: string): Promise<void> {
    await this.#tables.find(table)?.pending.get(key)?.durable;
  }

  watch(table: string, options: WatchRange, sink: ChangeSink): StoreWatch {
    const isClosing = this.#closed !== undefined;
    const ports = { history: this.#history, log: this.#log, isClosing };
    return startWatch(ports, this.#tables.of(table), options, sink);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#queue.close();
    for (const table of this.#tables.all()) table.watchers.endAll("closing");
    await this.#storage.close();
  }

  /** Makes a durable group visible. */
  #apply(group: readonly PendingWrite[]): void {
    const changes: Change[] = [];
    for (const write of group) {
      const { table, type, entry } = write;
      if (type === "DELETED") table.entries.delete(entry.key);
      else table.entries.set(entry.key, entry);
      dropPending(write);
      const change = changeOf(type, entry, write.previous);
      changes.push(change);
      this.#history.add(table, change);
      this.#revision = entry.revision;
      this.#options.onWrite(table.name, type);
    }
    this.#history.dropOld();
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
}

function typeOf(mutation: Mutation, previous: Entry | undefined): ChangeType {
  if (mutation.kind === "remove") return "DELETED";
  return previous === undefined ? "ADDED" : "MODIFIED";
}
