/** How fast what others did to a copy is undone. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { undoFrom, type Undone, undoneOnceMore } from "./undo-pace.ts";

/** At which times a writer is undone that writes again after so many milliseconds each time. */
function fight(strikesBackAfterMs: number, untilMs: number): readonly number[] {
  const times: number[] = [];
  let undone: Undone | undefined;
  for (let now = 0; now <= untilMs;) {
    undone = undoneOnceMore(undone, now);
    times.push(now);
    now = Math.max(now + strikesBackAfterMs, undoFrom(undone) ?? 0);
  }
  return times;
}

describe("what others did is undone", () => {
  it("at once for the first three times, then after a growing pause of at most half a minute", () => {
    expect(fight(0, 92_999)).toEqual([0, 0, 0, 1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000]);
  });

  it.each([
    [59_999, 89_999],
    [60_000, undefined],
  ])("again after %i ms of calm, and then from %s on", (calmMs, from) => {
    let undone: Undone | undefined;
    for (let times = 0; times < 8; times++) undone = undoneOnceMore(undone, 0);
    expect(undoFrom(undoneOnceMore(undone, calmMs))).toBe(from);
  });

  it("at most sixteen times in five minutes, however fast the other strikes back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 59_999 }), (ms) => {
        expect(fight(ms, 300_000).length).toBeLessThanOrEqual(16);
      }),
    );
  });
});
