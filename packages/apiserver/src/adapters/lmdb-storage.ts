/**
 * The Storage on a disk: one lmdb file with the tables `objects` (key → newest row), `history` (revision → row) and
 * `meta` (`owner`, `ceiling`, `history`: where history begins).
 *
 * 1. A batch is one lmdb transaction, committed with lmdb's own order of syncs: data, then header, both before the promise
 *    resolves. `overlappingSync` is off because with it the header is also written before the data is synced.
 * 2. One owner: opening writes an owner row with a new number, refusing when the former owner is alive. Every batch is
 *    conditional on that number, so whoever is superseded, for whatever reason, can never write again.
 * 3. Room: a batch that grows the store is refused as StorageFull while less than `reserveBytes` are free on the disk and
 *    inside the file together (lmdb-room.ts); one that may use the reserve is tried. A write that met the end of the disk was not applied, because lmdb writes
 *    its header last, over bytes the disk already has. Any other error leaves the state in doubt: StorageBroken.
 * 4. A row that does not match its checksum or its key, or a table with fewer rows than it counts, stops the opening.
 */
import { statfs } from "node:fs/promises";
import { type Database, open, type RootDatabase } from "lmdb";
import {
  type ChangeRow,
  type Loaded,
  type ObjectRow,
  type Storage,
  type StorageBatch,
  StorageBroken,
  StorageFull,
} from "../store/storage.ts";
import {
  dataFileOf,
  DirectoryRefused,
  finishDirectory,
  prepareDirectory,
} from "./lmdb-directory.ts";
import { freeBytesInFile, lackOfRoom, type PageCounts } from "./lmdb-room.ts";
import { isAlive, type Owner, thisProcess } from "./lmdb-owner.ts";
import { DamagedRow, decodeRow, encodeRow } from "./lmdb-row.ts";

export interface LmdbStorageOptions {
  /** Room on the disk that growing writes leave free. */
  readonly reserveBytes?: number;
  /** How many bytes the disk of a directory has left. */
  readonly roomOf?: (directory: string) => Promise<number>;
  readonly processes?: Processes;
}

/** What is known about processes, to tell whether a directory is in use. */
export interface Processes {
  readonly self: Owner;
  isAlive(owner: Owner): boolean;
}

const MIB = 1024 * 1024;
const DEFAULT_RESERVE_BYTES = 64 * MIB;
/** Address space, not memory nor disk; lmdb maps anew when the file outgrows it. */
const MAP_BYTES = 4096 * MIB;
/** A batch trims at most so many rows: more would delay its writes. */
const TRIM_AT_ONCE = 1024;
/** While more than this is left the room is looked up once a second, which is less than a disk fills in that time. */
const PLENTY_OF_ROOM = 2048 * MIB;
const ROOM_CHECK_MS = 1000;
/** What a change costs beyond its two rows: the rest of their pages, and pages of the tree. */
const BYTES_PER_CHANGE = 8192;
/** No space, quota, file size limit; lmdb's own "map full" when it cannot map more. */
const FULL_CODES: ReadonlySet<unknown> = new Set([28, 122, 27, -30792]);

const INPUT_OUTPUT_ERROR = 5;
/** With less than this left beside what a batch wants, a failed write is taken for one that met the end of the disk. */
const SHORT_OF_ROOM = MIB;

const OWNER = Buffer.from("owner");
const CEILING = Buffer.from("ceiling");
const HISTORY_START = Buffer.from("history");
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;

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
  const environment = openEnvironment(directory);
  const tables = {
    objects: environment.openDB<Buffer, Buffer>("objects", BINARY),
    history: environment.openDB<Buffer, Buffer>("history", BINARY),
    meta: environment.openDB<Buffer, Buffer>("meta", { ...BINARY, useVersions: true }),
  };
  try {
    const term = claim(directory, tables.meta, processes);
    if (found === "new") finishDirectory(directory);
    return new LmdbStorage(directory, environment, tables, term, { reserveBytes, roomOf });
  } catch (error) {
    await environment.close();
    throw error;
  }
}

interface Reserve {
  readonly reserveBytes: number;
  readonly roomOf: (directory: string) => Promise<number>;
}

/** What lmdb tells about the whole file, beside the table it is asked of. */
interface FileStats {
  readonly pageSize: number;
  readonly lastPageNumber: number;
  /** The table of tables. */
  readonly root: PageCounts;
  /** The table of free pages. */
  readonly free: PageCounts;
}

