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

it("ends in the same state when every third write is lost, before or after it took effect", async () => {
  const { content } = await run(1);
  for (const seed of [1, 2, 3])
    expect((await run(seed, { share: 1 / 3 })).content, `seed ${seed}`).toEqual(content);
});
