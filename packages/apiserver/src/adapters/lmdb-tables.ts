/**
 * The lmdb file of a store and its tables, as the storage writes them and the check of a directory reads them:
 * `objects` (key → newest row), `history` (revision → row) and `meta` (`owner`, `ceiling`, `history`).
 *
 * A row that does not match its checksum or its key, or a table with more or fewer rows than it counts, is damage. (Pages of
 * a damaged file may lead in a circle: counting also ends that.)
 */
import { type Database, open, type RootDatabase, type Transaction } from "lmdb";
import type { ChangeRow } from "../store/storage.ts";
import { dataFileOf, DirectoryRefused } from "./lmdb-directory.ts";
import type { Owner } from "./lmdb-owner.ts";
import { DamagedRow, decodeRow } from "./lmdb-row.ts";

export type Table = Database<Buffer, Buffer>;

export interface Tables {
  readonly objects: Table;
  readonly history: Table;
  readonly meta: Table;
}

const MIB = 1024 * 1024;
/** Address space, not memory nor disk; lmdb maps the file again when it outgrows this. */
const MAP_BYTES = 4096 * MIB;
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;

export const OWNER = Buffer.from("owner");
export const CEILING = Buffer.from("ceiling");
export const HISTORY_START = Buffer.from("history");

export function openEnvironment(directory: string, readOnly = false): RootDatabase {
  try {
    return open({
      ...BINARY,
      path: dataFileOf(directory),
      noSubdir: true,
      maxDbs: 3,
      mapSize: MAP_BYTES,
      overlappingSync: false,
      eventTurnBatching: false,
      readOnly,
    });
  } catch (cause) {
    throw new DirectoryRefused(
      `${dataFileOf(directory)} cannot be opened: ${(cause as Error).message}`,
      { cause },
    );
  }
}

export function openTables(environment: RootDatabase): Tables {
  return {
    objects: environment.openDB<Buffer, Buffer>("objects", BINARY),
    history: environment.openDB<Buffer, Buffer>("history", BINARY),
    meta: environment.openDB<Buffer, Buffer>("meta", { ...BINARY, useVersions: true }),
  };
}

/** The rows of `objects` in order of keys. */
export function objectRows(directory: string, { objects }: Tables): Iterable<ChangeRow> {
  return rowsOf(directory, objects, (row) => Buffer.from(row.key));
}

/** The rows of `history` in order of revisions. */
export function historyRows(directory: string, { history }: Tables): Iterable<ChangeRow> {
  return rowsOf(directory, history, (row) => historyKey(row.revision));
}

/** Eight bytes, big endian: the order of keys is the order of revisions. */
export function historyKey(revision: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(revision));
  return key;
}

/** 0 where the table has none. */
export function readNumber(meta: Table, key: Buffer, transaction?: Transaction): number {
  const row = meta.get(key, transaction === undefined ? undefined : { transaction });
  return row?.readDoubleBE(0) ?? 0;
}

export function numberRow(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

/** Undefined when no process has it open. */
export function ownerOf({ meta }: Tables): Owner | undefined {
  const row = meta.get(OWNER);
  return row === undefined ? undefined : parseOwner(row);
}

export function parseOwner(row: Buffer): Owner | undefined {
  return row.length === 0 ? undefined : (JSON.parse(row.toString()) as Owner);
}

export function damaged(directory: string, what: string): DirectoryRefused {
  return new DirectoryRefused(
    `${dataFileOf(directory)} is damaged (${what}): restore the directory from a backup`,
  );
}

function* rowsOf(
  directory: string,
  table: Table,
  keyOf: (row: ChangeRow) => Buffer,
): Iterable<ChangeRow> {
  const { entryCount } = table.getStats() as { readonly entryCount: number };
  let count = 0;
  for (const { key, value } of table.getRange()) {
    const row = decode(directory, value);
    if (!keyOf(row).equals(key)) throw damaged(directory, "a row lies under the key of another");
    count += 1;
    if (count > entryCount) throw damaged(directory, `a table has more rows than ${entryCount}`);
    yield row;
  }
  if (count !== entryCount) throw damaged(directory, `${count} rows were found of ${entryCount}`);
}

/** A stored row; throws DirectoryRefused, with a sentence, when it is damaged. */
export function decode(directory: string, value: Buffer): ChangeRow {
  try {
    return decodeRow(value);
  } catch (error) {
    throw error instanceof DamagedRow ? damaged(directory, error.message) : error;
  }
}
