/** Bodies of a mebibyte are too large to be fixtures. */
import { describe, expect, it } from "vitest";
import { checkConfigMap, checkSecret } from "./core.ts";
import type { Problems } from "./fields.ts";

const MAX = 1_048_576;

describe("the size of data", () => {
  it.each([
    {
      name: "a ConfigMap of just that size",
      check: checkConfigMap,
      object: { data: { a: "x".repeat(MAX) } },
      want: [],
    },
    {
      name: "one byte more",
      check: checkConfigMap,
      object: { data: { a: "x".repeat(MAX), b: "y" } },
      want: [""],
    },
    {
      name: "characters of two bytes",
      check: checkConfigMap,
      object: { data: { a: "é".repeat(MAX / 2 + 1) } },
      want: [""],
    },
    {
      name: "binary data",
      check: checkConfigMap,
      object: { binaryData: { a: "AAAA".repeat(Math.ceil(MAX / 3) + 1) } },
      want: [""],
    },
    {
      name: "a Secret",
      check: checkSecret,
      object: { data: { a: "AAAA".repeat(Math.ceil(MAX / 3) + 1) } },
      want: ["data"],
    },
  ])("is limited: $name", ({ check, object, want }) => {
    const problems: Problems = [];
    check(problems, object);
    expect(problems.map(({ field }) => field)).toEqual(want);
    expect(problems.every(({ reason }) => reason === "FieldValueTooLong")).toBe(true);
  });
});
