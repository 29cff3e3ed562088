import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleProgram } from "@lifeboat/testkit";
import { afterEach, expect, test } from "vitest";
import type { ChangeRow, Storage } from "../store/storage.ts";
import { storageSuite } from "../store/storage.suite.ts";
import { DirectoryRefused } from "./lmdb-directory.ts";
import { type LmdbStorageOptions, openLmdbStorage } from "./lmdb-storage.ts";

/** Room enough, but so little that the storage looks it up before every batch. */
const LITTLE_ROOM = 1024 ** 3;
const folders: string[] = [];
/** Tests run from the sources, which the child that checks a store cannot load. */
const checkProgram = bundleProgram(new URL("./lmdb-check-program.ts", import.meta.url), ["lmdb"]);

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lifeboat-lmdb-"));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Another process that takes every former owner for dead. */
const usurper: LmdbStorageOptions = {
  processes: { self: { pid: 1, started: "later", world: "elsewhere" }, isAlive: () => false },
};

storageSuite(() => {
  const directory = join(freshFolder(), "store");
  let room = LITTLE_ROOM;
  const handles: Storage[] = [];
  return Promise.resolve({
    open: async () => {
      const storage = await openLmdbStorage(directory, {
        roomOf: () => Promise.resolve(room),
        ...(handles.length > 1 && usurper),
      });
      handles.push(storage);
      return storage;
    },
    fill: () => {
      room = 0;
    },
    free: () => {
      room = LITTLE_ROOM;
    },
    breakOpen: async () => {
      handles.push(await openLmdbStorage(directory, usurper));
    },
    dispose: async () => {
      for (const handle of handles) await handle.close().catch(() => undefined);
    },
  });
});

const row = (revision: number): ChangeRow => ({
  revision,
  type: "ADDED",
  key: `/pods/a/x${revision}`,
  bytes: Buffer.from(`{"number":${revision},"padding":"${"p".repeat(3000)}"}`),
});

/** A closed store directory with twenty objects. */
async function filledFolder(): Promise<string> {
  const directory = join(freshFolder(), "store");
  const storage = await openLmdbStorage(directory);
  const changes = Array.from({ length: 20 }, (_, i) => row(i + 1));
  await storage.commit({ changes, revisionCeiling: 10_000 });
  await storage.close();
  return directory;
}

