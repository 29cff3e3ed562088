/**
 * The Storage on a disk: one lmdb file with the tables `objects` (key → newest row), `history` (revision → row) and
 * `meta` (`owner`, `ceiling`, `history`: where history begins).
 *
 * 1. A batch is one lmdb transaction, committed with lmdb's own order of syncs: data, then header, both before the promise
 *    resolves. `overlappingSync` is off because with it the header is also written before the data is synced.
 * 2. One owner: opening writes an owner row with a new number, refusing when the former owner is alive. Every batch is
 *    conditional on that number, so a process that is superseded, for whatever reason, can never write again.
 * 3. Room: a batch that grows the store is refused as StorageFull while less than `reserveBytes` are free on the disk and
 *    inside the file together (lmdb-room.ts); one that may use the reserve is tried. A write that met the end of the disk
 *    was not applied, because lmdb writes its header last, over bytes the disk already has. Any other error leaves the
 *    state in doubt: StorageBroken.
 * 4. A store that was not closed in order is read by another process first (lmdb-check.ts). Damage that is found then, or
 *    while rows are loaded (lmdb-tables.ts), stops the opening.
 */
import { statfs } from "node:fs/promises";
import type { RootDatabase } from "lmdb";
import {
  type Loaded,
  type Storage,
  type StorageBatch,
  StorageBroken,
  StorageFull,
} from "../store/storage.ts";
import { fileProblem } from "./file-problem.ts";
import { checkInChild } from "./lmdb-check.ts";
import {
  DirectoryRefused,
  finishDirectory,
  inWords,
  markClean,
  prepareDirectory,
  unmarkClean,
} from "./lmdb-directory.ts";
import { isAlive, type Owner, thisProcess } from "./lmdb-owner.ts";
import { freeBytesInFile, lackOfRoom, type PageCounts } from "./lmdb-room.ts";
import { encodeRow } from "./lmdb-row.ts";
import {
  CEILING,
  HISTORY_START,
  historyKey,
  historyRows,
  numberRow,
  objectRows,
  openEnvironment,
  openTables,
  OWNER,
  parseOwner,
  readNumber,
  type Table,
  type Tables,
} from "./lmdb-tables.ts";

export interface LmdbStorageOptions {
  /** Room on the disk that growing writes leave free. */
  readonly reserveBytes?: number;
  /** How many bytes the disk of a directory has left. */
  readonly roomOf?: (directory: string) => Promise<number>;
  readonly processes?: Processes;
  /** The program of the check; absent: the one beside this file. Tests run from sources, which a child cannot load. */
  readonly checkProgram?: string;
  /** Gets a sentence when a store is opened that could not be checked. */
  readonly warn?: (sentence: string) => void;
}

/** What is known about processes, by which a directory is found to be in use. */
export interface Processes {
  readonly self: Owner;
  isAlive(owner: Owner): boolean;
}

const MIB = 1024 * 1024;
const DEFAULT_RESERVE_BYTES = 64 * MIB;
/** A batch trims at most so many rows: more would delay its writes. */
const TRIM_AT_ONCE = 1024;
/** While more than this is left the room is looked up once a second, which is less than a disk fills in that time. */
const PLENTY_OF_ROOM = 2048 * MIB;
const ROOM_CHECK_MS = 1000;
/** A reader in another process, such as a backup, that was killed keeps pages from being used again until it is cleared. */
const READERS_CHECK_MS = 60_000;
/** What a change costs beyond its two rows: the rest of their pages, and pages of the tree. */
const BYTES_PER_CHANGE = 8192;
/** No space, quota, file size limit; lmdb's own "map full" when it cannot map more. */
const FULL_CODES: ReadonlySet<unknown> = new Set([28, 122, 27, -30792]);

const INPUT_OUTPUT_ERROR = 5;
/** With less than this left beside what a batch wants, a failed write is taken for one that met the end of the disk. */
const SHORT_OF_ROOM = MIB;

/** Opens or creates a store directory. Throws DirectoryRefused, with a sentence, when it must not be used. */
export async function openLmdbStorage(
  directory: string,
  options: LmdbStorageOptions = {},
): Promise<Storage> {
  const {
    reserveBytes = DEFAULT_RESERVE_BYTES,
    roomOf = freeBytesOf,
    processes = { self: thisProcess(), isAlive },
  } = options;
  const found = prepareDirectory(directory);
  if (found === "unchecked") {
    const { warn = () => undefined, checkProgram } = options;
    const isOwnerAlive = (owner: Owner): boolean => processes.isAlive(owner);
    await checkInChild(directory, { isAlive: isOwnerAlive, warn, program: checkProgram });
  }
  if (found === "clean") inWords(() => unmarkClean(directory));
  const environment = openEnvironment(directory);
  try {
    const tables = openTables(environment);
    const term = claim(directory, tables.meta, processes);
    if (found === "new") finishDirectory(directory);
    return new LmdbStorage(directory, environment, tables, term, { reserveBytes, roomOf });
  } catch (error) {
    await environment.close();
    throw refusalOf(directory, error);
  }
}

