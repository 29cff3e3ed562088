import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

test("lines come out whole, however the bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "))),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const splitter = new LineSplitter(1e6);
        const got: string[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = cuts[i % cuts.length] ?? 1;
          splitter.push(bytes.subarray(at, at + size), (line) => got.push(line));
          at += size;
        }
        expect(got).toEqual(lines);
        expect(splitter.rest()).toBe("");
      },
    ),
  );
});

test("a line beyond the limit is refused", () => {
  const splitter = new LineSplitter(10);
  splitter.push(Buffer.from("12345"), () => undefined);
  expect(() => splitter.push(Buffer.from("678901"), () => undefined)).toThrow("larger than 10");
});
