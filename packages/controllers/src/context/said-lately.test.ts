/** What somebody else contradicted is said again once a second at most. */
import { instantOf, plainMoment } from "@lifeboat/base";
import { expect, it } from "vitest";
import { SaidLately } from "./said-lately.ts";

const at = (milliseconds: number) => plainMoment(instantOf(milliseconds));

it.each([
  ["the same again within a second", "a", { x: 1 }, 999, 1000],
  ["the same again after a second", "a", { x: 1 }, 1000, undefined],
  ["something else", "a", { x: 2 }, 0, undefined],
  ["the same of another object", "b", { x: 1 }, 0, undefined],
])("%s", (_what, uid, what, now, held) => {
  const said = new SaidLately();
  said.note("a", { x: 1 }, instantOf(0));
  expect(said.heldUntil(uid, what, at(now))).toBe(held);
});

it("only the last thing said counts", () => {
  const said = new SaidLately();
  said.note("a", 1, instantOf(0));
  said.note("a", 2, instantOf(10));
  expect(said.heldUntil("a", 1, at(20))).toBeUndefined();
  expect(said.heldUntil("a", 2, at(20))).toBe(1010);
});
