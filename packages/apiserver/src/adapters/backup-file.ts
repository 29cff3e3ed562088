/**
 * The file of a backup: one line of JSON that describes it, frames, and a checksum over all of that.
 *
 *     {"kind":"lifeboat-backup","format":1,…}\n
 *     | type u8 | length u32 | content |  …     `O` a stored row, `F` a file of certificates, `E` how many there are (the last)
 *     SHA-256 of everything before it, 32 bytes
 *
 * 1. It is written under another name, synced, and renamed: under its own name there is a whole backup or none.
 * 2. The checksum is compared before anything of the content is used. Numbers are big endian.
 */
import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "./durable-files.ts";

/** The backup cannot be written or used; the message is a whole sentence, which the command prints. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}

export interface BackupHeader {
  /** Of the Lifeboat that wrote it. */
  readonly version: string;
  readonly takenAt: string;
  /** No version that was given out before the backup is above this one. */
  readonly revisionCeiling: number;
}

export interface BackupCounts {
  readonly objects: number;
  readonly files: number;
}

/** A file beside the store, such as a certificate. */
export interface BackedUpFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface BackupContent {
  readonly header: BackupHeader;
  /** Stored rows, encoded as in the store. */
  readonly rows: Iterable<Buffer>;
  readonly files: readonly BackedUpFile[];
}

const KIND = "lifeboat-backup";
const FORMAT = 1;
const OBJECT = 0x4f;
const FILE = 0x46;
const END = 0x45;
const FRAME_HEAD = 5;
const DIGEST_BYTES = 32;
const CHUNK = 1024 * 1024;
const MAX_HEADER = 64 * 1024;

