import { expect, test } from "vitest";
import { afterOneEvent, type EventAllowance } from "./event-allowance.ts";

/** How many of so many Events pass, one each `everyMs`. */
function passed(count: number, everyMs: number): number {
  let allowance: EventAllowance | undefined;
  let passing = 0;
  for (let i = 0; i < count; i += 1) {
    const next = afterOneEvent(allowance, i * everyMs);
    if (next === undefined) continue;
    allowance = next;
    passing += 1;
  }
  return passing;
}

test.each([
  ["a burst", 500, 0, 500],
  ["a flood", 100_000, 0, 500],
  ["an hour of a flood", 360_000, 10, 500 + 3599],
  ["one a second, for hours", 20_000, 1000, 20_000],
])("%s: of %d Events, one each %d ms, %d pass", (_what, count, everyMs, expected) => {
  expect(passed(count, everyMs)).toBe(expected);
});

test("a clock that stands still or goes back gives nothing", () => {
  const empty = { left: 0, at: 1000 };
  expect(afterOneEvent(empty, 1000)).toBeUndefined();
  expect(afterOneEvent(empty, 0)).toBeUndefined();
  expect(afterOneEvent(empty, 2000)).toEqual({ left: 0, at: 2000 });
});