interface Reserve {
  readonly reserveBytes: number;
  readonly roomOf: (directory: string) => Promise<number>;
}

/** What lmdb reports about the whole file, beside the table it is asked of. */
interface FileStats {
  readonly pageSize: number;
  readonly lastPageNumber: number;
  /** The table of tables. */
  readonly root: PageCounts;
  /** The table of free pages. */
  readonly free: PageCounts;
}

class LmdbStorage implements Storage {
  readonly #directory: string;
  readonly #environment: RootDatabase;
  readonly #tables: Tables;
  readonly #term: number;
  readonly #reserve: Reserve;
  #onDisk = 0;
  #roomKnownAt = Number.NEGATIVE_INFINITY;
  #readersCheckedAt = performance.now();
  #broken: StorageBroken | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    directory: string,
    environment: RootDatabase,
    tables: Tables,
    term: number,
    reserve: Reserve,
  ) {
    this.#directory = directory;
    this.#environment = environment;
    this.#tables = tables;
    this.#term = term;
    this.#reserve = reserve;
  }

  load(): Promise<Loaded> {
    const { meta } = this.#tables;
    return Promise.resolve({
      revisionCeiling: readNumber(meta, CEILING),
      historyStart: readNumber(meta, HISTORY_START),
      objects: objectRows(this.#directory, this.#tables),
      history: historyRows(this.#directory, this.#tables),
    });
  }

  async commit(batch: StorageBatch): Promise<void> {
    if (this.#closed !== undefined) throw new StorageBroken(`${this.#directory} was closed`);
    if (this.#broken !== undefined) throw this.#broken;
    this.#clearDeadReaders();
    if (batch.mayUseReserve !== true) await this.#requireRoom(batch);
    let applied: boolean;
    try {
      applied = await this.#tables.meta.ifVersion(OWNER, this.#term, () => this.#write(batch));
    } catch (error) {
      throw await this.#failure(error, batch);
    }
    if (applied) return;
    this.#broken = new StorageBroken(`${this.#directory} was taken over by another process`);
    throw this.#broken;
  }

  async lackOfRoom(bytes: number): Promise<StorageFull | undefined> {
    if (this.#closed !== undefined || this.#broken !== undefined) return undefined;
    return this.#lackOf(bytes);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Gives the ownership back, so that the next process need not look whether this one is alive. */
  async #close(): Promise<void> {
    const { meta } = this.#tables;
    let isReleased = false;
    if (this.#broken === undefined) {
      const release = (): void => void meta.put(OWNER, ownerRow(undefined), this.#term);
      isReleased = await meta.ifVersion(OWNER, this.#term, release).catch(() => {
        // The next process finds an owner that is gone, and reads the store first.
        return false;
      });
    }
    await this.#environment.close();
    if (isReleased) this.#markClean();
  }

  /** One that cannot be marked, because the disk is full or gone, is checked by the next process: nothing is lost. */
  #markClean(): void {
    try {
      markClean(this.#directory);
    } catch (error) {
      if (fileProblem(error) === undefined) throw error;
    }
  }

  /** Puts inside the conditional block: they are one transaction, and their outcome is the block's. */
  #write(batch: StorageBatch): void {
    const { objects, history, meta } = this.#tables;
    for (const change of batch.changes) {
      const row = encodeRow(change);
      const key = Buffer.from(change.key);
      if (change.type === "DELETED") void objects.remove(key);
      else void objects.put(key, row);
      void history.put(historyKey(change.revision), row);
    }
    for (const row of batch.rewrites?.objects ?? [])
      void objects.put(Buffer.from(row.key), encodeRow({ ...row, type: "MODIFIED" }));
    for (const row of batch.rewrites?.history ?? [])
      void history.put(historyKey(row.revision), encodeRow(row));
    if (batch.trimHistoryBefore !== undefined) this.#trim(batch.trimHistoryBefore);
    if (batch.revisionCeiling !== undefined) writeNumber(meta, CEILING, batch.revisionCeiling);
  }

  #trim(before: number): void {
    const { history, meta } = this.#tables;
    writeNumber(meta, HISTORY_START, before);
    const old = history.getKeys({ end: historyKey(before), limit: TRIM_AT_ONCE });
    for (const key of old) void history.remove(key);
  }

  #clearDeadReaders(): void {
    const now = performance.now();
    if (now - this.#readersCheckedAt < READERS_CHECK_MS) return;
    this.#readersCheckedAt = now;
    this.#environment.readerCheck();
  }

  async #requireRoom(batch: StorageBatch): Promise<void> {
    const now = performance.now();
    if (this.#onDisk > PLENTY_OF_ROOM && now - this.#roomKnownAt < ROOM_CHECK_MS) return;
    const lack = await this.#lackOf(bytesWanted(batch));
    if (lack !== undefined) throw lack;
  }

  async #lackOf(bytes: number): Promise<StorageFull | undefined> {
    const { reserveBytes, roomOf } = this.#reserve;
    this.#onDisk = await roomOf(this.#directory);
    this.#roomKnownAt = performance.now();
    // Only a disk that is short makes it worth to count the pages.
    if (this.#onDisk - bytes >= reserveBytes || this.#closed !== undefined) return undefined;
    const room = { onDisk: this.#onDisk, inFile: this.#freeInFile() };
    const lack = lackOfRoom(this.#directory, room, bytes, reserveBytes);
    return lack === undefined ? undefined : new StorageFull(lack);
  }

  #freeInFile(): number {
    const { root, free, pageSize, lastPageNumber } = this.#environment.getStats() as FileStats;
    const tables = Object.values(this.#tables).map((table) => table.getStats() as PageCounts);
    return freeBytesInFile(pageSize, lastPageNumber, [root, free, ...tables]);
  }

  /** lmdb reports a write that was cut short by the end of the disk as an I/O error; the room left shows which it was. */
  async #failure(error: unknown, batch: StorageBatch): Promise<Error> {
    const cause = await causeOf(error);
    const code = (cause as { readonly code?: unknown }).code;
    const isShort =
      code === INPUT_OUTPUT_ERROR &&
      (await freeBytesOf(this.#directory)) < bytesWanted(batch) + SHORT_OF_ROOM;
    if (isShort || FULL_CODES.has(code))
      return new StorageFull(`the disk of ${this.#directory} is full`, { cause });
    this.#broken = new StorageBroken(
      `writing to ${this.#directory} failed, and what reached the disk is not known`,
      { cause },
    );
    return this.#broken;
  }
}

/** What lmdb itself throws while the store is opened, such as for want of room, is a refusal as well. */
function refusalOf(directory: string, error: unknown): unknown {
  if (error instanceof DirectoryRefused || !(error instanceof Error)) return error;
  const { code } = error as { readonly code?: unknown };
  if (FULL_CODES.has(code))
    return new DirectoryRefused(
      `the disk of ${directory} is full, and not even its owner can be noted: make room on it`,
      { cause: error },
    );
  return new DirectoryRefused(
    `${directory} cannot be opened for writing (${error.message}): restore the directory from a backup`,
    { cause: error },
  );
}

/** Makes this process the owner, in one synced transaction; answers the number that its writes are conditional on. */
function claim(directory: string, meta: Table, processes: Processes): number {
  return meta.transactionSync(() => {
    const found = meta.getEntry(OWNER);
    const owner = found === undefined ? undefined : parseOwner(found.value);
    if (owner !== undefined && processes.isAlive(owner))
      throw new DirectoryRefused(
        `${directory} is in use by process ${owner.pid}: stop it first, or use another directory`,
      );
    const term = (found?.version ?? 0) + 1;
    meta.putSync(OWNER, ownerRow(processes.self), term);
    return term;
  });
}

function ownerRow(owner: Owner | undefined): Buffer {
  return Buffer.from(owner === undefined ? "" : JSON.stringify(owner));
}

function writeNumber(meta: Table, key: Buffer, value: number): void {
  void meta.put(key, numberRow(value), 0);
}

function bytesWanted(batch: StorageBatch): number {
  let wanted = 0;
  for (const change of batch.changes) wanted += 2 * change.bytes.length + BYTES_PER_CHANGE;
  for (const row of batch.rewrites?.objects ?? []) wanted += row.bytes.length + BYTES_PER_CHANGE;
  for (const row of batch.rewrites?.history ?? []) wanted += row.bytes.length + BYTES_PER_CHANGE;
  return wanted;
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** lmdb rejects a batch with a general error that carries the particular one as a promise. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { readonly commitError?: Promise<unknown> };
  if (commitError === undefined) return error;
  try {
    await commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}
