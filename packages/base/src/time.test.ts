import { describe, expect, it } from "vitest";
import { addMs, formatMicroTime, formatTime, instantOf, parseTime } from "./time.ts";

const noon = instantOf(Date.UTC(2026, 10, 15, 12, 0, 0, 987));

describe("time on the wire", () => {
  it("cuts metav1.Time to whole seconds", () => {
    expect(formatTime(noon)).toBe("2026-11-15T12:00:00Z");
  });

  it("writes metav1.MicroTime with exactly six digits", () => {
    expect(formatMicroTime(noon)).toBe("2026-11-15T12:00:00.987000Z");
  });

  it.each([
    "2026-11-15T12:00:00.987Z",
    "2026-11-15T12:00:00.987000Z",
    "2026-11-15T13:00:00.987+01:00",
  ])("reads %s", (text) => {
    expect(parseTime(text)).toBe(noon);
  });

  it.each([
    "",
    "2026-11-15",
    "2026-11-15 12:00:00Z",
    "2026-13-15T12:00:00Z",
    "12:00",
    "2026-11-15T12:00:00",
  ])("refuses %j", (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  it("adds", () => {
    expect(addMs(noon, 13) - noon).toBe(13);
  });
});