test("the directory is created for its owner alone", async () => {
  const directory = join(freshFolder(), "deep", "store");
  const storage = await openLmdbStorage(directory);
  await storage.close();
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test("what was deleted is room again, although the disk has no more of it than before", async () => {
  const MIB = 1024 * 1024;
  const reserveBytes = 2 * MIB;
  let onDisk = LITTLE_ROOM;
  const storage = await openLmdbStorage(join(freshFolder(), "store"), {
    reserveBytes,
    roomOf: () => Promise.resolve(onDisk),
  });
  const object = (revision: number): ChangeRow => ({
    ...row(revision),
    bytes: Buffer.alloc(MIB, "x"),
  });
  const objects = [1, 2, 3, 4].map(object);
  await storage.commit({ changes: objects, revisionCeiling: 100 });
  onDisk = reserveBytes;
  await expect(storage.commit({ changes: [object(5)] })).rejects.toThrow(
    "is full: 2 MiB are left on it and 0 MiB inside the store, and 2 MiB are kept for deletions",
  );
  const deleted = objects.map((one, i) => ({ ...one, revision: i + 5, type: "DELETED" as const }));
  for (const one of deleted)
    await storage.commit({ changes: [one], trimHistoryBefore: one.revision, mayUseReserve: true });
  expect(await storage.lackOfRoom(0)).toBeUndefined();
  await storage.commit({ changes: [object(9)] });
  // Not more than was freed: the reserve stays.
  await expect(
    storage.commit({ changes: Array.from({ length: 8 }, (_, i) => object(i + 10)) }),
  ).rejects.toThrow("is full: 2 MiB are left on it and");
  await storage.close();
});

test("a second instance is refused by name of the first, which goes on", async () => {
  const directory = join(freshFolder(), "store");
  const first = await openLmdbStorage(directory);
  await expect(openLmdbStorage(directory)).rejects.toThrow(
    `${directory} is in use by process ${process.pid}: stop it first, or use another directory`,
  );
  await first.commit({ changes: [row(1)] });
  await first.close();
  await (await openLmdbStorage(directory)).close();
});

test("an owner that died without a word is succeeded, also when its number lives on", async () => {
  const directory = join(freshFolder(), "store");
  const gone = { pid: process.pid, started: "before", world: "elsewhere" };
  await openLmdbStorage(directory, { processes: { self: gone, isAlive: () => false } });
  const storage = await openLmdbStorage(directory);
  await storage.commit({ changes: [row(1)] });
  await storage.close();
});

for (const { name, prepare, want } of [
  {
    name: "a directory with somebody else's files",
    prepare: (directory: string) => writeFileSync(join(directory, "thesis.tex"), "x"),
    want: "is not a store of lifeboat and not empty (it holds thesis.tex): choose an empty or new directory",
  },
  {
    name: "a directory of a newer format",
    prepare: (directory: string) =>
      writeFileSync(
        join(directory, "format"),
        '{"kind":"lifeboat-store","format":2,"state":"new in 2"}',
      ),
    want: "was written by a newer lifeboat (format 2, this one knows 1): use the newer version",
  },
  {
    name: "a directory with a format file of something else",
    prepare: (directory: string) => writeFileSync(join(directory, "format"), "qcow2"),
    want: "format is damaged or not a format file of lifeboat",
  },
])
  test(`${name} is refused and left as it is`, async () => {
    const directory = freshFolder();
    prepare(directory);
    const before = snapshot(directory);
    await expect(openLmdbStorage(directory)).rejects.toThrow(want);
    expect(snapshot(directory)).toEqual(before);
  });

for (const { name, damage, want } of [
  {
    name: "whose database is gone",
    damage: (file: string) => rmSync(file),
    want: "is missing: restore the directory from a backup",
  },
  {
    name: "whose database is empty",
    damage: (file: string) => truncateSync(file, 0),
    want: "is damaged or not a database of lifeboat",
  },
  {
    name: "whose database is something else",
    damage: (file: string) => writeFileSync(file, Buffer.alloc(100_000, "no database")),
    want: "is damaged or not a database of lifeboat",
  },
])
  test(`a store ${name} is refused and left as it is`, async () => {
    const directory = await filledFolder();
    damage(join(directory, "data.mdb"));
    rmSync(join(directory, "data.mdb-lock"), { force: true });
    const before = snapshot(directory);
    const opening = openLmdbStorage(directory);
    await expect(opening).rejects.toBeInstanceOf(DirectoryRefused);
    await expect(opening).rejects.toThrow(want);
    expect(snapshot(directory)).toEqual(before);
  });

test("a database that was cut short is refused before it is mapped", async () => {
  const directory = join(freshFolder(), "store");
  const storage = await openLmdbStorage(directory);
  for (let i = 0; i < 200; i++) await storage.commit({ changes: [row(i + 1)] });
  await storage.close();
  truncateSync(join(directory, "data.mdb"), 40_960);
  await expect(openLmdbStorage(directory)).rejects.toThrow("is cut short (10 pages of");
});

/** Flips a bit of the object's row that the table of objects holds. */
function flipBitOf(file: string, whole: Buffer, number: number): void {
  const damaged = Buffer.from(whole);
  const at = damaged.lastIndexOf(`{"number":${number},`);
  expect(at).toBeGreaterThan(0);
  const spot = at + 11 + number * 100;
  damaged[spot] = (damaged[spot] ?? 0) ^ (1 << (number % 8));
  writeFileSync(file, damaged);
}

const CHECKSUM =
  "is damaged (a row does not match its checksum): restore the directory from a backup";

test("a flipped bit in an object is found by the check, before the store is opened", async () => {
  const directory = await filledFolder();
  const file = join(directory, "data.mdb");
  const whole = readFileSync(file);
  for (const number of [1, 10, 20]) {
    flipBitOf(file, whole, number);
    await expect(openLmdbStorage(directory, { checkProgram })).rejects.toThrow(CHECKSUM);
  }
});

test("a flipped bit in any object stops the loading, where nobody could check before", async () => {
  const directory = await filledFolder();
  const file = join(directory, "data.mdb");
  const whole = readFileSync(file);
  const warnings: string[] = [];
  for (const number of [2, 19]) {
    flipBitOf(file, whole, number);
    const storage = await openLmdbStorage(directory, {
      checkProgram: join(directory, "no-such-program.js"),
      warn: (sentence) => warnings.push(sentence),
    });
    await expect(readAll(storage)).rejects.toThrow(CHECKSUM);
    await storage.close();
  }
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toContain(`${file} was not checked: the process that checks it ended with`);
});

test("a file with a page too few or a zeroed page is refused with a sentence, not with a crash", async () => {
  const directory = await filledFolder();
  const file = join(directory, "data.mdb");
  const whole = readFileSync(file);
  truncateSync(file, whole.length - 40_960);
  await expect(openLmdbStorage(directory, { checkProgram })).rejects.toThrow(
    /is damaged \(.*\): restore the directory from a backup/,
  );
  // Of the pages in the second half most are in use: at least one of these is a page of a tree.
  let refused = 0;
  for (let page = Math.floor(whole.length / 8192); page < whole.length / 4096; page += 4) {
    writeFileSync(file, Buffer.from(whole).fill(0, page * 4096, (page + 1) * 4096));
    try {
      await (await openLmdbStorage(directory, { checkProgram })).close();
    } catch (error) {
      expect(error).toBeInstanceOf(DirectoryRefused);
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(0);
});

test("only a store that was closed in order, and not touched since, is not checked", async () => {
  const directory = await filledFolder();
  const file = join(directory, "data.mdb");
  const checks: string[] = [];
  const counted = {
    checkProgram: join(directory, "no-such-program.js"),
    warn: (sentence: string) => checks.push(sentence),
  };
  await (await openLmdbStorage(directory, counted)).close();
  expect(checks).toHaveLength(0);
  // Copied: the same bytes, and what happened on the way is not known.
  writeFileSync(file, readFileSync(file));
  await (await openLmdbStorage(directory, counted)).close();
  expect(checks).toHaveLength(1);
  // Not closed.
  await openLmdbStorage(directory, counted);
  expect(checks).toHaveLength(1);
  await (await openLmdbStorage(directory, { ...counted, ...usurper })).close();
  expect(checks).toHaveLength(2);
});

test("a creation that was interrupted is done anew", async () => {
  const directory = freshFolder();
  const format = { kind: "lifeboat-store", format: 1, state: "creating" };
  writeFileSync(join(directory, "format"), JSON.stringify(format));
  writeFileSync(join(directory, "format.new"), "");
  writeFileSync(join(directory, "data.mdb"), "half a page");
  const storage = await openLmdbStorage(directory);
  await storage.commit({ changes: [row(1)] });
  await storage.close();
  const again = await openLmdbStorage(directory);
  expect(await readAll(again)).toBe(1);
  await again.close();
});

async function readAll(storage: Storage): Promise<number> {
  const loaded = await storage.load();
  const count = [...loaded.objects].length;
  for (const change of loaded.history) expect(change.bytes.length).toBeGreaterThan(0);
  return count;
}

function snapshot(directory: string): Record<string, string> {
  mkdirSync(directory, { recursive: true });
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name)).toString("base64")]),
  );
}