interface Tables {
  readonly objects: Database<Buffer, Buffer>;
  readonly history: Database<Buffer, Buffer>;
  readonly meta: Database<Buffer, Buffer>;
}

class LmdbStorage implements Storage {
  readonly #directory: string;
  readonly #environment: RootDatabase;
  readonly #tables: Tables;
  readonly #term: number;
  readonly #reserve: Reserve;
  #onDisk = 0;
  #roomKnownAt = Number.NEGATIVE_INFINITY;
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
    const { objects, history, meta } = this.#tables;
    return Promise.resolve({
      revisionCeiling: readNumber(meta, CEILING),
      historyStart: readNumber(meta, HISTORY_START),
      objects: this.#rows(objects, (row) => Buffer.from(row.key)),
      history: this.#rows(history, (row) => historyKey(row.revision)),
    });
  }

  async commit(batch: StorageBatch): Promise<void> {
    if (this.#closed !== undefined) throw new StorageBroken(`${this.#directory} was closed`);
    if (this.#broken !== undefined) throw this.#broken;
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

  async lackOfRoom(): Promise<StorageFull | undefined> {
    if (this.#closed !== undefined || this.#broken !== undefined) return undefined;
    return this.#lackOf(BYTES_PER_CHANGE);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Gives the ownership back, so that the next process need not look whether this one is alive. */
  async #close(): Promise<void> {
    const { meta } = this.#tables;
    if (this.#broken === undefined) {
      const release = (): void => void meta.put(OWNER, ownerRow(undefined), this.#term);
      await meta.ifVersion(OWNER, this.#term, release).catch(causeOf);
    }
    await this.#environment.close();
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
    if (batch.trimHistoryBefore !== undefined) this.#trim(batch.trimHistoryBefore);
    if (batch.revisionCeiling !== undefined) writeNumber(meta, CEILING, batch.revisionCeiling);
  }

  #trim(before: number): void {
    const { history, meta } = this.#tables;
    writeNumber(meta, HISTORY_START, before);
    const old = history.getKeys({ end: historyKey(before), limit: TRIM_AT_ONCE });
    for (const key of old) void history.remove(key);
  }

  *#rows(
    table: Database<Buffer, Buffer>,
    keyOf: (row: ChangeRow) => Buffer,
  ): Iterable<ObjectRow & ChangeRow> {
    const { entryCount } = table.getStats() as { readonly entryCount: number };
    let count = 0;
    for (const { key, value } of table.getRange()) {
      const row = this.#decode(value);
      if (!keyOf(row).equals(key)) throw this.#damaged("a row lies under the key of another");
      count += 1;
      yield row;
    }
    if (count !== entryCount) throw this.#damaged(`${count} rows were found of ${entryCount}`);
  }

  #decode(value: Buffer): ChangeRow {
    try {
      return decodeRow(value);
    } catch (error) {
      throw error instanceof DamagedRow ? this.#damaged(error.message) : error;
    }
  }

  #damaged(what: string): DirectoryRefused {
    return new DirectoryRefused(
      `${dataFileOf(this.#directory)} is damaged (${what}): restore the directory from a backup`,
    );
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

  /** lmdb tells a write that was cut short by the end of the disk as an I/O error; the room left tells which it was. */
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

function openEnvironment(directory: string): RootDatabase {
  try {
    return open({
      ...BINARY,
      path: dataFileOf(directory),
      noSubdir: true,
      maxDbs: 3,
      mapSize: MAP_BYTES,
      overlappingSync: false,
      eventTurnBatching: false,
    });
  } catch (cause) {
    throw new DirectoryRefused(
      `${dataFileOf(directory)} cannot be opened: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** Makes this process the owner, in one synced transaction; answers the number that its writes are conditional on. */
function claim(directory: string, meta: Database<Buffer, Buffer>, processes: Processes): number {
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

function parseOwner(row: Buffer): Owner | undefined {
  return row.length === 0 ? undefined : (JSON.parse(row.toString()) as Owner);
}

function readNumber(meta: Database<Buffer, Buffer>, key: Buffer): number {
  return meta.get(key)?.readDoubleBE(0) ?? 0;
}

function writeNumber(meta: Database<Buffer, Buffer>, key: Buffer, value: number): void {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  void meta.put(key, bytes, 0);
}

function bytesWanted(batch: StorageBatch): number {
  let wanted = 0;
  for (const change of batch.changes) wanted += 2 * change.bytes.length + BYTES_PER_CHANGE;
  return wanted;
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** Eight bytes, big endian: the order of keys is the order of revisions. */
function historyKey(revision: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(revision));
  return key;
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
