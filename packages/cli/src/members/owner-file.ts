/**
 * Files that name a living process: who runs the members, and for whom. A number alone would be mistaken for another
 * process later; `Owner` says when it started, so nothing needs cleaning up after kill -9.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isAlive, type Owner } from "@lifeboat/apiserver/adapters";

/** A process, and whatever is told beside it. */
export type NamedProcess = Owner & Readonly<Record<string, unknown>>;

/** Writes the file whole or not at all. */
export function writeOwner(path: string, owner: NamedProcess): void {
  const next = `${path}.new`;
  writeFileSync(next, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  renameSync(next, path);
}

/** What the file says of its process, when that is alive. */
export function livingOwner(path: string): NamedProcess | undefined {
  const owner = readOwner(path);
  return owner !== undefined && isAlive(owner) ? owner : undefined;
}

function readOwner(path: string): NamedProcess | undefined {
  try {
    const owner: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isOwner(owner) ? owner : undefined;
  } catch {
    // Missing, or cut off by a crash: it names no process.
    return undefined;
  }
}

function isOwner(value: unknown): value is NamedProcess {
  if (typeof value !== "object" || value === null) return false;
  const { pid, started, world } = value as Partial<Record<keyof Owner, unknown>>;
  return Number.isInteger(pid) && typeof started === "string" && typeof world === "string";
}
