import { addMs } from "@lifeboat/base";
import { expect, it } from "vitest";
import { Expectations } from "./expectations.ts";
import { NOW, pod } from "./model/objects.suite.ts";

function make(): {
  readonly expectations: Expectations;
  readonly cache: { resourceVersion: string | undefined };
} {
  const cache: { resourceVersion: string | undefined } = { resourceVersion: "9" };
  const clock = { now: () => NOW, monotonic: () => 0, after: () => () => undefined };
  return { expectations: new Expectations(clock, cache), cache };
}

it("holds a key back until the cache shows its last write, and no other key", () => {
  const { expectations, cache } = make();
  expectations.wrote("a", pod("p", "ready", { resourceVersion: "12" }));
  expectations.wrote("a", pod("q", "ready", { resourceVersion: "11" }));
  expect(expectations.tooEarly("a")).toEqual({ kind: "checkAgainAt", at: addMs(NOW, 10_000) });
  expect(expectations.tooEarly("b")).toBeUndefined();
  cache.resourceVersion = "11";
  expect(expectations.tooEarly("a")).toBeDefined();
  cache.resourceVersion = "12";
  expect(expectations.tooEarly("a")).toBeUndefined();
});

it("forgets a write once it was seen, and holds writes back while the cache was never complete", () => {
  const { expectations, cache } = make();
  expectations.wrote("a", pod("p", "ready", { resourceVersion: "8" }));
  expect(expectations.tooEarly("a")).toBeUndefined();
  cache.resourceVersion = undefined;
  expect(expectations.tooEarly("a")).toBeUndefined();
  expectations.wrote("a", pod("p", "ready", { resourceVersion: "8" }));
  expect(expectations.tooEarly("a")).toBeDefined();
});
