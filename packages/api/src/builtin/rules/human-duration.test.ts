import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { ageOf, humanDuration } from "./human-duration.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

describe("humanDuration", () => {
  it.each([
    { ms: -3 * second, want: "<invalid>" },
    { ms: -2 * second, want: "<invalid>" },
    { ms: -1999, want: "0s" },
    { ms: 0, want: "0s" },
    { ms: 999, want: "0s" },
    { ms: 119 * second, want: "119s" },
    { ms: 2 * minute, want: "2m" },
    { ms: 2 * minute + second, want: "2m1s" },
    { ms: 10 * minute, want: "10m" },
    { ms: 10 * minute + second, want: "10m" },
    { ms: 179 * minute, want: "179m" },
    { ms: 3 * hour, want: "3h" },
    { ms: 3 * hour + minute, want: "3h1m" },
    { ms: 8 * hour + minute, want: "8h" },
    { ms: 47 * hour, want: "47h" },
    { ms: 2 * day, want: "2d" },
    { ms: 3 * day + 4 * hour, want: "3d4h" },
    { ms: 8 * day + hour, want: "8d" },
    { ms: 729 * day, want: "729d" },
    { ms: 2 * year, want: "2y" },
    { ms: 2 * year + day, want: "2y1d" },
    { ms: 8 * year + day, want: "8y" },
    { ms: Number.NaN, want: "<invalid>" },
  ])("prints $ms ms as $want", ({ ms, want }) => {
    expect(humanDuration(ms)).toBe(want);
  });
});

describe("ageOf", () => {
  const now = instantOf(Date.parse("2026-01-01T00:15:00Z"));

  it("measures from the timestamp to now", () => {
    expect(ageOf("2026-01-01T00:00:00Z", now)).toBe("15m");
  });

  it("is unknown without a readable timestamp", () => {
    expect([ageOf(undefined, now), ageOf("yesterday", now), ageOf(5, now)]).toEqual(
      Array(3).fill("<unknown>"),
    );
  });
});
