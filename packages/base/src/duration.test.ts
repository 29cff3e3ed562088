import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("durations", () => {
  it.each([
    ["1h30m", 5_400_000],
    ["250ms", 250],
    ["0", 0],
    ["1.5s", 1500],
    ["-2m", -120_000],
    [".5s", 500],
    ["1us", 0.001],
  ])("reads %s", (text, want) => {
    expect(parseDuration(text)).toBe(want);
  });

  it.each(["", "5", "s", "1d", "1h ", "--1s", "1h-1m", "1 s", "NaN", "+"])("refuses %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it("reads back every whole number of milliseconds it writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(
          milliseconds === 0 ? 0 : milliseconds,
        );
      }),
    );
  });
});
