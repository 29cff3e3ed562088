import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalTime } from "./time-text.ts";

/** The years 1000 to 9999, a day off either end for the offsets. */
const seconds = fc.integer({ min: -30_610_000_000, max: 253_402_000_000 });

describe("canonicalTime", () => {
  it("takes a time in the written form as it is", () => {
    fc.assert(
      fc.property(seconds, (time) => {
        const text = new Date(time * 1000).toISOString().slice(0, 19);
        expect(canonicalTime(`${text}Z`, "seconds")).toEqual({ ok: true, text: `${text}Z` });
        const micro = `${text}.000123Z`;
        expect(canonicalTime(micro, "microseconds")).toEqual({ ok: true, text: micro });
      }),
    );
  });

  it("brings any offset to UTC and cuts fractions off", () => {
    const offset = fc.record({ hours: fc.integer({ min: -23, max: 23 }), minutes: fc.nat(59) });
    fc.assert(
      fc.property(seconds, offset, (time, { hours, minutes }) => {
        const sign = hours < 0 ? -1 : 1;
        const shift = hours * 3600 + sign * minutes * 60;
        const local = new Date((time + shift) * 1000).toISOString().slice(0, 19);
        const zone = [Math.abs(hours), minutes].map((n) => String(n).padStart(2, "0")).join(":");
        const text = `${local}.987${sign < 0 ? "-" : "+"}${zone}`;
        const want = `${new Date(time * 1000).toISOString().slice(0, 19)}Z`;
        expect(canonicalTime(text, "seconds")).toEqual({ ok: true, text: want });
      }),
    );
  });

  it("takes any text or says what is wrong with it", () => {
    const pieces = fc.constantFrom("2026", "-", "01", "T", ":", ".", "Z", "+", "99", "é", '"', "5");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
        const text = parts.join("");
        const result = canonicalTime(text, "seconds");
        if (!result.ok) expect(result.message).toContain("parsing time ");
        else if (result.text !== null)
          expect(canonicalTime(result.text, "seconds")).toEqual(result);
      }),
    );
  });

  it("refuses a time whose offset leads out of the years that can be written", () => {
    const result = canonicalTime("9999-12-31T23:59:59-01:00", "seconds");
    expect(result).toMatchObject({ ok: false });
  });
});
