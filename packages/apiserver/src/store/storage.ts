/**
 * The Storage port: what keeps the store's rows on a disk.
 *
 * 1. `commit` resolves only when the batch would survive a power cut; the batch is applied whole or not at all.
 * 2. Batches are committed one at a time, in order; the store never has two under way.
 * 3. `StorageFull` means: certainly not applied, try again when there is room. `StorageBroken` means: what is on
 *    the disk is not known; the store stops writing until it is opened again.
 *
 * The lmdb adapter and the in-memory twin are held to one suite (storage.suite.ts).
 */

export type ChangeType = "ADDED" | "MODIFIED" | "DELETED";

/** One change of one object, as it is kept for watchers that resume. */
export interface ChangeRow {
  readonly revision: number;
  readonly type: ChangeType;
  /** `table/namespace/name`; see store.ts. */
  readonly key: string;
  /** The object's JSON after the change; for DELETED its last state, with the revision of the deletion. */
  readonly bytes: Uint8Array;
}

export interface StorageBatch {
  readonly changes: readonly ChangeRow[];
  /** Rows that are stored already, under the same key and revision, in other bytes: their encryption has changed. */
  readonly rewrites?: {
    readonly objects: readonly ObjectRow[];
    readonly history: readonly ChangeRow[];
  };
  /** History before this revision is no longer needed. */
  readonly trimHistoryBefore?: number;
  /** No revision above this one is given out before a batch with a higher ceiling is durable. */
  readonly revisionCeiling?: number;
  /** This batch frees room or takes next to none, so it may use the room kept in reserve when the disk is full. */
  readonly mayUseReserve?: boolean;
}

export interface ObjectRow {
  readonly key: string;
  readonly revision: number;
  readonly bytes: Uint8Array;
}

/** Everything there is, as it was found on opening. */
export interface Loaded {
  /** The highest ceiling ever committed, 0 on a fresh directory: every revision ever given out is at or below it. */
  readonly revisionCeiling: number;
  /** History holds every change from this revision on: the highest `trimHistoryBefore` ever committed, or 0. */
  readonly historyStart: number;
  readonly objects: Iterable<ObjectRow>;
  /** In order of revision; it may begin with some older changes. */
  readonly history: Iterable<ChangeRow>;
}

export interface Storage {
  load(): Promise<Loaded>;
  commit(batch: StorageBatch): Promise<void>;
  /** Undefined when a batch that grows the store by so many bytes would be taken now, else why it would be refused. */
  lackOfRoom(bytes: number): Promise<StorageFull | undefined>;
  close(): Promise<void>;
}

export class StorageFull extends Error {
  override readonly name = "StorageFull";
}

export class StorageBroken extends Error {
  override readonly name = "StorageBroken";
}