/** Writes a whole backup; throws BackupRefused where a file is in the way. */
export function writeBackup(
  path: string,
  { header, rows, files }: BackupContent,
  { force }: { readonly force: boolean },
): BackupCounts & { readonly bytes: number } {
  if (!force && existsSync(path))
    throw new BackupRefused(
      `${path} exists: choose another name, or replace it with --force once it is not needed`,
    );
  const draft = `${path}.partial`;
  const file = openSync(draft, "w", 0o600);
  try {
    const out = new Output(file);
    out.add(Buffer.from(`${JSON.stringify({ kind: KIND, format: FORMAT, ...header })}\n`));
    const counts = { objects: 0, files: 0 };
    for (const row of rows) {
      out.frame(OBJECT, row);
      counts.objects += 1;
    }
    for (const { name, bytes } of files) {
      const label = Buffer.from(`${name}\n`);
      out.frame(FILE, Buffer.concat([label, bytes]));
      counts.files += 1;
    }
    out.frame(END, Buffer.from(JSON.stringify(counts)));
    const bytes = out.finish();
    fsyncSync(file);
    renameSync(draft, path);
    syncFolder(dirname(path));
    return { ...counts, bytes };
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Writes in large pieces, and computes the checksum of what it has written. */
class Output {
  readonly #file: number;
  readonly #hash: Hash = createHash("sha256");
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #written = 0;

  constructor(file: number) {
    this.#file = file;
  }

  frame(type: number, content: Uint8Array): void {
    const head = Buffer.alloc(FRAME_HEAD);
    head[0] = type;
    head.writeUInt32BE(content.length, 1);
    this.add(head);
    this.add(content);
  }

  add(bytes: Uint8Array): void {
    // Copied: the memory behind a row belongs to the database.
    const copy = Buffer.from(bytes);
    this.#hash.update(copy);
    this.#waiting.push(copy);
    this.#waitingBytes += copy.length;
    if (this.#waitingBytes >= CHUNK) this.#flush();
  }

  /** Appends the checksum; answers the size of the file. */
  finish(): number {
    this.#waiting.push(this.#hash.digest());
    this.#flush();
    return this.#written;
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
    this.#written += bytes.length;
  }
}

/** An opened backup whose checksum was found right; to be closed. */
export interface OpenBackup extends BackupContent {
  readonly counts: BackupCounts;
  close(): void;
}

/** Compares the checksum of the whole file, then opens it; throws BackupRefused when it is no whole backup. */
export function openBackup(path: string): OpenBackup {
  const file = openSync(path, "r");
  try {
    const header = readHeader(path, file);
    const end = checkDigest(path, file);
    const input = new Input(path, file, header.bytes, end);
    const { files, counts } = input.survey();
    return {
      header: header.content,
      counts,
      files,
      rows: input.rows(),
      close: () => closeSync(file),
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function readHeader(
  path: string,
  file: number,
): { readonly content: BackupHeader; readonly bytes: number } {
  const start = Buffer.alloc(MAX_HEADER);
  const length = readSync(file, start, 0, MAX_HEADER, 0);
  const end = start.subarray(0, length).indexOf("\n");
  const value = end < 0 ? undefined : parseObject(start.toString("utf8", 0, end));
  if (value?.["kind"] !== KIND) throw new BackupRefused(`${path} is not a backup of lifeboat`);
  const { format, version, takenAt, revisionCeiling } = value;
  if (typeof format !== "number" || format > FORMAT)
    throw new BackupRefused(
      `${path} was written by a newer lifeboat (format ${String(format)}, this one knows ${FORMAT}): use the newer version`,
    );
  if (
    typeof version !== "string" ||
    typeof takenAt !== "string" ||
    typeof revisionCeiling !== "number"
  )
    throw damagedBackup(path, "its first line is not complete");
  return { content: { version, takenAt, revisionCeiling }, bytes: end + 1 };
}

/** Answers where the content ends. */
function checkDigest(path: string, file: number): number {
  const end = fstatSync(file).size - DIGEST_BYTES;
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(CHUNK);
  for (let at = 0; at < end;) {
    const length = readSync(file, chunk, 0, Math.min(CHUNK, end - at), at);
    if (length === 0) throw damagedBackup(path, "it is cut short");
    hash.update(chunk.subarray(0, length));
    at += length;
  }
  const digest = Buffer.alloc(DIGEST_BYTES);
  const length = readSync(file, digest, 0, DIGEST_BYTES, Math.max(end, 0));
  if (length < DIGEST_BYTES || !hash.digest().equals(digest))
    throw damagedBackup(path, "it is cut short or was changed: its checksum is another one");
  return end;
}

interface Frame {
  readonly type: number;
  readonly content: Buffer;
}

class Input {
  readonly #path: string;
  readonly #file: number;
  readonly #begin: number;
  readonly #end: number;

  constructor(path: string, file: number, begin: number, end: number) {
    this.#path = path;
    this.#file = file;
    this.#begin = begin;
    this.#end = end;
  }

  *rows(): Iterable<Buffer> {
    for (const { type, content } of this.#frames(OBJECT)) if (type === OBJECT) yield content;
  }

  /** Reads everything but the content of rows, and compares the counts. */
  survey(): { readonly files: readonly BackedUpFile[]; readonly counts: BackupCounts } {
    const files: BackedUpFile[] = [];
    let objects = 0;
    let end: Buffer | undefined;
    for (const { type, content } of this.#frames()) {
      if (end !== undefined) throw damagedBackup(this.#path, "something follows its end");
      if (type === OBJECT) objects += 1;
      else if (type === FILE) files.push(fileOf(this.#path, content));
      else if (type === END) end = content;
      else throw damagedBackup(this.#path, `it holds a frame of the unknown type ${type}`);
    }
    const counts = end === undefined ? undefined : parseObject(end.toString());
    if (counts?.["objects"] !== objects || counts["files"] !== files.length)
      throw damagedBackup(this.#path, "it does not hold as much as it lists");
    return { files, counts: { objects, files: files.length } };
  }

  /** With `only`, the content of other frames is not read. */
  *#frames(only?: number): Iterable<Frame> {
    const head = Buffer.alloc(FRAME_HEAD);
    for (let at = this.#begin; at < this.#end;) {
      if (at + FRAME_HEAD > this.#end) throw damagedBackup(this.#path, "a frame is cut short");
      readSync(this.#file, head, 0, FRAME_HEAD, at);
      const type = head[0] ?? 0;
      const length = head.readUInt32BE(1);
      if (at + FRAME_HEAD + length > this.#end)
        throw damagedBackup(this.#path, "a frame is longer than the file");
      const isRead = only === undefined ? type !== OBJECT : type === only;
      const content = Buffer.alloc(isRead ? length : 0);
      if (isRead) readSync(this.#file, content, 0, length, at + FRAME_HEAD);
      yield { type, content };
      at += FRAME_HEAD + length;
    }
  }
}

/** Names have no folder: a backup writes in the given directory and nowhere else. */
function fileOf(path: string, content: Buffer): BackedUpFile {
  const end = content.indexOf("\n");
  const name = content.toString("utf8", 0, Math.max(end, 0));
  if (!/^[A-Za-z0-9%_.!~*'()-]+$/.test(name) || name.startsWith("."))
    throw damagedBackup(path, "it holds a file whose name is not allowed");
  return { name, bytes: content.subarray(end + 1) };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function damagedBackup(path: string, what: string): BackupRefused {
  return new BackupRefused(`${path} is damaged (${what}): use another backup`);
}
