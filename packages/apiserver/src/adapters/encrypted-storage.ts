/**
 * A storage that encrypts rows of some tables on their way to the disk: objects and history alike.
 *
 * 1. What is not listed is stored as it is; what is encrypted on the disk is opened, listed or not.
 * 2. On loading, rows that are not as they should be (an older key, listed and plain, encrypted and no longer listed) are written
 *    again, a bounded number at a time, before anything is served: after a start with a new first key no other key is needed. A
 *    disk that has no room for that keeps the rows as they are, and that is reported.
 * 3. A row that no key opens stops the loading with a sentence.
 */
import type { ChangeRow, Loaded, ObjectRow, Storage, StorageBatch } from "../store/storage.ts";
import { StorageFull } from "../store/storage.ts";
import { splitStorageKey } from "../store/key-text.ts";
import { EncryptionRefused, isEncrypted, type Keyring } from "./encryption-keys.ts";
import { DirectoryRefused } from "./lmdb-directory.ts";

export interface EncryptionOptions {
  readonly keyring: Keyring;
  /** `group/plural`; the core group is empty. Empty: nothing is encrypted, and what is encrypted is opened. */
  readonly tables: ReadonlySet<string>;
  /** Gets a sentence about what became of rows that were not as they should be. */
  readonly tell: (sentence: string) => void;
}

const ROWS_AT_ONCE = 500;

/** The same storage behind encryption. */
export function encryptedStorage(storage: Storage, options: EncryptionOptions): Storage {
  const encrypt = <Row extends ObjectRow>(row: Row): Row =>
    isListed(options, row) ? { ...row, bytes: options.keyring.encrypt(row, row.bytes) } : row;
  return {
    load: async () => {
      const { objects, history, ...rest } = await storage.load();
      const stale: Stale = { objects: [], history: [] };
      const loaded: Loaded = {
        ...rest,
        objects: open(options, objects, stale.objects),
        history: open(options, history, stale.history),
      };
      await writeAgain(storage, options, stale, encrypt);
      return loaded;
    },
    commit: ({ changes, ...batch }) => storage.commit({ ...batch, changes: changes.map(encrypt) }),
    lackOfRoom: (bytes) => storage.lackOfRoom(bytes),
    close: () => storage.close(),
  };
}

/** Rows as they are in memory that are not on the disk as they should be. */
interface Stale {
  readonly objects: ObjectRow[];
  readonly history: ChangeRow[];
}

function isListed({ tables }: EncryptionOptions, { key }: ObjectRow): boolean {
  return tables.has(splitStorageKey(key).table);
}

function open<Row extends ObjectRow>(
  options: EncryptionOptions,
  rows: Iterable<Row>,
  stale: Row[],
): readonly Row[] {
  const { keyring } = options;
  const opened: Row[] = [];
  for (const row of rows) {
    const plain = isEncrypted(row.bytes) ? { ...row, bytes: inWords(keyring, row) } : row;
    opened.push(plain);
    const isRight = isListed(options, row) ? keyring.isCurrent(row.bytes) : plain === row;
    if (!isRight) stale.push(plain);
  }
  return opened;
}

function inWords(keyring: Keyring, row: ObjectRow): Buffer {
  try {
    return keyring.decrypt(row, row.bytes);
  } catch (cause) {
    if (!(cause instanceof EncryptionRefused)) throw cause;
    throw new DirectoryRefused(cause.message, { cause });
  }
}

async function writeAgain(
  storage: Storage,
  { tell }: EncryptionOptions,
  stale: Stale,
  encrypt: <Row extends ObjectRow>(row: Row) => Row,
): Promise<void> {
  const total = stale.objects.length + stale.history.length;
  if (total === 0) return;
  try {
    for (const rewrites of inPieces(stale)) {
      const { objects, history } = rewrites;
      await storage.commit({
        changes: [],
        rewrites: { objects: objects.map(encrypt), history: history.map(encrypt) },
      });
    }
    tell(`${total} stored rows were encrypted or decrypted again with the keys that are given now`);
  } catch (error) {
    if (!(error instanceof StorageFull)) throw error;
    tell(`stored rows were not encrypted again, keep all keys: ${error.message}`);
  }
}

function* inPieces({ objects, history }: Stale): Iterable<NonNullable<StorageBatch["rewrites"]>> {
  for (let at = 0; at < objects.length; at += ROWS_AT_ONCE)
    yield { objects: objects.slice(at, at + ROWS_AT_ONCE), history: [] };
  for (let at = 0; at < history.length; at += ROWS_AT_ONCE)
    yield { objects: [], history: history.slice(at, at + ROWS_AT_ONCE) };
}
