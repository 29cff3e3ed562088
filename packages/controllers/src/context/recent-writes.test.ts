/** A write that another writer undid is repeated once a second at most. */
import { instantOf, plainMoment } from "@lifeboat/base";
import { expect, it } from "vitest";
import { RecentWrites } from "./recent-writes.ts";

const at = (milliseconds: number) => plainMoment(instantOf(milliseconds));

it.each([
  ["the same content within a second", "a", { x: 1 }, 999, 1000],
  ["the same content after a second", "a", { x: 1 }, 1000, undefined],
  ["other content", "a", { x: 2 }, 0, undefined],
  ["the same content of another object", "b", { x: 1 }, 0, undefined],
])("%s", (_what, uid, content, now, held) => {
  const writes = new RecentWrites();
  writes.note("a", { x: 1 }, instantOf(0));
  expect(writes.heldUntil(uid, content, at(now))).toBe(held);
});

it("only the last write of an object counts", () => {
  const writes = new RecentWrites();
  writes.note("a", 1, instantOf(0));
  writes.note("a", 2, instantOf(10));
  expect(writes.heldUntil("a", 1, at(20))).toBeUndefined();
  expect(writes.heldUntil("a", 2, at(20))).toBe(1010);
});
