import { expect, it } from "vitest";
import { hashBytes } from "./hash.ts";
import { divideByWeights } from "./webster.ts";

const ODD = "00000000-0000-0000-0000-000000000000";
const EVEN = "7d1b0a52-3c1e-4a53-9f0e-2b7a3f6a9d10";

const weights = (list: readonly number[]) =>
  list.map((weight, i) => ({ name: `m${i + 1}`, weight }));
const shares = (total: number, list: readonly number[], uid: string) => [
  ...divideByWeights(total, weights(list), uid).values(),
];

it.each([
  [3, [1, 1], [2, 1], [1, 2]],
  [5, [1, 1, 1], [2, 2, 1], [1, 2, 2]],
  [2, [1, 1, 1], [1, 1, 0], [0, 1, 1]],
  [7, [2, 1, 1], [3, 2, 2], [3, 2, 2]],
  [9, [1, 2], [3, 6], [3, 6]],
  [9, [1, 3], [2, 7], [2, 7]],
  [10, [6, 3], [7, 3], [7, 3]],
  [12, [3, 2, 1], [6, 4, 2], [6, 4, 2]],
])("divides %i by %j into %j, or %j when the uid hashes odd", (total, list, even, odd) => {
  expect(shares(total, list, "")).toEqual(even);
  expect(shares(total, list, EVEN)).toEqual(even);
  expect(shares(total, list, ODD)).toEqual(odd);
});

it("hashes bytes as other implementations do", () => {
  expect(hashBytes(ODD)).toBe(3192360657);
  expect(hashBytes(EVEN)).toBe(3524997746);
});

it("gives no cluster anything when there is nothing, or no cluster has a weight", () => {
  expect(shares(0, [1, 2], "")).toEqual([0, 0]);
  expect(shares(-5, [1, 2], "")).toEqual([0, 0]);
  expect(shares(5, [0, -1], "")).toEqual([0, 0]);
  expect(shares(5, [], "")).toEqual([]);
});

it("does not count one by one", () => {
  expect(shares(2_000_000_000, [1, 1, 2], "")).toEqual([500_000_000, 500_000_000, 1_000_000_000]);
});
