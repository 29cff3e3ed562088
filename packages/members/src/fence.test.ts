import { addMs } from "@lifeboat/base";
import { expect, it } from "vitest";
import { Fence } from "./fence.ts";
import { NOW, pod } from "./model/objects.suite.ts";

function fenced(): {
  readonly fence: Fence;
  readonly copy: { resourceVersion: string | undefined };
} {
  const copy: { resourceVersion: string | undefined } = { resourceVersion: "9" };
  const clock = { now: () => NOW, monotonic: () => 0, after: () => () => undefined };
  return { fence: new Fence(clock, copy), copy };
}

it("holds a key back until the copy shows its last write, and no other key", () => {
  const { fence, copy } = fenced();
  fence.wrote("a", pod("p", "ready", { resourceVersion: "12" }));
  fence.wrote("a", pod("q", "ready", { resourceVersion: "11" }));
  expect(fence.tooEarly("a")).toEqual({ kind: "checkAgainAt", at: addMs(NOW, 10_000) });
  expect(fence.tooEarly("b")).toBeUndefined();
  copy.resourceVersion = "11";
  expect(fence.tooEarly("a")).toBeDefined();
  copy.resourceVersion = "12";
  expect(fence.tooEarly("a")).toBeUndefined();
});

it("forgets a write once it was seen, and knows nothing of a copy that was never complete", () => {
  const { fence, copy } = fenced();
  fence.wrote("a", pod("p", "ready", { resourceVersion: "8" }));
  expect(fence.tooEarly("a")).toBeUndefined();
  copy.resourceVersion = undefined;
  expect(fence.tooEarly("a")).toBeUndefined();
  fence.wrote("a", pod("p", "ready", { resourceVersion: "8" }));
  expect(fence.tooEarly("a")).toBeDefined();
});
