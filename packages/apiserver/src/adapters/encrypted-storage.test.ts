/** What reaches the disk behind encryption, and what comes back. */
import { randomBytes } from "node:crypto";
import { createRandom, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, it } from "vitest";
import { createMemoryStorage, type MemoryStorage } from "../store/memory-storage.ts";
import type { ChangeRow } from "../store/storage.ts";
import { storageSuite } from "../store/storage.suite.ts";
import { encryptedStorage } from "./encrypted-storage.ts";
import { createKeyring } from "./encryption-keys.ts";

const [old, next] = [randomBytes(32), randomBytes(32)];
const virtualClock = (): VirtualClock => new VirtualClock(instantOf(0), drainPromises);
const TABLES = new Set(["/secrets"]);

function over(storage: MemoryStorage, keys: readonly Buffer[], tables = TABLES, told = [""]) {
  const keyring = createKeyring(keys);
  return encryptedStorage(storage, { keyring, tables, tell: (one) => told.push(one) });
}

function change(revision: number, key: string, type: ChangeRow["type"] = "ADDED"): ChangeRow {
  return { revision, type, key, bytes: Buffer.from(`{"value":"canary ${revision}"}`) };
}

/** Keys of rows on the disk in which the value can be read. */
function readable(storage: MemoryStorage): readonly string[] {
  const { objects, history } = storage.image();
  const isPlain = ({ bytes }: { readonly bytes: Uint8Array }): boolean =>
    Buffer.from(bytes).includes("canary");
  return [
    ...objects.filter(isPlain).map(({ key }) => `object ${key}`),
    ...history.filter(isPlain).map(({ key, revision }) => `change ${revision} ${key}`),
  ];
}

function disk(): MemoryStorage {
  return createMemoryStorage(virtualClock(), { syncDelayMs: 0 });
}

async function contentOf(storage: ReturnType<typeof over>): Promise<readonly string[]> {
  const { objects, history } = await storage.load();
  return [...objects, ...history].map(({ key, bytes }) => `${key} ${String(bytes)}`);
}

async function filled(keys: readonly Buffer[], tables = TABLES): Promise<MemoryStorage> {
  const memory = disk();
  const storage = over(memory, keys, tables);
  await storage.load();
  await storage.commit({
    changes: [
      change(1, "/secrets/a/db"),
      change(2, "/configmaps/a/db"),
      change(3, "/secrets/a/gone"),
      change(4, "/secrets/a/gone", "DELETED"),
    ],
    revisionCeiling: 100,
  });
  await storage.close();
  return memory.reopen();
}

it("encrypts what is listed, in objects and history, also what was deleted, and nothing else", async () => {
  const memory = await filled([old]);
  expect(readable(memory)).toEqual(["object /configmaps/a/db", "change 2 /configmaps/a/db"]);
  expect(await contentOf(over(memory, [old]))).toEqual([
    '/secrets/a/db {"value":"canary 1"}',
    '/configmaps/a/db {"value":"canary 2"}',
    '/secrets/a/db {"value":"canary 1"}',
    '/configmaps/a/db {"value":"canary 2"}',
    '/secrets/a/gone {"value":"canary 3"}',
    '/secrets/a/gone {"value":"canary 4"}',
  ]);
});

it("refuses what no key opens with a sentence, and changes nothing", async () => {
  const memory = await filled([old]);
  const before = memory.image();
  await expect(over(memory, [next]).load()).rejects.toThrow("none of the given keys is that one");
  await expect(over(memory.reopen.call(closed(memory)), []).load()).rejects.toThrow(
    "no key was given",
  );
  expect(memory.image()).toEqual(before);
});

function closed(memory: MemoryStorage): MemoryStorage {
  memory.crash({ lose: "unsynced", random: createRandom(1) });
  return memory;
}

it("encrypts again with a new first key, after which the old one is not needed", async () => {
  const memory = await filled([old]);
  const told: string[] = [];
  const turned = over(memory, [next, old], TABLES, told);
  const content = await contentOf(turned);
  await turned.close();
  expect(told).toEqual([expect.stringContaining("4 stored rows were encrypted")]);
  const again = memory.reopen();
  expect(await contentOf(over(again, [next]))).toEqual(content);
  expect(again.image().history.map(({ type }) => type)).toEqual([
    "ADDED",
    "ADDED",
    "ADDED",
    "DELETED",
  ]);
});

it("encrypts what was plain when it is switched on, and opens it when it is switched off", async () => {
  const memory = await filled([], new Set());
  expect(readable(memory)).toHaveLength(6);
  const on = over(memory, [old]);
  await on.load();
  expect(readable(memory)).toEqual(["object /configmaps/a/db", "change 2 /configmaps/a/db"]);
  await on.close();
  const later = memory.reopen();
  const off = over(later, [old], new Set());
  await off.load();
  expect(readable(later)).toHaveLength(6);
});

it("starts with the old key on a full disk, and tells to keep it", async () => {
  const memory = await filled([old]);
  memory.fill();
  const told: string[] = [];
  const content = await contentOf(over(memory, [next, old], TABLES, told));
  expect(content).toHaveLength(6);
  expect(told).toEqual([expect.stringContaining("keep all keys")]);
});

storageSuite(() => {
  const clock = virtualClock();
  let memory: MemoryStorage | undefined;
  return Promise.resolve({
    open: () => {
      memory = memory?.reopen() ?? createMemoryStorage(clock, { syncDelayMs: 0 });
      return Promise.resolve(over(memory, [old], new Set(["/pods", "/configmaps", "/secrets"])));
    },
    fill: () => memory?.fill(),
    free: () => memory?.free(),
    breakOpen: () => {
      memory?.fail(createRandom(1));
      return Promise.resolve();
    },
    dispose: () => Promise.resolve(),
  });
});
