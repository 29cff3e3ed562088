/**
 * What lies where in the data directory of `lifeboat up`, and what a restore leaves there.
 *
 *     store/       the database          pki/   certificates and their keys
 *     restored     the store came from a backup and no control plane has served it yet (RestoredMark as JSON)
 *     moved        the control plane was moved to another API server, or is being moved (MovedMark as JSON); nothing starts
 *     restoring/   a restore that has not finished; nothing starts on such a directory
 *     replaced-*   what a restore with --force put aside
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncFolder, writeWhole } from "@lifeboat/apiserver/adapters";
import { CommandFailed } from "./failure.ts";

export function storeDirectory(dataDirectory: string): string {
  return join(dataDirectory, "store");
}

export function pkiDirectory(dataDirectory: string): string {
  return join(dataDirectory, "pki");
}

export function restoringDirectory(dataDirectory: string): string {
  return join(dataDirectory, "restoring");
}

/** When the backup was taken that a store came from. */
export interface RestoredMark {
  readonly takenAt: string;
}

const MARK = "restored";

/** Durable when it returns. */
export function markRestored(dataDirectory: string, mark: RestoredMark): void {
  writeWhole(dataDirectory, MARK, `${MARK}.new`, `${JSON.stringify(mark)}\n`);
}

/** Undefined: the store did not come from a backup, or was served since. */
export function readRestoredMark(dataDirectory: string): RestoredMark | undefined {
  const path = join(dataDirectory, MARK);
  if (!existsSync(path)) return undefined;
  return { takenAt: takenAtOf(readFileSync(path, "utf8")) };
}

/** A mark that cannot be read is a mark all the same. */
function takenAtOf(text: string): string {
  try {
    const { takenAt } = JSON.parse(text) as Partial<RestoredMark>;
    return typeof takenAt === "string" ? takenAt : "";
  } catch {
    return "";
  }
}

/** The control plane knows of the restore by itself from now on. */
export function removeRestoredMark(dataDirectory: string): void {
  rmSync(join(dataDirectory, MARK), { force: true });
  syncFolder(dataDirectory);
}

/** Throws where a restore was interrupted: half of the directory may be of another time. */
export function refuseHalfRestored(dataDirectory: string): void {
  if (existsSync(restoringDirectory(dataDirectory)))
    throw new CommandFailed(
      `a restore into ${dataDirectory} did not finish: run \`lifeboat restore FILE --force\` again`,
    );
}

/** Where a control plane was moved to, and when that began. */
export interface MovedMark {
  readonly to: string;
  readonly at: string;
}

const MOVED = "moved";

/** Durable when it returns. */
export function markMoved(dataDirectory: string, mark: MovedMark): void {
  writeWhole(dataDirectory, MOVED, `${MOVED}.new`, `${JSON.stringify(mark)}\n`);
}

/** Throws where the control plane was moved away: two that hold the same Works undo each other's changes in members. */
export function refuseMoved(dataDirectory: string): void {
  const path = join(dataDirectory, MOVED);
  if (!existsSync(path)) return;
  throw new CommandFailed(
    `this control plane was moved to another API server (${readFileSync(path, "utf8").trim()}); to run it here again, make sure that ` +
      `no manager runs there, and remove ${path}`,
  );
}

/** A directory that was named by mistake, or is of another host. */
export function noPlaneIn(dataDirectory: string): CommandFailed {
  return new CommandFailed(
    `there is no control plane in ${dataDirectory}: name the data directory of \`lifeboat up\` with --data-dir, on the host where it runs`,
  );
}
