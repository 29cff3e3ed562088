/** What a disk kept is in the ledger, once, from the moment on at which its server was told or died. */
import type { ChangeRow, Storage } from "@lifeboat/apiserver";
import { instantOf, type Random, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { describe, expect, it } from "vitest";
import { Ledger } from "./ledger.ts";
import { createRecordedDisk, type RecordedDisk } from "./recorded-disk.ts";

const SYNC_MS = 5;
const KEPT = 0.1;
const LOST = 0.9;

/** A Random whose every draw is `value`. */
const fixed = (value: number): Random => ({
  next: () => value,
  below: () => 0,
  fork: () => fixed(value),
});

const row = (revision: number): ChangeRow => ({
  revision,
  type: "ADDED",
  key: `/configmaps/default/c${revision}`,
  bytes: new TextEncoder().encode("{}"),
});

interface World {
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly disk: RecordedDisk;
  readonly storage: Storage;
}

async function world(toss: number, syncDelayMs = SYNC_MS): Promise<World> {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const ledger = new Ledger(() => clock.monotonic());
  const image = { objects: [], history: [], revisionCeiling: 0, historyStart: 0 };
  const disk = createRecordedDisk(clock, fixed(toss), ledger, {
    server: "plane",
    syncDelayMs,
    image,
  });
  const storage = disk.open();
  await storage.load();
  return { clock, ledger, disk, storage };
}

/** Revisions with the time at which they were recorded. */
const recorded = ({ ledger }: World): readonly string[] =>
  ledger.rows.map(({ at, row: { revision } }) => `${revision} at ${at}`);

describe("a disk", () => {
  it("records a batch when it has it", async () => {
    const all = await world(LOST);
    const told = all.storage.commit({ changes: [row(1), row(2)] });
    expect(recorded(all)).toEqual([]);
    await all.clock.advance(SYNC_MS);
    await told;
    expect(recorded(all)).toEqual(["1 at 5", "2 at 5"]);
  });

  for (const { name, toss, want } of [
    { name: "kept", toss: KEPT, want: ["1 at 3"] },
    { name: "lost", toss: LOST, want: [] },
  ])
    it(`records what a crash ${name} at that moment, and not at the next start`, async () => {
      const all = await world(toss);
      void all.storage.commit({ changes: [row(1)] });
      await all.clock.advance(3);
      all.disk.crash();
      expect(recorded(all)).toEqual(want);
      await all.clock.advance(60_000);
      all.disk.open();
      expect(recorded(all)).toEqual(want);
      expect(all.disk.damage).toEqual([]);
    });

  it("records once what the server would have been told when it died", async () => {
    const all = await world(LOST, 0);
    const told = all.storage.commit({ changes: [row(1)] });
    all.disk.crash();
    await told;
    expect(recorded(all)).toEqual(["1 at 0"]);
  });

  for (const { name, toss, want } of [
    { name: "kept", toss: KEPT, want: ["1 at 1000"] },
    { name: "lost", toss: LOST, want: [] },
  ])
    it(`records what it ${name} when it failed, once its server is dead`, async () => {
      const all = await world(toss);
      all.disk.fail();
      await expect(all.storage.commit({ changes: [row(1)] })).rejects.toThrow("failed");
      expect(recorded(all)).toEqual([]);
      await all.clock.advance(1000);
      all.disk.crash();
      expect(recorded(all)).toEqual(want);
    });
});
