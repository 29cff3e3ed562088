/**
 * The Store port between the verbs and what is kept: all objects in memory, versions, commit groups, history, watches.
 *
 * The order of a write: it is checked against the pending head, gets its revision and joins a commit group. After the
 * group is synced to disk: memory, then watchers, then the answer. A failed group fails all its members and whatever
 * was built upon them; its revisions are never used again.
 *
 * 1. Reads and watches see only what is durable.
 * 2. Revisions are one counter over all tables, start at 1, and never go back, also across restarts and for tables
 *    that are kept in memory only (`volatile`: Events): a durable ceiling is raised ahead of them, and an opened store
 *    goes on from the ceiling.
 * 3. A watcher sees every change of its range exactly once, in order of revision.
 * 4. A slow watcher is cut off; it delays no other one.
 */
import type { AnyObject, KubeObject } from "@lifeboat/api";
import type { Cancel } from "@lifeboat/base";
import type { ChangeType, StorageBroken, StorageFull } from "./storage.ts";

/**
 * One version of one object. `bytes` is its JSON, made once and shared by disk, answers and watches; it begins with
 * `{"kind":…,"apiVersion":…,` in this order, so that lists can cut these two off.
 */
export interface Entry {
  /** `namespace/name`, or `/name` at cluster scope: the order of lists. */
  readonly key: string;
  readonly revision: number;
  readonly object: AnyObject;
  readonly bytes: Uint8Array;
  /** The served resource that shows this object as it is stored, noted by the verb that found out. The store does not read it. */
  viewedAsIs: object | undefined;
}

/** One change, as watchers see it. For DELETED, `entry` is the last state with the revision of the deletion. */
export interface Change {
  readonly type: ChangeType;
  readonly revision: number;
  readonly entry: Entry;
  /** The state before; absent for ADDED, and unknown (also absent) when it was trimmed from history before a restart. */
  readonly previous?: Entry;
}

/**
 * What a commit should do. `build` gets the revision it will have, to write it into metadata.resourceVersion, and answers
 * an object of its own. `checkSize` may refuse it by throwing: then nothing was done.
 */
export interface Mutation {
  readonly kind: "put" | "remove";
  readonly build: (revision: number) => KubeObject;
  readonly checkSize?: (bytes: number) => void;
  /** For the entry's field of this name. */
  readonly viewedAsIs?: object | undefined;
}

export interface RangeOptions {
  /** Only keys that begin with this text, such as `namespace/`. */
  readonly prefix?: string;
  /** Only keys after this one, exclusive. */
  readonly after?: string;
  /** The state as of this revision; absent: now. */
  readonly at?: number;
}

/** Which changes a watch is for. */
export interface WatchRange {
  /** Changes after this revision. */
  readonly from: number;
  /** Only keys that begin with this text. */
  readonly prefix?: string;
  /** Only this key; found by a lookup, so it costs nothing while others change. */
  readonly key?: string;
  readonly needsPrevious: boolean;
}

/** Signals, in order: `change`* then one `end`. */
export interface ChangeSink {
  /** False means: the queue is full. The store then ends this watcher with `slow`. */
  change(change: Change): boolean;
  end(why: "slow" | "stopped" | "closing"): void;
}

export interface StoreWatch {
  stop(): void;
}

/** The revision asked for is older than the retained history. */
export class HistoryGone extends Error {
  override readonly name = "HistoryGone";
}

/** The head was not `expected`: another write came first. Read again. */
export class HeadMoved extends Error {
  override readonly name = "HeadMoved";
}

export interface Store {
  /** The revision of the newest durable change, or the ceiling found on opening. */
  readonly revision: number;
  /** The oldest revision a watch can start from. */
  readonly oldestRevision: number;
  /** Why no write is taken any more, once the storage broke. Only opening the store again helps. */
  readonly broken: StorageBroken | undefined;
  /** Why writes that grow are refused; undefined while the storage has room, as far as is known. */
  readonly full: StorageFull | undefined;
  /** Asks the storage whether it has room, so that `full` is right also while nothing is written. */
  askForRoom(): Promise<void>;
  /** Calls back once, when `revision` has got this far by a later write; the answer takes it back. */
  whenReached(revision: number, callback: () => void): Cancel;
  /** The durable state of one object. */
  get(table: string, key: string): Entry | undefined;
  /** The newest state, durable or still on its way to disk: what the next write has to be decided on. */
  head(table: string, key: string): Entry | undefined;
  /** Durable entries in key order; throws HistoryGone when `at` is too old. */
  range(table: string, options: RangeOptions): Iterable<Entry>;
  /** How many entries a table holds with keys after `after` and below `prefix`; without walking them one by one where possible. */
  count(table: string, options: RangeOptions): number;
  /**
   * Writes one object if the head is still `expected` (undefined: absent), else throws HeadMoved at once. Resolves when durable.
   */
  commit(
    table: string,
    key: string,
    expected: Entry | undefined,
    mutation: Mutation,
  ): Promise<Entry>;
  /** Resolves when this head is durable (at once when it already is), rejects when its group failed. For no-op writes. */
  durable(table: string, key: string): Promise<void>;
  /**
   * Changes of a table after `from`, then live ones, to `sink`. Past changes are delivered before `watch` returns. With
   * `needsPrevious`, throws HistoryGone also when a change in between has lost its `previous`.
   */
  watch(table: string, options: WatchRange, sink: ChangeSink): StoreWatch;
  close(): Promise<void>;
}
