/**
 * The directory around an lmdb file: what it must look like before it may be opened, so that nothing foreign, newer or
 * damaged is ever written to. Every refusal is a `DirectoryRefused` with a sentence for the person who started us.
 *
 *     format     {"kind":"lifeboat-store","format":1,"state":"creating"|"ready"}
 *     data.mdb   the database (and data.mdb-lock beside it, which lmdb manages)
 *     clean      the size, time and newest transaction of data.mdb when it was closed in order; absent while it is open
 *
 * 1. `format` is written before the database is created and holds `ready` only after it was; so a directory whose
 *    creation was interrupted is created again, and a `ready` one whose database is gone is refused, not replaced.
 * 2. The file's own header is read before it is mapped, because touching a page behind the end of a mapped file
 *    kills the process.
 * 3. `clean` is durable before `close` answers, and its absence before the first write. Whatever happened to the file
 *    otherwise (a crash, a copy, a cut) leaves it without a `clean` that fits: then it is checked first (lmdb-check.ts).
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { syncFolder, writeWhole } from "./durable-files.ts";
import { fileProblem, makePrivateDirectory } from "./file-problem.ts";

/** The number of the newest layout this program reads and writes. */
export const STORE_FORMAT = 1;
const KIND = "lifeboat-store";
const FORMAT_FILE = "format";
const FORMAT_DRAFT = "format.new";
const DATA_FILE = "data.mdb";
const LOCK_FILE = "data.mdb-lock";
const CLEAN_FILE = "clean";
const CLEAN_DRAFT = "clean.new";

/** The directory cannot be used as a store; the message states why, and what to do where something can be done. */
export class DirectoryRefused extends Error {
  override readonly name = "DirectoryRefused";
}

export function dataFileOf(directory: string): string {
  return join(directory, DATA_FILE);
}

/**
 * `new`: call `finishDirectory` once the database exists. `clean`: it is as the last process has left it in order.
 * `unchecked`: not known yet; a damaged database crashes the process that maps it.
 */
export type FoundDirectory = "new" | "clean" | "unchecked";

/** Makes the directory fit to be opened, and answers how it was found. */
export function prepareDirectory(directory: string): FoundDirectory {
  return inWords(() => prepare(directory));
}

/** Runs calls on files; one that fails is a refusal of the directory. */
export function inWords<T>(act: () => T): T {
  try {
    return act();
  } catch (cause) {
    const problem = fileProblem(cause);
    throw problem === undefined ? cause : new DirectoryRefused(problem, { cause });
  }
}

function prepare(directory: string): FoundDirectory {
  makePrivateDirectory(directory);
  const files = readdirSync(directory).filter((name) => name !== FORMAT_DRAFT);
  if (!files.includes(FORMAT_FILE)) {
    if (files.length > 0)
      throw new DirectoryRefused(
        `${directory} is not a store of lifeboat and not empty (it holds ${files[0]}): choose an empty or new directory`,
      );
    writeFormat(directory, "creating");
  }
  chmodSync(directory, 0o700);
  if (readFormat(directory) === "ready") {
    checkDataFile(directory);
    return isClean(directory) ? "clean" : "unchecked";
  }
  rmSync(join(directory, CLEAN_FILE), { force: true });
  rmSync(join(directory, DATA_FILE), { force: true });
  rmSync(join(directory, LOCK_FILE), { force: true });
  return "new";
}

/** Throws unless there is a finished store to read; changes nothing. */
export function requireStore(directory: string): void {
  inWords(() => {
    if (!existsSync(join(directory, FORMAT_FILE)) || readFormat(directory) !== "ready")
      throw new DirectoryRefused(`there is no store of lifeboat in ${directory}`);
    checkDataFile(directory);
  });
}

/** Whether the database is as the last process has left it in order. */
export function isClean(directory: string): boolean {
  return readClean(directory) === stateOf(directory);
}

/** Records that the database was created and is durable. */
export function finishDirectory(directory: string): void {
  inWords(() => writeFormat(directory, "ready"));
}

