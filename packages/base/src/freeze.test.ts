import { expect, it } from "vitest";
import { assert, InvariantError } from "./assert.ts";
import { deepFreeze } from "./freeze.ts";

it("freezes every object and list inside", () => {
  const value = deepFreeze({ a: [{ b: { c: 1 } }], d: null, e: "x" });
  expect(() => {
    for (const item of value.a) item.b.c = 2;
  }).toThrow(TypeError);
  expect(() => value.a.push({ b: { c: 1 } })).toThrow(TypeError);
});

it("takes a frozen part as frozen whole, so sharing is cheap", () => {
  const part = deepFreeze({ x: { y: 1 } });
  expect(deepFreeze({ part }).part).toBe(part);
});

it("makes a failed assertion carry its facts", () => {
  expect(() => assert(false, "revisions only grow", { had: 2, got: 1 })).toThrow(InvariantError);
});
