import { expect, it } from "vitest";
import { createSeededIds } from "./ids.ts";
import { createRandom, hashText } from "./random.ts";

const draw = (seed: number, count = 100): number[] => {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

it("gives the same numbers for the same seed and others for another", () => {
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
});

it("does not change between releases: recorded runs must replay", () => {
  const random = createRandom(42);
  expect([random.below(1000), random.below(1000), random.below(1000)]).toMatchInlineSnapshot(`
    [
      153,
      850,
      18,
    ]
  `);
  expect(hashText("lifeboat")).toMatchInlineSnapshot(`98577597`);
});

it("is roughly uniform", () => {
  const buckets = Array.from({ length: 10 }, () => 0);
  const random = createRandom(7);
  for (let i = 0; i < 100_000; i++) {
    const at = random.below(10);
    buckets[at] = (buckets[at] ?? 0) + 1;
  }
  for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(500);
});

it("forks independent streams: a draw in one does not shift another", () => {
  const parent = createRandom(1);
  const before = parent.fork("dns").next();
  parent.next();
  expect(parent.fork("dns").next()).toBe(before);
  expect(parent.fork("scheduler").next()).not.toBe(before);
});

it("makes version 4 uids and suffixes of five unambiguous characters", () => {
  const ids = createSeededIds(createRandom(1));
  expect(ids.uid()).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(ids.nameSuffix()).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  const uids = new Set(Array.from({ length: 10_000 }, () => ids.uid()));
  expect(uids.size).toBe(10_000);
});
