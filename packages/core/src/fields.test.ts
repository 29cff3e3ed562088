import { expect, it } from "vitest";
import { textsAt, valueAt, without, withValue } from "./fields.ts";

it("reads own fields only", () => {
  expect(valueAt({}, "constructor")).toBeUndefined();
  expect(valueAt({ a: 1 }, "a", "toString")).toBeUndefined();
  expect(valueAt({ a: { b: 2 } }, "a", "b")).toBe(2);
});

it("keeps a key named __proto__ as a key", () => {
  const odd = JSON.parse('{"__proto__":"x","a":"y"}') as Record<string, unknown>;
  expect(JSON.stringify(textsAt({ odd }, "odd"))).toBe('{"__proto__":"x","a":"y"}');
  expect(JSON.stringify(without(odd, "a"))).toBe('{"__proto__":"x"}');
});

it("builds parents as needed, and none to take a field away", () => {
  expect(withValue({ a: 1 }, ["a", "b"], 2)).toEqual({ a: { b: 2 } });
  expect(withValue({ a: 1 }, ["x", "y"], undefined)).toEqual({ a: 1 });
  expect(withValue({ a: { b: 1, c: 2 } }, ["a", "b"], undefined)).toEqual({ a: { c: 2 } });
});
