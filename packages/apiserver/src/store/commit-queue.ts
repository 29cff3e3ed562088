/**
 * The way of writes to the storage: writes wait here, and are made durable in groups, one group at a time.
 *
 * While one group is with the storage the next one gathers, so the number of syncs adapts to the speed of the disk.
 *
 * 1. Groups keep the order of revisions. `apply` gets each durable group once; a group that is not durable is refused.
 * 2. Storage full: the group and everything that waits behind it is refused, except removals that build on durable
 *    state; from then on until there is room again, growing writes are kept apart from those that may use the
 *    storage's reserve, so that deletions go on. While it is full, only an eighth of the history is kept, and what is
 *    dropped of it is trimmed on disk at once: otherwise a deletion moves an object to history and frees nothing.
 * 3. Storage broken: every write that waits or is under way is refused. The store takes no write after that.
 * 4. A group of volatile changes below the revision ceiling is not sent to the storage at all.
 */
import { type Clock, soon } from "@lifeboat/base";
import type { Log } from "@lifeboat/kit";
import type { History } from "./history.ts";
import { storageKeyOf } from "./key-text.ts";
import type { Revisions } from "./revisions.ts";
import {
  type ChangeRow,
  type Storage,
  type StorageBatch,
  StorageBroken,
  StorageFull,
} from "./storage.ts";
import { dropPending, type PendingWrite } from "./table.ts";

export interface GroupLimits {
  readonly groupMaxChanges: number;
  readonly groupMaxBytes: number;
  readonly trimChunk: number;
}

export interface CommitPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly storage: Storage;
  readonly history: History;
  readonly revisions: Revisions;
  /** Makes a durable group visible. */
  readonly apply: (group: readonly PendingWrite[]) => void;
}

/** A write that makes an object larger by more than this counts as growing when the storage is full. */
const GROWTH_ALLOWED = 512;
const SLOW_COMMIT_MS = 1000;
/** The storage is no longer full when this much fits: more than any one write wants, so that it is not full again at once. */
const ENOUGH_BYTES = 8 * 1024 * 1024;
/** How much of its history a full store keeps: a deleted object is in history until that is trimmed, and takes room there. */
const HISTORY_SHARE_WHEN_FULL = 1 / 8;

export class CommitQueue {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #storage: Storage;
  readonly #history: History;
  readonly #revisions: Revisions;
  readonly #apply: (group: readonly PendingWrite[]) => void;
  readonly #limits: GroupLimits;
  #waiting: PendingWrite[] = [];
  #committing = false;
  #closing = false;
  #idle: Promise<void> = Promise.resolve();
  #becomeIdle: () => void = () => undefined;
  #full: StorageFull | undefined;
  #broken: StorageBroken | undefined;

  constructor(ports: CommitPorts, limits: GroupLimits) {
    this.#clock = ports.clock;
    this.#log = ports.log;
    this.#storage = ports.storage;
    this.#history = ports.history;
    this.#revisions = ports.revisions;
    this.#apply = ports.apply;
    this.#limits = limits;
  }

  get full(): StorageFull | undefined {
    return this.#full;
  }

  get broken(): StorageBroken | undefined {
    return this.#broken;
  }

  /** Asks the storage whether it has room, and notes the answer in `full`. */
  async askForRoom(): Promise<void> {
    if (this.#closing || this.#broken !== undefined) return;
    const lack = await this.#storage.lackOfRoom(this.#full === undefined ? 0 : ENOUGH_BYTES);
    if (lack !== undefined) this.#becomeFull(lack);
    else if (this.#full !== undefined) this.#leaveFull();
  }

  /** Adds a write, which has the newest revision of all. */
  add(write: PendingWrite): void {
    this.#waiting.push(write);
    if (this.#committing) return;
    this.#committing = true;
    this.#idle = new Promise((resolve) => {
      this.#becomeIdle = resolve;
    });
    // In a microtask, so that the writes of one turn share a sync.
    soon(() => void this.#commitWaiting());
  }

  /** No write is added after this. Resolves when no write waits or is under way. */
  close(): Promise<void> {
    this.#closing = true;
    return this.#idle;
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
      if (count === this.#limits.groupMaxChanges) break;
      if (count > 0 && bytes + write.entry.bytes.length > this.#limits.groupMaxBytes) break;
      if (this.#full !== undefined && isGrowing(write) !== alike) break;
      count += 1;
      bytes += write.entry.bytes.length;
    }
    this.#waiting = waiting.slice(count);
    return count === waiting.length ? waiting : waiting.slice(0, count);
  }

  async #commitGroup(group: readonly PendingWrite[]): Promise<void> {
    const trimmed = this.#history.untrimmed;
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
    if (batch?.revisionCeiling !== undefined) this.#revisions.raised(batch.revisionCeiling);
    if (batch?.trimHistoryBefore !== undefined) this.#history.trimmed(trimmed);
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
    const revisionCeiling = this.#revisions.ceilingToRaise;
    if (changes.length === 0 && revisionCeiling === undefined) return undefined;
    const oldest = this.#history.firstRevision;
    const trimChunk = this.#full === undefined ? this.#limits.trimChunk : 1;
    return {
      changes,
      ...(revisionCeiling !== undefined && { revisionCeiling }),
      ...(this.#history.untrimmed >= trimChunk &&
        oldest !== undefined && { trimHistoryBefore: oldest }),
      ...(!group.some(isGrowing) && { mayUseReserve: true }),
    };
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
    this.#history.keepShare(HISTORY_SHARE_WHEN_FULL);
  }

  /** So that the next write finds the room that history gave up; it need not be a deletion. */
  async #trimWhenFull(): Promise<void> {
    const trimmed = this.#history.untrimmed;
    const oldest = this.#history.firstRevision;
    if (this.#full === undefined || this.#broken !== undefined) return;
    if (trimmed === 0 || oldest === undefined) return;
    try {
      await this.#storage.commit({ changes: [], trimHistoryBefore: oldest, mayUseReserve: true });
      this.#history.trimmed(trimmed);
    } catch (error) {
      this.#fail([], error);
    }
  }

  #leaveFull(): void {
    this.#full = undefined;
    this.#history.keepShare(1);
    this.#log.info("the storage has room again");
  }

  #noteSpeed(tookMs: number, changes: number): void {
    if (tookMs >= SLOW_COMMIT_MS)
      this.#log.warn("a commit to disk was slow", { tookMs: Math.round(tookMs), changes });
  }
}

function refuse(write: PendingWrite, error: Error): void {
  dropPending(write);
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
