/** Integers that were rounded are found by their size. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inexactIntegerIn, isInexactInteger } from "./exact-integers.ts";

describe("an integer that JSON.parse has read", () => {
  it("is either the one of the text or found to be inexact", () => {
    const digits = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n });
    fc.assert(
      fc.property(digits, (integer) => {
        const read = JSON.parse(String(integer)) as number;
        expect(BigInt(read) === integer || isInexactInteger(read)).toBe(true);
        if (integer > -(2n ** 53n) && integer < 2n ** 53n)
          expect(isInexactInteger(read)).toBe(false);
      }),
    );
  });

  it.each([
    ["9007199254740991", false],
    ["9007199254740992", true],
    ["9007199254740993", true],
    ["-9007199254740993", true],
    ["18446744073709551615", true],
    ["0.5", false],
    ["0", false],
  ])("%s", (text, inexact) => {
    expect(isInexactInteger(JSON.parse(text))).toBe(inexact);
  });
});

it.each<[unknown, string | undefined]>([
  [{ a: 1, b: { c: [{ d: 2 ** 53 }] } }, "b.c[0].d"],
  [{ a: [[1, 2 ** 60]] }, "a[0][1]"],
  [{ a: "9007199254740993", b: null, c: 1.5 }, undefined],
  [2 ** 53, ""],
])("%j: %s", (value, path) => {
  expect(inexactIntegerIn(value)).toBe(path);
});