function readFormat(directory: string): "creating" | "ready" {
  const file = join(directory, FORMAT_FILE);
  const found = parseFormat(readFileSync(file, "utf8"));
  if (found === undefined)
    throw new DirectoryRefused(`${file} is damaged or not a format file of lifeboat`);
  if (found.format > STORE_FORMAT)
    throw new DirectoryRefused(
      `${directory} was written by a newer lifeboat (format ${found.format}, this one knows ${STORE_FORMAT}): use the newer version`,
    );
  return found.state;
}

function parseFormat(
  text: string,
): { readonly format: number; readonly state: "creating" | "ready" } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, format, state } = value as Record<string, unknown>;
  if (kind !== KIND || typeof format !== "number" || format < 1) return undefined;
  if (format > STORE_FORMAT) return { format, state: "ready" };
  return state === "creating" || state === "ready" ? { format, state } : undefined;
}

function writeFormat(directory: string, state: "creating" | "ready"): void {
  const text = JSON.stringify({ kind: KIND, format: STORE_FORMAT, state });
  writeWhole(directory, FORMAT_FILE, FORMAT_DRAFT, `${text}\n`);
}

/** The database was closed in order: the next process need not check it. */
export function markClean(directory: string): void {
  writeWhole(directory, CLEAN_FILE, CLEAN_DRAFT, `${stateOf(directory)}\n`);
}

/** The database is about to be written: durable before the first write. */
export function unmarkClean(directory: string): void {
  rmSync(join(directory, CLEAN_FILE), { force: true });
  syncFolder(directory);
}

function readClean(directory: string): string | undefined {
  try {
    return readFileSync(join(directory, CLEAN_FILE), "utf8").trim();
  } catch {
    // The marker is missing or cannot be read: the database is checked.
    return undefined;
  }
}

/** What changes with every write to the database, and with most ways to damage or replace it. */
function stateOf(directory: string): string {
  const path = dataFileOf(directory);
  const { size, mtimeNs } = statSync(path, { bigint: true });
  const transaction = newestHeader(path)?.transaction ?? 0n;
  return JSON.stringify({ size: `${size}`, mtimeNs: `${mtimeNs}`, transaction: `${transaction}` });
}

const LMDB_MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const HEADER_BYTES = 160;
/** Pages at the end of the file that lmdb may have given out and never written. */
const UNWRITTEN_PAGES = 64n;

interface Header {
  readonly pageSize: number;
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

function checkDataFile(directory: string): void {
  const path = dataFileOf(directory);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined)
    throw new DirectoryRefused(`${path} is missing: restore the directory from a backup`);
  const header = newestHeader(path);
  if (header === undefined)
    throw new DirectoryRefused(`${path} is damaged or not a database of lifeboat`);
  const pages = BigInt(Math.floor(size / header.pageSize));
  if (pages + UNWRITTEN_PAGES <= header.lastPage)
    throw new DirectoryRefused(
      `${path} is cut short (${pages} pages of ${header.lastPage + 1n}): restore the directory from a backup`,
    );
}

/** lmdb keeps two headers in the first two pages and uses the newer one that is whole. */
function newestHeader(path: string): Header | undefined {
  const file = openSync(path, "r");
  try {
    const first = readHeader(file, 0);
    const second = readHeader(file, first?.pageSize ?? 4096);
    if (first === undefined || second === undefined) return first ?? second;
    return first.transaction > second.transaction ? first : second;
  } finally {
    closeSync(file);
  }
}

function readHeader(file: number, at: number): Header | undefined {
  const bytes = Buffer.alloc(HEADER_BYTES);
  if (readSync(file, bytes, 0, HEADER_BYTES, at) < HEADER_BYTES) return undefined;
  const pageSize = bytes.readUInt32LE(PAGE_SIZE_AT);
  if (bytes.readUInt32LE(MAGIC_AT) !== LMDB_MAGIC || pageSize < 512) return undefined;
  return {
    pageSize,
    lastPage: bytes.readBigUInt64LE(LAST_PAGE_AT),
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
  };
}
