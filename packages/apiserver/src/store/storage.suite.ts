/** What every Storage must do; run for the lmdb adapter and for its in-memory twin. */
import { expect, test } from "vitest";
import {
  type ChangeRow,
  type ChangeType,
  type Storage,
  type StorageBatch,
  StorageBroken,
  StorageFull,
} from "./storage.ts";

/** One disk under test. `open` gives the handle of a new process; the former one was closed or has crashed. */
export interface StorageUnderTest {
  open(): Promise<Storage>;
  /** Everything but the reserve is used up. */
  fill(): void;
  free(): void;
  /** From the next commit on, the open handle's state is in doubt. */
  breakOpen(): Promise<void>;
  dispose(): Promise<void>;
}

interface Found {
  readonly ceiling: number;
  readonly historyStart: number;
  readonly objects: readonly string[];
  readonly history: readonly string[];
}

export function storageSuite(create: () => Promise<StorageUnderTest>): void {
  const withDisk = (name: string, body: (disk: StorageUnderTest) => Promise<void>): void => {
    test(name, async () => {
      const disk = await create();
      try {
        await body(disk);
      } finally {
        await disk.dispose();
      }
    });
  };

  withDisk("a fresh storage is empty and has given out no revision", async (disk) => {
    expect(await found(await disk.open())).toEqual({
      ceiling: 0,
      historyStart: 0,
      objects: [],
      history: [],
    });
  });

  withDisk("what was committed is found after reopening, in order", async (disk) => {
    await inOneLife(disk, async (storage) => {
      await storage.commit({
        changes: [change(3, "ADDED", "/pods/b/x"), change(4, "ADDED", "/pods/a/x")],
        revisionCeiling: 10_004,
      });
      await storage.commit({
        changes: [
          change(5, "MODIFIED", "/pods/b/x"),
          change(6, "DELETED", "/pods/a/x"),
          change(10, "ADDED", "apps/deployments/ns/é"),
        ],
      });
    });
    const after = await found(await disk.open());
    expect(after.ceiling).toBe(10_004);
    expect([...after.objects].sort()).toEqual([
      "/pods/b/x@5 of MODIFIED 5",
      "apps/deployments/ns/é@10 of ADDED 10",
    ]);
    expect(after.history).toEqual([
      "3 ADDED /pods/b/x of ADDED 3",
      "4 ADDED /pods/a/x of ADDED 4",
      "5 MODIFIED /pods/b/x of MODIFIED 5",
      "6 DELETED /pods/a/x of DELETED 6",
      "10 ADDED apps/deployments/ns/é of ADDED 10",
    ]);
  });

  withDisk("history is in order of revision across the widths of numbers", async (disk) => {
    const revisions = [9, 255, 256, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 40];
    await inOneLife(disk, async (storage) => {
      for (const revision of revisions)
        await storage.commit({ changes: [change(revision, "MODIFIED", "/pods/a/x")] });
    });
    const after = await found(await disk.open());
    expect(after.history.map((line) => Number(line.split(" ")[0]))).toEqual(revisions);
  });

  withDisk("one key changed several times in a batch keeps its last state", async (disk) => {
    await inOneLife(disk, (storage) =>
      storage.commit({
        changes: [
          change(1, "ADDED", "/pods/a/x"),
          change(2, "DELETED", "/pods/a/x"),
          change(3, "ADDED", "/pods/a/x"),
          change(4, "ADDED", "/pods/a/y"),
          change(5, "DELETED", "/pods/a/y"),
        ],
      }),
    );
    expect((await found(await disk.open())).objects).toEqual(["/pods/a/x@3 of ADDED 3"]);
  });

  withDisk("trimming drops history before a revision and no object", async (disk) => {
    await inOneLife(disk, async (storage) => {
      const changes = [1, 2, 3, 4].map((i) => change(i, "ADDED", `/pods/a/x${i}`));
      await storage.commit({ changes });
      await storage.commit({ changes: [change(5, "ADDED", "/pods/a/x5")], trimHistoryBefore: 4 });
    });
    const after = await found(await disk.open());
    expect(after.historyStart).toBe(4);
    expect(after.objects).toHaveLength(5);
    expect(after.history.map((line) => line[0])).toEqual(["4", "5"]);
  });

  withDisk("the ceiling is kept without changes and never sinks", async (disk) => {
    await inOneLife(disk, async (storage) => {
      await storage.commit({ changes: [], revisionCeiling: 10_000 });
      await storage.commit({ changes: [], revisionCeiling: 20_000 });
      await storage.commit({ changes: [change(1, "ADDED", "/pods/a/x")] });
    });
    expect((await found(await disk.open())).ceiling).toBe(20_000);
  });

  withDisk("large and empty values come back unchanged", async (disk) => {
    const sizes = [0, 1, 2000, 4080, 4096, 70_000, 3 * 1024 * 1024];
    await inOneLife(disk, (storage) =>
      storage.commit({
        changes: sizes.map((size, i) => ({
          revision: i + 1,
          type: "ADDED" as const,
          key: `/secrets/a/s${i}`,
          bytes: new Uint8Array(size).fill(i),
        })),
      }),
    );
    const loaded = await (await disk.open()).load();
    const objects = [...loaded.objects];
    expect(objects.map((row) => row.bytes.length)).toEqual(sizes);
    expect(objects.every((row, i) => row.bytes.every((byte) => byte === i))).toBe(true);
  });

  withDisk(
    "a full storage refuses, changes nothing, and takes writes again later",
    async (disk) => {
      await inOneLife(disk, async (storage) => {
        await storage.commit({ changes: [change(1, "ADDED", "/pods/a/x")], revisionCeiling: 100 });
        disk.fill();
        const refused: StorageBatch = {
          changes: [change(2, "ADDED", "/pods/a/y")],
          revisionCeiling: 200,
        };
        await expect(storage.commit(refused)).rejects.toBeInstanceOf(StorageFull);
        expect(await storage.lackOfRoom(1)).toBeInstanceOf(StorageFull);
        await storage.commit({ changes: [change(3, "DELETED", "/pods/a/x")], mayUseReserve: true });
        await expect(storage.commit(refused)).rejects.toBeInstanceOf(StorageFull);
        disk.free();
        expect(await storage.lackOfRoom(1)).toBeUndefined();
        await storage.commit({ changes: [change(5, "ADDED", "/pods/a/z")] });
      });
      const after = await found(await disk.open());
      expect(after.ceiling).toBe(100);
      expect(after.objects).toEqual(["/pods/a/z@5 of ADDED 5"]);
      expect(after.history.map((line) => line[0])).toEqual(["1", "3", "5"]);
    },
  );

  withDisk("a broken storage stays broken until it is opened again", async (disk) => {
    const storage = await disk.open();
    await storage.load();
    await storage.commit({ changes: [change(1, "ADDED", "/pods/a/x")] });
    await disk.breakOpen();
    for (const revision of [2, 3])
      await expect(
        storage.commit({ changes: [change(revision, "ADDED", `/pods/a/y${revision}`)] }),
      ).rejects.toBeInstanceOf(StorageBroken);
    await storage.close();
    const { objects } = await found(await disk.open());
    expect(objects).toContain("/pods/a/x@1 of ADDED 1");
    expect(objects).not.toContain("/pods/a/y3@3 of ADDED 3");
  });

  withDisk("batches of hundreds of changes are whole", async (disk) => {
    await inOneLife(disk, (storage) =>
      storage.commit({
        changes: Array.from({ length: 1500 }, (_, i) =>
          change(i + 1, "ADDED", `/pods/a/x${String(i).padStart(4, "0")}`),
        ),
      }),
    );
    const after = await found(await disk.open());
    expect(after.objects).toHaveLength(1500);
    expect(after.history).toHaveLength(1500);
  });
}

async function inOneLife(
  disk: StorageUnderTest,
  body: (storage: Storage) => Promise<void>,
): Promise<void> {
  const storage = await disk.open();
  await storage.load();
  await body(storage);
  await storage.close();
}

function change(revision: number, type: ChangeType, key: string): ChangeRow {
  return { revision, type, key, bytes: new TextEncoder().encode(`${type} ${revision}`) };
}

async function found(storage: Storage): Promise<Found> {
  const loaded = await storage.load();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return {
    ceiling: loaded.revisionCeiling,
    historyStart: loaded.historyStart,
    objects: Array.from(
      loaded.objects,
      (row) => `${row.key}@${row.revision} of ${text(row.bytes)}`,
    ),
    history: Array.from(
      loaded.history,
      (row) => `${row.revision} ${row.type} ${row.key} of ${text(row.bytes)}`,
    ),
  };
}
