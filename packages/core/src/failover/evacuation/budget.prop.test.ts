/**
 * The rate holds over any stretch of time, whatever crashes and lost answers do (C1, C3, C4): a reservation that was written
 * counts as used, also when no binding was released.
 */
import { addMs, type Instant, instantOf } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reserve } from "./budget.ts";

const START = instantOf(Date.UTC(2026, 0, 1));

describe("the budget", () => {
  it("never allows more than one release plus the rate over any stretch of time", () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 8000 }),
      lost: fc.boolean(),
      rate: fc.constantFrom(0.5, 0.5, 0.1, 0, 3, 250),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now: Instant = START;
        let reservedUntil: Instant | undefined;
        const released: { at: number; tokens: number }[] = [];
        const rates: { at: number; rate: number }[] = [];
        for (const { waitMs, lost, rate } of steps) {
          now = addMs(now, waitMs);
          rates.push({ at: now, rate });
          const answer = reserve({ reservedUntil, rate, wanted: 1000 }, now);
          if (rate === 0) expect(answer.kind).toBe("stop");
          if (answer.kind !== "reserve") continue;
          expect(reservedUntil === undefined || reservedUntil <= now).toBe(true);
          expect(answer.tokens).toBeLessThanOrEqual(100);
          reservedUntil = answer.reservedUntil;
          // A lost answer: the budget is written, and no release uses the tokens.
          if (!lost) released.push({ at: now, tokens: answer.tokens });
        }
        for (const [i, first] of released.entries()) {
          const batch = Math.max(...released.map(({ tokens }) => tokens));
          let sum = 0;
          for (const { at, tokens } of released.slice(i)) {
            sum += tokens;
            // The rate can only have been as high as the highest that was in force within the stretch.
            const highest = Math.max(
              ...rates.filter((one) => one.at >= first.at && one.at <= at).map(({ rate }) => rate),
            );
            expect(sum).toBeLessThanOrEqual(batch + (highest * (at - first.at)) / 1000 + 1e-6);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it("keeps the default rate to within a percent over ten minutes", () => {
    let now: Instant = START;
    let reservedUntil: Instant | undefined;
    let count = 0;
    while (now - START < 600_000) {
      const answer = reserve({ reservedUntil, rate: 0.5, wanted: 1000 }, now);
      if (answer.kind === "wait") now = answer.until;
      if (answer.kind === "reserve") {
        count += answer.tokens;
        reservedUntil = answer.reservedUntil;
      }
    }
    expect(count).toBe(300);
  });

  it.each([
    ["a minute and a half", 90_000],
    ["an hour", 3_600_000],
  ])(
    "replaces a time %s ahead, which no reservation can have written, without releasing anything",
    (_, aheadMs) => {
      const bogus = addMs(START, aheadMs);
      expect(reserve({ reservedUntil: bogus, rate: 0.5, wanted: 1 }, START)).toEqual({
        kind: "reserve",
        tokens: 0,
        tokenMs: 2000,
        reservedUntil: addMs(START, 2000),
      });
    },
  );

  it("asks for nothing when no entry waits", () => {
    expect(reserve({ reservedUntil: undefined, rate: 1, wanted: 0 }, START)).toEqual({
      kind: "stop",
    });
    expect(reserve({ reservedUntil: undefined, rate: Number.NaN, wanted: 1 }, START)).toEqual({
      kind: "stop",
    });
  });
});
