/** A store and its backup: one moment of it, also while it is written. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { restoredStorage } from "../store/restored-storage.ts";
import type { ChangeRow, Storage } from "../store/storage.ts";
import { openBackup, writeBackup } from "./backup-file.ts";
import { makeStore, readStore } from "./lmdb-backup.ts";
import { decodeRow } from "./lmdb-row.ts";
import { openLmdbStorage } from "./lmdb-storage.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lifeboat-backup-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Every batch writes both, so that at any moment they hold the same number. */
function pair(revision: number): readonly ChangeRow[] {
  return ["/configmaps/a/left", "/configmaps/a/right"].map((key, i) => ({
    revision: 2 * revision + i,
    type: "MODIFIED",
    key,
    bytes: Buffer.from(JSON.stringify({ revision, padding: "p".repeat(5000) })),
  }));
}

const at = (name: string): string => join(folder, name);

async function backUp(from: string, to: string): Promise<void> {
  const header = { version: "0", takenAt: "2026-01-01T00:00:00Z" };
  await readStore(at(from), ({ revisionCeiling, rows }) =>
    writeBackup(
      at(to),
      { header: { ...header, revisionCeiling }, rows, files: [] },
      { force: true },
    ),
  );
}

async function restore(from: string, to: string): Promise<void> {
  const backup = openBackup(at(from));
  try {
    await makeStore(at(to), { ...backup.header, rows: backup.rows });
  } finally {
    backup.close();
  }
}

async function opened(name: string): Promise<Storage> {
  return openLmdbStorage(at(name));
}

it("is of one moment while the store is written, and the writes go on", async () => {
  const storage = await opened("store");
  await storage.load();
  let revision = 1;
  await storage.commit({ changes: pair(revision), revisionCeiling: 10_000 });
  for (let i = 0; i < 30; i++) {
    const commits = [++revision, ++revision].map((one) => storage.commit({ changes: pair(one) }));
    await backUp("store", "file");
    const backup = openBackup(at("file"));
    const found = [...backup.rows].map((row) => String(decodeRow(row).bytes));
    backup.close();
    expect(found).toHaveLength(2);
    expect(found[0]).toBe(found[1]);
    await Promise.all(commits);
  }
  await storage.close();
});

it("restores objects and the ceiling; what clients saw later is above none of its versions", async () => {
  const storage = await opened("store");
  await storage.load();
  for (let i = 1; i < 6; i++)
    await storage.commit({ changes: pair(i), revisionCeiling: 20_000, trimHistoryBefore: 4 });
  // Still open: the owner is alive, and must not be in the backup.
  await backUp("store", "file");
  await restore("file", "copy");
  const copy = restoredStorage(await opened("copy"));
  const loaded = await copy.load();
  expect(loaded.revisionCeiling).toBe(1_000_020_000);
  expect([...loaded.objects].map(({ key, revision }) => [key, revision])).toEqual([
    ["/configmaps/a/left", 10],
    ["/configmaps/a/right", 11],
  ]);
  expect([...loaded.history]).toEqual([]);
  await copy.commit({ changes: pair(7) });
  await copy.close();
  await storage.close();
});

it("restores many objects", async () => {
  const storage = await opened("store");
  await storage.load();
  const changes = Array.from({ length: 10_000 }, (_, i) => ({
    revision: i + 1,
    type: "ADDED" as const,
    key: `/configmaps/a/c${i}`,
    bytes: Buffer.from(JSON.stringify({ i })),
  }));
  await storage.commit({ changes, revisionCeiling: 20_000 });
  await storage.close();
  await backUp("store", "file");
  await restore("file", "copy");
  const copy = await opened("copy");
  const numbers = [...(await copy.load()).objects].map(
    ({ bytes }) => (JSON.parse(String(bytes)) as { i: number }).i,
  );
  expect(new Set(numbers).size).toBe(10_000);
  await copy.close();
});

it("says where there is no store, and makes none", async () => {
  await expect(readStore(at("nothing"), () => undefined)).rejects.toThrow("there is no store");
});

it("never restores over a store", async () => {
  const storage = await opened("store");
  await storage.close();
  await backUp("store", "file");
  await expect(restore("file", "store")).rejects.toThrow("holds a store");
});
