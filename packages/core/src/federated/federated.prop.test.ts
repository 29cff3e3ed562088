/**
 * Random lives of a federated StatefulSet, through the scheduler's own decision: whatever happens, identities are unique, and a
 * share changes only by a scale-up, a scale-down or a person's `forget` (D15).
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  NAMES,
  newWorld,
  recordOf,
  schedule,
  type Step,
  step,
  take,
  type World,
} from "./lives.suite.ts";
import { idBase, podsOf } from "./names.ts";
import { NO_RECORD, readFederated } from "./record.ts";

function check(
  before: World["binding"],
  world: World,
  one: Step,
  everForgotten: ReadonlySet<string>,
): void {
  const was = readFederated(before) ?? NO_RECORD;
  const record = recordOf(world);
  const asked = world.binding.spec.replicas ?? 0;
  const pods = podsOf("store", record);
  // Identities and unique integers are unique.
  expect(new Set(pods.map(({ name }) => name)).size).toBe(pods.length);
  const ids = pods.map(({ cluster, ordinal }) => (idBase(record, cluster) ?? NaN) + ordinal);
  expect(new Set(ids).size).toBe(pods.length);
  expect(ids.every(Number.isSafeInteger)).toBe(true);
  // A number is never given to another cluster.
  for (const [name, number] of was.numbers) expect(record.numbers.get(name)).toBe(number);
  // A share changes only by what a person ordered, and only in a living cluster.
  for (const name of NAMES) {
    const [old, now] = [was.shares.get(name) ?? 0, record.shares.get(name) ?? 0];
    const cluster = world.clusters.get(name);
    const lives = cluster?.ready === true;
    if (one.kind === "forget" && one.at === name) expect(now).toBe(0);
    else if (now > old) {
      expect(lives && !cluster.tainted).toBe(true);
      expect(asked).toBeGreaterThan(was.replicas);
    } else if (now < old) {
      expect(lives).toBe(true);
      expect(asked).toBeLessThan([...was.shares.values()].reduce((a, b) => a + b, 0));
    }
    if (everForgotten.has(name)) expect(now).toBe(0);
  }
  // The result is the shares, cluster by cluster, of clusters that exist.
  const result = Object.fromEntries(
    (world.binding.spec.clusters ?? []).map(({ name, replicas }) => [name, replicas]),
  );
  const expected = [...record.shares].filter(([name]) => world.clusters.has(name));
  expect(result).toEqual(Object.fromEntries(expected));
}

it("whatever happens, identities are unique and none moves", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = newWorld();
      const forgotten = new Set<string>();
      for (const one of steps) {
        const before = world.binding;
        take(world, one);
        if (one.kind === "forget") forgotten.add(one.at);
        schedule(world);
        check(before, world, one, forgotten);
        const settled = world.binding;
        schedule(world);
        expect(world.binding).toEqual(settled);
      }
    }),
    { numRuns: 400 },
  );
});
