import { expect, test } from "vitest";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { silentLog } from "@lifeboat/kit";
import { storedConfigMap } from "@lifeboat/testkit";
import { createStore } from "./create-store.ts";
import { createMemoryStorage } from "./memory-storage.ts";
import { restoredStorage } from "./restored-storage.ts";
import type { Storage } from "./storage.ts";
import { HistoryGone, type Store } from "./store.ts";

const TABLE = "/configmaps";
const clock = new VirtualClock(instantOf(0), drainPromises);
const open = (storage: Storage): Promise<Store> =>
  createStore({ clock, log: silentLog }, storage, { volatileTables: new Set() });

async function write(store: Store, key: string): Promise<number> {
  const build = (revision: number) => storedConfigMap(key, revision, {});
  return (await store.commit(TABLE, key, undefined, { kind: "put", build })).revision;
}

function watch(store: Store, from: number): readonly string[] {
  const seen: string[] = [];
  const change = ({ entry }: { readonly entry: { readonly key: string } }): boolean =>
    seen.push(entry.key) > 0;
  store.watch(TABLE, { from, needsPrevious: false }, { change, end: () => {} });
  return seen;
}

test("whoever knows more than a backup lists anew, and versions go on above all they know", async () => {
  const disk = createMemoryStorage(clock, { syncDelayMs: 0 });
  const before = await open(disk);
  const kept = await write(before, "ns/kept");
  const backup = disk.image();
  for (let i = 0; i < 20_000; i++) void write(before, `ns/lost-${i}`);
  const lost = await write(before, "ns/lost");

  const restored = createMemoryStorage(clock, { syncDelayMs: 0, image: backup });
  const after = await open(restoredStorage(restored));
  expect(Array.from(after.range(TABLE, {}), ({ key }) => key)).toEqual(["ns/kept"]);
  expect(after.revision).toBeGreaterThan(lost);
  for (const known of [kept, lost]) {
    expect(() => watch(after, known)).toThrow(HistoryGone);
    expect(() => after.range(TABLE, { at: known })).toThrow(HistoryGone);
  }
  const seen = watch(after, after.revision);
  const next = await write(after, "ns/next");
  expect(seen).toEqual(["ns/next"]);

  // The next start knows of it by itself.
  await after.close();
  const later = await open(restored.reopen());
  expect(() => watch(later, lost)).toThrow(HistoryGone);
  expect(watch(later, next - 1)).toEqual(["ns/next"]);
});
