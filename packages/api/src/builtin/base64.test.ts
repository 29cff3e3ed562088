import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalBase64, encodeBase64 } from "./base64.ts";

describe("encodeBase64", () => {
  it.each([
    { bytes: [], want: "" },
    { bytes: [97], want: "YQ==" },
    { bytes: [97, 98], want: "YWI=" },
    { bytes: [97, 98, 99], want: "YWJj" },
    { bytes: [255, 254, 253, 0], want: "//79AA==" },
  ])("writes $bytes as $want", ({ bytes, want }) => {
    expect(encodeBase64(Uint8Array.from(bytes))).toBe(want);
  });

  it("writes long values whole", () => {
    for (const length of [6143, 6144, 6145, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => i % 251);
      const read = Uint8Array.from(atob(encodeBase64(bytes)), (char) => char.charCodeAt(0));
      expect(read.length === length && read.every((byte, i) => byte === bytes[i])).toBe(true);
    }
  });
});

describe("canonicalBase64", () => {
  it("takes what encodeBase64 wrote as it is", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = encodeBase64(bytes);
        expect(canonicalBase64(text)).toEqual({ ok: true, text });
      }),
    );
  });

  it("removes line breaks wherever they stand", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(), (bytes, at) => {
        const text = encodeBase64(bytes);
        const cut = at % (text.length + 1);
        const broken = `${text.slice(0, cut)}\r\n${text.slice(cut)}`;
        expect(canonicalBase64(broken)).toEqual({ ok: true, text });
      }),
    );
  });
});
