import { expect, test } from "vitest";
import { createRandom, instantOf, type Random, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { createMemoryStorage } from "./memory-storage.ts";
import { storageSuite } from "./storage.suite.ts";

const clock = (): VirtualClock => new VirtualClock(instantOf(0), drainPromises);

storageSuite(() => {
  let handle = createMemoryStorage(clock(), { syncDelayMs: 0 });
  let isFirst = true;
  return Promise.resolve({
    open: () => {
      if (!isFirst) handle = handle.reopen();
      isFirst = false;
      return Promise.resolve(handle);
    },
    fill: () => handle.fill(),
    free: () => handle.free(),
    breakOpen: () => Promise.resolve(handle.fail(createRandom(1))),
    dispose: () => Promise.resolve(),
  });
});

/** A Random whose every draw is `value`. */
const fixed = (value: number): Random => ({
  next: () => value,
  below: () => 0,
  fork: () => fixed(value),
});

for (const { name, toss, want } of [
  { name: "kept", toss: 0.1, want: 1 },
  { name: "lost", toss: 0.9, want: 0 },
])
  test(`a commit under way at a crash is ${name} by the toss, and never answered`, async () => {
    const time = clock();
    const storage = createMemoryStorage(time, { syncDelayMs: 5 });
    await storage.load();
    let answered = false;
    const row = { revision: 1, type: "ADDED", key: "/pods/a/x", bytes: new Uint8Array() } as const;
    void storage.commit({ changes: [row] }).finally(() => {
      answered = true;
    });
    await time.advance(4);
    storage.crash({ lose: "unsynced", random: fixed(toss) });
    await time.advance(100);
    expect(answered).toBe(false);
    expect([...(await storage.reopen().load()).objects]).toHaveLength(want);
  });

test("what was synced before a crash is kept, and the dead handle is deaf", async () => {
  const time = clock();
  const storage = createMemoryStorage(time, { syncDelayMs: 5 });
  await storage.load();
  const row = { revision: 1, type: "ADDED", key: "/pods/a/x", bytes: new Uint8Array() } as const;
  const first = storage.commit({ changes: [row] });
  await time.advance(5);
  await first;
  storage.crash({ lose: "unsynced", random: fixed(0.1) });
  let answered = false;
  void storage.commit({ changes: [{ ...row, revision: 2 }] }).finally(() => {
    answered = true;
  });
  await time.advance(100);
  expect(answered).toBe(false);
  expect([...(await storage.reopen().load()).history]).toEqual([row]);
});
