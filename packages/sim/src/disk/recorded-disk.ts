/**
 * The disk of one simulated server: what reaches it goes to the ledger, and what a crash leaves is compared with what was
 * promised.
 *
 * 1. A batch is recorded when the disk has it, before the server is told.
 * 2. What a disk kept without telling is recorded when its server dies, for it is true from then on. Until then a server whose
 *    disk failed may answer reads as if it were not there.
 * 3. `damage` lists every row that was acknowledged and is not there after a crash: none, ever.
 */
import {
  type ChangeRow,
  createMemoryStorage,
  type DiskImage,
  type Loaded,
  type MemoryStorage,
  type Storage,
} from "@lifeboat/apiserver";
import type { Clock, Random } from "@lifeboat/base";
import type { Ledger } from "./ledger.ts";

export interface RecordedDisk {
  /** A handle for the next life of the server. */
  open(): Storage;
  /** The server's process dies. */
  crash(): void;
  fill(): void;
  free(): void;
  /** The next commit meets a failing disk, and so does every other one until the disk is opened again. */
  fail(): void;
  image(): DiskImage;
  /** Puts other data in the place of what is on it, while its server is dead. */
  replace(image: DiskImage): void;
  /** What was acknowledged and is gone. */
  readonly damage: readonly string[];
}

export interface DiskOptions {
  readonly server: string;
  readonly syncDelayMs: number;
  readonly image: DiskImage;
}

/** A disk with what the image says on it. */
export function createRecordedDisk(
  clock: Clock,
  random: Random,
  ledger: Ledger,
  options: DiskOptions,
): RecordedDisk {
  ledger.load(options.server, options.image.objects);
  return new Recorded(clock, random, ledger, options);
}

class Recorded implements RecordedDisk {
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #server: string;
  readonly #clock: Clock;
  readonly #syncDelayMs: number;
  readonly damage: string[] = [];
  readonly #dead = new WeakSet<MemoryStorage>();
  #handle: MemoryStorage;
  #opened = false;
  #lastRevision: number;

  constructor(clock: Clock, random: Random, ledger: Ledger, options: DiskOptions) {
    this.#ledger = ledger;
    this.#random = random;
    this.#server = options.server;
    this.#clock = clock;
    this.#syncDelayMs = options.syncDelayMs;
    this.#handle = createMemoryStorage(clock, options);
    this.#lastRevision = newestOf(options.image);
  }

  open(): Storage {
    this.#reopen();
    this.#opened = true;
    const handle = this.#handle;
    return {
      load: (): Promise<Loaded> => handle.load(),
      commit: async (batch) => {
        await handle.commit(batch);
        // Who died in between has left it on the disk, and that was recorded at once.
        if (!this.#dead.has(handle)) this.#record(batch.changes);
      },
      lackOfRoom: (bytes) => handle.lackOfRoom(bytes),
      close: () => handle.close(),
    };
  }

  crash(): void {
    this.#handle.crash({ lose: "unsynced", random: this.#random });
    this.#dead.add(this.#handle);
    this.#recordUntold();
  }

  fill(): void {
    this.#handle.fill();
  }

  free(): void {
    this.#handle.free();
  }

  fail(): void {
    this.#handle.fail(this.#random);
  }

  image(): DiskImage {
    return this.#handle.image();
  }

  replace(image: DiskImage): void {
    this.#reopen();
    this.#handle = createMemoryStorage(this.#clock, { syncDelayMs: this.#syncDelayMs, image });
    this.#opened = false;
    this.#lastRevision = newestOf(image);
    this.#ledger.replace(this.#server, image.objects);
  }

  #record(changes: readonly ChangeRow[]): void {
    for (const row of changes) {
      this.#ledger.record(this.#server, row);
      this.#lastRevision = row.revision;
    }
  }

  #recordUntold(): void {
    const { history } = this.#handle.image();
    this.#record(history.filter(({ revision }) => revision > this.#lastRevision));
  }

  #reopen(): void {
    if (!this.#opened) return;
    this.#handle = this.#handle.reopen();
    const { objects } = this.#handle.image();
    const found = new Map(objects.map(({ key, revision }) => [key, revision]));
    for (const [key, revision] of this.#ledger.versions(this.#server))
      if (found.get(key) !== revision) this.damage.push(`${this.#server} ${key} at ${revision}`);
  }
}

function newestOf({ history }: DiskImage): number {
  return Math.max(0, ...history.map(({ revision }) => revision));
}
