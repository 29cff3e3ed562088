import { expect, test } from "vitest";
import { freeBytesInFile, lackOfRoom } from "./lmdb-room.ts";

const MIB = 1024 * 1024;
const RESERVE = 64 * MIB;

for (const { name, onDisk, inFile, wanted, fits } of [
  { name: "a disk with plenty", onDisk: 1000, inFile: 0, wanted: 8, fits: true },
  { name: "exactly down to the reserve", onDisk: 72, inFile: 0, wanted: 8, fits: true },
  { name: "one byte into the reserve", onDisk: 72 - 1 / MIB, inFile: 0, wanted: 8, fits: false },
  { name: "a full disk and a full file", onDisk: 0, inFile: 0, wanted: 0, fits: false },
  { name: "the reserve alone", onDisk: 64, inFile: 0, wanted: 1, fits: false },
  { name: "the reserve and what was deleted", onDisk: 64, inFile: 10, wanted: 8, fits: true },
  { name: "a file that is empty on a full disk", onDisk: 0, inFile: 100, wanted: 8, fits: true },
  { name: "a file that is free up to the reserve", onDisk: 0, inFile: 64, wanted: 1, fits: false },
  { name: "a write larger than everything", onDisk: 100, inFile: 100, wanted: 200, fits: false },
])
  test(`${name}: ${fits ? "grows" : "is refused"}`, () => {
    const room = { onDisk: onDisk * MIB, inFile: inFile * MIB };
    expect(lackOfRoom("/data/store", room, wanted * MIB, RESERVE) === undefined).toBe(fits);
  });

test("the sentence names the disk, what is left where, and what to do", () => {
  const room = { onDisk: 63.9 * MIB, inFile: 0.5 * MIB };
  expect(lackOfRoom("/data/store", room, MIB, RESERVE)).toBe(
    "the disk of /data/store is full: 63 MiB are left on it and 0 MiB inside the store, and 64 MiB are kept for deletions: delete objects or make room on the disk",
  );
});

test("pages that no table counts are free", () => {
  const table = { treeBranchPageCount: 1, treeLeafPageCount: 9, overflowPages: 30 };
  expect(freeBytesInFile(4096, 101, [])).toBe(100 * 4096);
  expect(freeBytesInFile(4096, 101, [table, table])).toBe(20 * 4096);
  // Counts and last page are read one after the other: a write between them must not give a negative room.
  expect(freeBytesInFile(4096, 41, [table, table])).toBe(0);
});
