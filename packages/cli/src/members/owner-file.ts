/**
 * Files that name a living process: who runs the members, and for whom. A number alone would be mistaken for another
 * process later; `Owner` says when it started, so nothing needs cleaning up after kill -9.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isAlive, type Owner } from "@lifeboat/apiserver/adapters";

/** Writes the file whole or not at all. */
export function writeOwner<T extends Owner>(path: string, owner: T): void {
  const next = `${path}.new`;
  writeFileSync(next, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  renameSync(next, path);
}

/** The process that the file names, when it is alive. */
export function livingOwner<T extends Owner>(path: string): T | undefined {
  const owner = readOwner<T>(path);
  return owner !== undefined && isAlive(owner) ? owner : undefined;
}

function readOwner<T extends Owner>(path: string): T | undefined {
  try {
    const owner = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner> | null;
    const isWhole =
      typeof owner?.pid === "number" &&
      owner.pid > 0 &&
      typeof owner.started === "string" &&
      typeof owner.world === "string";
    return isWhole ? (owner as T) : undefined;
  } catch {
    // Missing, or cut off by a crash: it names nobody.
    return undefined;
  }
}
