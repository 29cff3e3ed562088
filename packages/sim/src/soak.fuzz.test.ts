/** Failures that come again and again leave nothing behind that piles up. */
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, it } from "vitest";
import { soak, type SoakHour } from "./soak.ts";

const RECORDS = ["plane lifeboat.dev/evacuations", "plane lifeboat.dev/evacuationslices"];
/** Of each cluster so many are kept. */
const KEPT = 10;
/** The history grows to its own bound; small slices are merged when there are twenty. */
const HISTORY = "plane lifeboat.dev/ledgerslices";

it("holds after many failures what it held after the first one, and the records that are kept", async () => {
  const size = { members: 2, workloads: 2 };
  const hours: SoakHour[] = [];
  for await (const hour of soak({ drain: drainPromises }, size, 22)) hours.push(hour);
  expect(hours.flatMap(({ broken }) => broken)).toEqual([]);
  expect(hours.every(({ moves }) => moves > 0)).toBe(true);
  expect(withoutRecords(hours.at(-1))).toEqual(withoutRecords(hours[0]));
  for (const table of RECORDS) expect(hours.at(-1)?.objects.get(table)).toBe(size.members * KEPT);
  expect(hours.at(-1)?.objects.get(HISTORY)).toBeLessThan(30);
}, 300_000);

function withoutRecords(hour: SoakHour | undefined): readonly (readonly [string, number])[] {
  return [...(hour?.objects ?? [])].filter(
    ([table]) => !RECORDS.includes(table) && table !== HISTORY,
  );
}
