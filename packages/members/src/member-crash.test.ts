import { expect, it } from "vitest";
import { expectSameEnd, run } from "./member-crash.suite.ts";

it("does the same in the same order for the same seed, and ends the same for another", async () => {
  const [first, again, other] = [await run(7), await run(7), await run(8)];
  expect(again).toEqual(first);
  expect(other.hash).not.toBe(first.hash);
  expect(other.content).toEqual(first.content);
});

it("ends in the same state when it dies at some writes and another goes on", async () => {
  await expectSameEnd(1, 11);
}, 30_000);
