/** Small files that survive a power cut: replaced whole and synced together with their directory. */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

/** After a power cut there is the old content or the new one. `draftName` is the name that it has meanwhile. */
export function writeWhole(
  directory: string,
  name: string,
  draftName: string,
  content: string | Uint8Array,
): void {
  const draft = join(directory, draftName);
  const file = openSync(draft, "w", 0o600);
  try {
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, join(directory, name));
  syncFolder(directory);
}

/** Makes renames and removals in a directory durable. */
export function syncFolder(directory: string): void {
  const folder = openSync(directory, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
