/**
 * The Storage of tests and of the simulation: rows in memory, faults on command, time from the given clock.
 *
 * Rows live on a simulated disk that outlives the handles opened on it. A handle is what one process holds: after
 * `crash` or `close` it is dead, what it still tries to commit stays unanswered for ever, as after the death of a
 * process, and `reopen` gives the next process its handle.
 *
 * 1. A batch is applied whole, at the end of `syncDelayMs`, and only then answered.
 * 2. `crash` during a commit: whether that batch was kept is the toss of the given Random, and not reported.
 * 3. `fail`: the next commit is refused with StorageBroken, kept or not by the same toss, and so is every later one of
 *    this handle (never kept).
 */
import { assert, type Cancel, type Clock, type Random } from "@lifeboat/base";
import {
  type ChangeRow,
  type Loaded,
  type ObjectRow,
  type Storage,
  type StorageBatch,
  StorageBroken,
  StorageFull,
} from "./storage.ts";

export interface MemoryStorageOptions {
  /** How long a sync takes; 0 answers in a microtask, without the clock. */
  readonly syncDelayMs: number;
  /** What is on the disk at first; absent: nothing. */
  readonly image?: DiskImage;
}

/** What is on a simulated disk. Rows are never changed, so an image is shared and not copied. */
export interface DiskImage {
  readonly objects: readonly ObjectRow[];
  readonly history: readonly ChangeRow[];
  readonly revisionCeiling: number;
  readonly historyStart: number;
}

export interface MemoryStorage extends Storage {
  /** The process dies: a commit under way is kept or lost by chance, and its promise never settles. */
  crash(options: { readonly lose: "unsynced"; readonly random: Random }): void;
  /** The disk gets full: from now on only batches that may use the reserve are taken. */
  fill(): void;
  /** There is room again. */
  free(): void;
  /** The next commit meets a failing disk. */
  fail(random: Random): void;
  /** What is on the disk now. */
  image(): DiskImage;
  /** A new handle on the same disk, after this one was closed or crashed. */
  reopen(): MemoryStorage;
}

/** An empty simulated disk and the first handle on it. */
export function createMemoryStorage(clock: Clock, options: MemoryStorageOptions): MemoryStorage {
  return new Handle(new Disk(options.image ?? EMPTY), clock, options.syncDelayMs);
}

const EMPTY: DiskImage = Object.freeze({
  objects: [],
  history: [],
  revisionCeiling: 0,
  historyStart: 0,
});

class Disk {
  readonly objects: Map<string, ObjectRow>;
  history: ChangeRow[];
  ceiling: number;
  historyStart: number;
  full = false;

  constructor(image: DiskImage) {
    this.objects = new Map(image.objects.map((row) => [row.key, row]));
    this.history = [...image.history];
    this.ceiling = image.revisionCeiling;
    this.historyStart = image.historyStart;
  }

  image(): DiskImage {
    return {
      objects: [...this.objects.values()],
      history: [...this.history],
      revisionCeiling: this.ceiling,
      historyStart: this.historyStart,
    };
  }

  apply(batch: StorageBatch): void {
    for (const row of batch.changes) {
      this.history.push(row);
      if (row.type === "DELETED") this.objects.delete(row.key);
      else this.objects.set(row.key, { key: row.key, revision: row.revision, bytes: row.bytes });
    }
    for (const row of batch.rewrites?.objects ?? []) this.objects.set(row.key, row);
    for (const row of batch.rewrites?.history ?? [])
      this.history = this.history.map((one) => (one.revision === row.revision ? row : one));
    const { trimHistoryBefore, revisionCeiling } = batch;
    if (trimHistoryBefore !== undefined) {
      this.historyStart = Math.max(this.historyStart, trimHistoryBefore);
      this.history = this.history.filter((row) => row.revision >= trimHistoryBefore);
    }
    if (revisionCeiling !== undefined) this.ceiling = Math.max(this.ceiling, revisionCeiling);
  }
}

class Handle implements MemoryStorage {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #syncDelayMs: number;
  #state: "new" | "open" | "dead" = "new";
  #underway: { readonly batch: StorageBatch; readonly cancel: Cancel } | undefined;
  #failing: Random | undefined;
  #broken = false;

  constructor(disk: Disk, clock: Clock, syncDelayMs: number) {
    this.#disk = disk;
    this.#clock = clock;
    this.#syncDelayMs = syncDelayMs;
  }

  load(): Promise<Loaded> {
    assert(this.#state === "new", "a storage is loaded once");
    this.#state = "open";
    return Promise.resolve(this.#disk.image());
  }

  async commit(batch: StorageBatch): Promise<void> {
    assert(this.#state !== "new", "a storage is loaded before it is written");
    if (this.#state === "dead") return new Promise(() => undefined);
    assert(this.#underway === undefined, "batches are committed one at a time");
    if (this.#broken) throw new StorageBroken("the simulated disk failed earlier");
    if (this.#disk.full && batch.mayUseReserve !== true) throw simulatedFull();
    if (this.#failing !== undefined) this.#failNow(batch, this.#failing);
    if (this.#syncDelayMs > 0) return this.#sync(batch);
    return this.#disk.apply(batch);
  }

  lackOfRoom(): Promise<StorageFull | undefined> {
    return Promise.resolve(this.#disk.full ? simulatedFull() : undefined);
  }

  close(): Promise<void> {
    assert(this.#underway === undefined, "a storage is closed when nothing is under way");
    this.#state = "dead";
    return Promise.resolve();
  }

  crash({ random }: { readonly random: Random }): void {
    const underway = this.#underway;
    this.#underway = undefined;
    this.#state = "dead";
    if (underway === undefined) return;
    underway.cancel();
    if (random.next() < 0.5) this.#disk.apply(underway.batch);
  }

  fill(): void {
    this.#disk.full = true;
  }

  free(): void {
    this.#disk.full = false;
  }

  fail(random: Random): void {
    this.#failing = random;
  }

  image(): DiskImage {
    return this.#disk.image();
  }

  reopen(): MemoryStorage {
    assert(this.#state === "dead", "a storage is closed or crashed before it is opened again");
    return new Handle(this.#disk, this.#clock, this.#syncDelayMs);
  }

  #failNow(batch: StorageBatch, random: Random): never {
    this.#broken = true;
    if (random.next() < 0.5) this.#disk.apply(batch);
    throw new StorageBroken("the simulated disk failed");
  }

  /** Applies the batch and resolves after the delay; never when a crash comes first. */
  #sync(batch: StorageBatch): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(this.#syncDelayMs, () => {
        this.#underway = undefined;
        this.#disk.apply(batch);
        resolve();
      });
      this.#underway = { batch, cancel };
    });
  }
}

function simulatedFull(): StorageFull {
  return new StorageFull("the simulated disk is full");
}
