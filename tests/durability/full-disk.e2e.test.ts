/**
 * Aim: a full disk refuses growth, loses nothing, lets deletions through, and needs no restart when there is room again.
 * Method: a real store in a child process on a small file system of its own, which is filled from both sides.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLmdbStorage } from "../../packages/apiserver/src/adapters/lmdb-storage.ts";
import { StorageFull } from "../../packages/apiserver/src/store/storage.ts";
import { type CommitChild, startChild } from "./child.ts";

const MIB = 1024 * 1024;
const DISK_MIB = 32;
const RESERVE_BYTES = 8 * MIB;
const mayMiss = process.env["LIFEBOAT_ALLOW_MISSING"] === "1";
let folder: string;
let disk: string;
let isMounted: boolean;
const children: CommitChild[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lifeboat-full-"));
  disk = join(folder, "disk");
  mkdirSync(disk);
  const options = ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", disk];
  isMounted = spawnSync("mount", options).status === 0;
});

afterAll(async () => {
  for (const child of children) await child.end();
  if (isMounted) spawnSync("umount", ["-l", disk]);
  rmSync(folder, { recursive: true, force: true });
});

test("a full disk refuses growth, lets deletions through, and recovers without a restart", async ({
  skip,
}) => {
  if (!isMounted && mayMiss) skip("mounting a tmpfs needs root, and LIFEBOAT_ALLOW_MISSING=1");
  expect(isMounted, "mounting a tmpfs needs root; LIFEBOAT_ALLOW_MISSING=1 skips").toBe(true);
  const directory = join(disk, "store");
  const child = await startOn(directory);

  const kept = await putUntilFull(child);
  expect(kept.length).toBeGreaterThan(20);
  expect(roomLeft()).toBeLessThan(RESERVE_BYTES + 2 * MIB);

  // Growth is refused, shrinking and deleting go on from the reserve.
  expect(await child.tell("put ns/one-more 60000")).toBe("StorageFull ns/one-more");
  expect(await child.tell(`put ${kept[0]} 10`)).toMatch(/^ack /);
  expect(await child.tell(`remove ${kept.pop()}`)).toMatch(/^ack /);

  // Somebody else takes all that is left: nothing may be acknowledged that is not kept, nothing else may break.
  const ballast = join(disk, "ballast");
  fillWithBallast(ballast);
  expect(roomLeft()).toBe(0);
  for (const key of kept.slice(-5)) {
    const answer = await child.tell(`remove ${key}`);
    expect(answer).toMatch(/^(ack |StorageFull )/);
    if (answer.startsWith("ack ")) kept.splice(kept.indexOf(key), 1);
  }
  expect(await child.tell("put ns/one-more 60000")).toBe("StorageFull ns/one-more");
  expect(await child.tell("list")).toBe(`list ${kept.toSorted()}`);

  // There is room again.
  rmSync(ballast);
  for (const key of kept.splice(1)) expect(await child.tell(`remove ${key}`)).toMatch(/^ack /);
  spawnSync("mount", ["-o", `remount,size=${2 * DISK_MIB}m`, disk]);
  expect(await child.tell("put ns/one-more 60000")).toMatch(/^ack /);
  kept.push("ns/one-more");
  expect(await child.tell("list")).toBe(`list ${kept.toSorted()}`);
  await child.end();

  const next = await startOn(directory);
  expect(await next.tell("list")).toBe(`list ${kept.toSorted()}`);
});

test("an end of the disk that nobody foresaw is told as full, and nothing is half done", async ({
  skip,
}) => {
  if (!isMounted && mayMiss) skip("mounting a tmpfs needs root, and LIFEBOAT_ALLOW_MISSING=1");
  expect(isMounted, "mounting a tmpfs needs root; LIFEBOAT_ALLOW_MISSING=1 skips").toBe(true);
  const directory = join(disk, "blind");
  const blind = { roomOf: () => Promise.resolve(Number.POSITIVE_INFINITY) };
  const storage = await openLmdbStorage(directory, blind);
  const committed: string[] = [];
  let failure: unknown;
  for (let revision = 1; failure === undefined; revision++) {
    const key = `/secrets/ns/${String(revision).padStart(6, "0")}`;
    const bytes = new Uint8Array(300_000);
    try {
      await storage.commit({ changes: [{ revision, type: "ADDED", key, bytes }] });
      committed.push(key);
    } catch (error) {
      failure = error;
    }
  }
  expect(failure).toBeInstanceOf(StorageFull);
  spawnSync("mount", ["-o", `remount,size=${3 * DISK_MIB}m`, disk]);
  const key = "/secrets/ns/999999";
  await storage.commit({
    changes: [{ revision: 999_999, type: "ADDED", key, bytes: new Uint8Array(300_000) }],
  });
  committed.push(key);
  await storage.close();
  const again = await openLmdbStorage(directory, blind);
  const { objects } = await again.load();
  expect(Array.from(objects, (row) => row.key)).toEqual(committed);
  await again.close();
});

async function startOn(directory: string): Promise<CommitChild> {
  const child = await startChild(directory, { reserveBytes: RESERVE_BYTES });
  children.push(child);
  return child;
}

async function putUntilFull(child: CommitChild): Promise<string[]> {
  const keys: string[] = [];
  for (let i = 0; ; i++) {
    const key = `ns/name-${i}`;
    const answer = await child.tell(`put ${key} 60000`);
    if (answer === `StorageFull ${key}`) return keys;
    expect(answer).toMatch(/^ack /);
    keys.push(key);
  }
}

function fillWithBallast(path: string): void {
  for (let size = MIB; size >= 4096; size /= 2) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: "a" });
    } catch {
      // This size no longer fits: go on with smaller pieces until nothing does.
    }
  }
}

function roomLeft(): number {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
}
