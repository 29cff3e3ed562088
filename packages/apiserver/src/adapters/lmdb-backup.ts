/**
 * Reading a store for a backup, and making a store from one.
 *
 * 1. A backup is read by a process of its own, from one read transaction of lmdb: the state between two commits, also while a
 *    control plane writes. Nothing awaits in between, so that the transaction is not renewed.
 * 2. The owner and the history are left out: after a restore the one has no meaning and the other must not be resumed
 *    (restored-storage.ts).
 * 3. A store is made under its own directory and counts as finished only when every row is durable.
 */
import type { RootDatabase } from "lmdb";
import {
  DirectoryRefused,
  finishDirectory,
  isClean,
  markClean,
  prepareDirectory,
  requireStore,
} from "./lmdb-directory.ts";
import { isAlive, type Owner } from "./lmdb-owner.ts";
import { decodeRow } from "./lmdb-row.ts";
import { checkInChild, ownerInChild } from "./lmdb-check.ts";
import {
  CEILING,
  damaged,
  decode,
  HISTORY_START,
  numberRow,
  openEnvironment,
  openTables,
  readNumber,
} from "./lmdb-tables.ts";

/** The rows of a store at one moment. */
export interface StoreSnapshot {
  readonly revisionCeiling: number;
  /** Encoded as they are stored; each was compared with its checksum and its key. To be used before anything is awaited. */
  readonly rows: Iterable<Buffer>;
}

/** Hands one moment of the store to `use`, which must not await. */
export async function readStore<T>(
  directory: string,
  use: (snapshot: StoreSnapshot) => T,
): Promise<T> {
  requireStore(directory);
  // A store that no process has open and that was not closed in order may be damaged, which ends the process that maps it.
  if (!isClean(directory)) await checkInChild(directory, { isAlive, warn: () => undefined });
  const environment = openEnvironment(directory, true);
  try {
    return use(snapshotOf(directory, environment));
  } finally {
    await environment.close();
  }
}

function snapshotOf(directory: string, environment: RootDatabase): StoreSnapshot {
  const { objects, meta } = openTables(environment);
  const transaction = environment.useReadTransaction();
  const revisionCeiling = readNumber(meta, CEILING, transaction);
  function* rows(): Iterable<Buffer> {
    try {
      for (const { key, value } of objects.getRange({ transaction })) {
        if (decode(directory, value).key !== key.toString())
          throw damaged(directory, "a row lies under the key of another");
        yield value;
      }
    } finally {
      transaction.done();
    }
  }
  return { revisionCeiling, rows: rows() };
}

const ROWS_AT_ONCE = 4096;

/** Makes a store in a directory that does not exist or is empty. */
export async function makeStore(directory: string, snapshot: StoreSnapshot): Promise<void> {
  if (prepareDirectory(directory) !== "new")
    throw new DirectoryRefused(`${directory} holds a store: choose an empty or new directory`);
  const environment = openEnvironment(directory);
  try {
    const { objects, meta } = openTables(environment);
    const write = (batch: readonly Buffer[]): void => {
      environment.transactionSync(() => {
        for (const row of batch) objects.putSync(Buffer.from(decodeRow(row).key), row);
      });
    };
    let batch: Buffer[] = [];
    for (const row of snapshot.rows) {
      batch.push(row);
      if (batch.length < ROWS_AT_ONCE) continue;
      write(batch);
      batch = [];
    }
    write(batch);
    meta.transactionSync(() => {
      meta.putSync(CEILING, numberRow(snapshot.revisionCeiling), 0);
      meta.putSync(HISTORY_START, numberRow(snapshot.revisionCeiling + 1), 0);
    });
  } finally {
    await environment.close();
  }
  finishDirectory(directory);
  markClean(directory);
}

/** The living process that has a store open. Asked in a child, which a damaged store may end. */
export async function ownerOfStore(
  directory: string,
  program?: string,
): Promise<Owner | undefined> {
  const owner = await ownerInChild(directory, program);
  return owner !== undefined && isAlive(owner) ? owner : undefined;
}
