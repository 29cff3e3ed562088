import { expect, test } from "vitest";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { BookmarkBeats } from "./bookmark-beats.ts";

function setUp() {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const told: string[] = [];
  const beats = new BookmarkBeats(clock);
  const join = (name: string, answer = true): (() => void) =>
    beats.join(() => {
      told.push(`${name} ${clock.monotonic() / 1000}`);
      return answer;
    });
  return { clock, told, join };
}

test("who joins within the same ten seconds is told together, once a minute", async () => {
  const { clock, told, join } = setUp();
  await clock.advance(1000);
  join("a");
  await clock.advance(8000);
  join("b");
  await clock.advance(2000);
  join("c");
  await clock.advance(120_000);
  expect(told).toEqual(["a 60", "b 60", "c 70", "a 120", "b 120", "c 130"]);
});

test("who answers false or leaves is told no more, and nothing is left to fire", async () => {
  const { clock, told, join } = setUp();
  join("over", false);
  const leave = join("leaves");
  await clock.advance(60_000);
  leave();
  await clock.advance(120_000);
  expect(told).toEqual(["over 60", "leaves 60"]);
  expect(clock.nextDue()).toBeUndefined();
});

test("when the last leaves there is no timer any more, at once", async () => {
  const { clock, join } = setUp();
  const leaves = [join("a"), join("b")];
  await clock.advance(60_000);
  leaves[0]?.();
  expect(clock.nextDue()).toBeDefined();
  leaves[1]?.();
  expect(clock.nextDue()).toBeUndefined();
});
