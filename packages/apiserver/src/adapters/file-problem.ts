/** What a failed call on files means for the operator: one sentence that names the path and what to do. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

const MEANING: Readonly<Record<string, string>> = {
  EROFS: "its file system is mounted read-only: mount it writable, or choose another directory",
  EACCES: "this user may not: change its owner or its permissions, or choose another directory",
  EPERM: "this user may not: change its owner or its permissions, or choose another directory",
  ENOSPC: "the disk is full: make room on it",
  EDQUOT: "the quota of this user is used up: make room",
  ENOTDIR: "part of the path is a file and no directory: choose another directory",
  EEXIST: "a file of that name is in the way: choose another directory",
  EISDIR: "a directory of that name is in the way: choose another one",
  ENOENT: "it does not exist (any more): restore it, or choose another directory",
  EIO: "the disk fails: replace it, and restore the directory from a backup",
  EMFILE: "this process may open no more files: raise its limit (ulimit -n)",
  ENAMETOOLONG: "the path is too long: choose another directory",
  ELOOP: "its symbolic links lead in a circle: choose another directory",
};

/** Undefined when the error is not one of a call on files. */
export function fileProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || path === undefined) return undefined;
  return `cannot use ${path} (${syscall}: ${code}): ${MEANING[code] ?? error.message}`;
}

/**
 * Makes a directory that only its owner can read, with those above it. One after another: Node's own `recursive` never ends
 * where a file system answers ENOENT for a directory that is there, as /proc does, and reports ENOENT for whatever is wrong above.
 */
export function makePrivateDirectory(directory: string): void {
  const missing: string[] = [];
  for (let path = resolve(directory); !existsSync(path); path = dirname(path)) missing.push(path);
  for (const path of missing.toReversed()) makeOne(path);
  if (!statSync(directory).isDirectory()) throw new Error("it is a file");
}

/** Another process may make it in between. */
function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
