import { expect, it } from "vitest";
import { equalJson } from "./equal-json.ts";

it.each([
  [1, 1, true],
  [1, "1", false],
  [null, undefined, false],
  [null, {}, false],
  [[], {}, false],
  [{}, [], false],
  [[1, 2], [2, 1], false],
  [[1], [1, 1], false],
  [{ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 1 }, false],
  [{ a: 1, b: 1 }, { a: 1 }, false],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined }, true],
  [{ a: undefined }, { b: undefined }, true],
  [{ constructor: 1 }, {}, false],
  [{ toString: undefined }, {}, true],
])("whether %j equals %j: %s", (a, b, equal) => {
  expect(equalJson(a, b)).toBe(equal);
});
