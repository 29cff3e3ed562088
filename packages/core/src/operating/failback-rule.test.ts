/** The annotation for failback: what is valid, and when its window opens. */
import { instantOf } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { opensAt, parseFailback } from "./failback-rule.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const at = (hours: number, minutes = 0) =>
  instantOf(Date.UTC(2026, 0, 1) + (hours * 60 + minutes) * MINUTE);

describe("parseFailback", () => {
  it.each([
    ["30m", { stabilisationMs: 30 * MINUTE, max: 1 }],
    ["0s", { stabilisationMs: 0, max: 1 }],
    ["1h;max=5", { stabilisationMs: 60 * MINUTE, max: 5 }],
    [
      " 1h ; window=22:00-04:30 ; max=2 ",
      { stabilisationMs: 60 * MINUTE, max: 2, window: { from: 1320, to: 270 } },
    ],
  ])("reads %j", (text, expected) => {
    expect(parseFailback(text)).toEqual(expected);
  });

  it.each([
    "",
    "true",
    "-1m",
    "max=2",
    "1h;max=0",
    "1h;max=-1",
    "1h;max=1.5",
    "1h;max=1;max=2",
    "1h;min=1",
    "1h;",
    "1h;window=1:00-2:00",
    "1h;window=24:00-02:00",
    "1h;window=01:60-02:00",
    "1h;window=01:00-01:00",
    "1h;window=01:00",
    "1h;__proto__=1",
  ])("refuses %j", (text) => {
    expect(parseFailback(text)).toBeUndefined();
  });
});

describe("opensAt", () => {
  const rule = (from: number, to: number) => ({
    stabilisationMs: 0,
    max: 1,
    window: { from: from * 60, to: to * 60 },
  });

  it.each([
    ["inside", 2, 4, at(3), at(3)],
    ["at its beginning", 2, 4, at(2), at(2)],
    ["at its end", 2, 4, at(4), at(26)],
    ["before it", 2, 4, at(1), at(2)],
    ["after it", 2, 4, at(5), at(26)],
    ["over midnight, before", 22, 4, at(23), at(23)],
    ["over midnight, after", 22, 4, at(1), at(1)],
    ["over midnight, outside", 22, 4, at(12), at(22)],
  ])("%s", (_name, from, to, now, expected) => {
    expect(opensAt(rule(from, to), now)).toBe(expected);
  });

  it("is within a day, never in the past, and open at that time", () => {
    const hour = fc.nat(23);
    fc.assert(
      fc.property(hour, hour, fc.nat(3 * DAY), (from, to, ms) => {
        fc.pre(from !== to);
        const now = instantOf(Date.UTC(2026, 0, 1) + ms);
        const opening = opensAt(rule(from, to), now);
        expect(opening).toBeGreaterThanOrEqual(now);
        expect(opening - now).toBeLessThan(DAY);
        expect(opensAt(rule(from, to), opening)).toBe(opening);
      }),
    );
  });
});
