/**
 * The audit log as a file of JSON lines, with rotation.
 *
 * 1. Lines are written in the order in which they came; those that wait while one write is under way share the next one.
 * 2. A full or failing disk loses lines, never blocks: `append` rejects, and the reason is logged once a minute. After a write that
 *    failed the next one begins on a new line, so that no line is glued to half of another.
 * 3. A file that has reached its size is renamed (`audit-TIME.log`) before the next line is written; old ones go by number and age.
 * 4. With `sync` a line is on the disk before `append` resolves.
 */
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import type { AuditLog, AuditMode } from "../http/audit/auditor.ts";
import { makePrivateDirectory } from "./file-problem.ts";

export interface AuditLogOptions {
  readonly mode: AuditMode;
  /** 0: no limit. */
  readonly maxBytes: number;
  /** How many old files are kept; 0: all. */
  readonly maxBackups: number;
  /** How old they may be; 0: any age. */
  readonly maxAgeMs: number;
  /** Gets a sentence when lines are lost. */
  readonly warn: (sentence: string) => void;
}

export interface AuditLogFile extends AuditLog {
  /** Writes what waits, and closes the file. */
  close(): Promise<void>;
}

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What a batch may hold before lines are lost. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const WARN_EVERY_MS = 60_000;

/** Opens the file; throws what the file system answers when it cannot be written at all. */
export async function openAuditLogFile(
  path: string,
  options: AuditLogOptions,
): Promise<AuditLogFile> {
  const file = new LogFile(path, options);
  await file.open();
  return file;
}

class LogFile implements AuditLogFile {
  readonly #path: string;
  readonly #options: AuditLogOptions;
  #handle: FileHandle | undefined;
  #size = 0;
  /** The last write failed and may have left half a line. */
  #isTorn = false;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(path: string, options: AuditLogOptions) {
    this.#path = path;
    this.#options = options;
  }

  async open(): Promise<void> {
    makePrivateDirectory(dirname(this.#path));
    this.#handle = await open(this.#path, "a", 0o600);
    this.#size = (await this.#handle.stat()).size;
    // A process that was killed may have left half a line.
    this.#isTorn = this.#size > 0 && !(await this.#endsInNewLine());
  }

  append(line: string): Promise<void> {
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      const error = new Error("too many lines wait to be written");
      this.#warn(error);
      return Promise.reject(error);
    }
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#waitingBytes += line.length;
      this.#writing ??= this.#writeAll();
    });
    if (this.#options.mode !== "batch") return written;
    written.catch(() => {
      // The warning reports the failure; no request waits for this line.
    });
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      try {
        await this.#write(group.map(({ line }) => `${line}\n`).join(""));
        for (const { resolve } of group) resolve();
      } catch (error) {
        this.#warn(error);
        for (const { reject } of group) reject(error);
      }
    }
    this.#writing = undefined;
  }

  async #write(text: string): Promise<void> {
    const { maxBytes, mode } = this.#options;
    if (maxBytes > 0 && this.#size > 0 && this.#size + text.length > maxBytes) await this.#rotate();
    if (this.#handle === undefined) await this.open();
    const bytes = Buffer.from(this.#isTorn ? `\n${text}` : text);
    this.#isTorn = true;
    await this.#handle?.appendFile(bytes);
    if (mode === "blocking-strict") await this.#handle?.datasync();
    this.#isTorn = false;
    this.#size += bytes.length;
  }

  async #rotate(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    this.#size = 0;
    this.#isTorn = false;
    try {
      await rename(this.#path, backupPath(this.#path, Date.now()));
    } catch (error) {
      // Moved away by another program: the next line begins a new file.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return;
    }
    await this.#removeOld();
  }

  async #removeOld(): Promise<void> {
    const { maxBackups, maxAgeMs } = this.#options;
    const folder = dirname(this.#path);
    const old = oldLogs(await readdir(folder), this.#path, { maxBackups, maxAgeMs }, Date.now());
    for (const name of old) await rm(join(folder, name), { force: true });
  }

  async #endsInNewLine(): Promise<boolean> {
    const file = await open(this.#path, "r");
    try {
      const last = Buffer.alloc(1);
      await file.read(last, 0, 1, this.#size - 1);
      return last.toString() === "\n";
    } finally {
      await file.close();
    }
  }

  #warn(error: unknown): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    const why = error instanceof Error ? error.message : String(error);
    this.#options.warn(`lines of the audit log ${this.#path} are lost: ${why}`);
  }
}

function backupPath(path: string, now: number): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${new Date(now).toISOString().replaceAll(":", "-")}${ext}`);
}

/** Which of the files beside the log are too many or too old. */
export function oldLogs(
  names: readonly string[],
  path: string,
  { maxBackups, maxAgeMs }: Pick<AuditLogOptions, "maxBackups" | "maxAgeMs">,
  now: number,
): readonly string[] {
  const { name, ext } = parse(path);
  const backups = names
    .flatMap((file) => {
      const time = timeOf(file, `${name}-`, ext);
      return time === undefined ? [] : [{ file, time }];
    })
    .toSorted((a, b) => b.time - a.time);
  return backups
    .filter(
      ({ time }, i) =>
        (maxBackups > 0 && i >= maxBackups) || (maxAgeMs > 0 && now - time > maxAgeMs),
    )
    .map(({ file }) => file);
}

/** When a file was put aside; undefined: it is none of ours. */
function timeOf(file: string, prefix: string, extension: string): number | undefined {
  if (!file.startsWith(prefix) || !file.endsWith(extension)) return undefined;
  const text = file.slice(prefix.length, file.length - extension.length);
  const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)$/.exec(text);
  return match === null ? undefined : Date.parse(`${match[1]}:${match[2]}:${match[3]}`);
}
