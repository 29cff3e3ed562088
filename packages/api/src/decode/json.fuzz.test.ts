import fc from "fast-check";
import { expect, test } from "vitest";
import { inspectJson } from "./inspect-json.ts";
import { DecodeError, decodeJson } from "./json.ts";

test("any text is read as JSON.parse reads it, or refused with a reason", () => {
  const pieces = fc.constantFrom(
    ...Array.from('{}[]:,"\\ tfn0129eE.+-'),
    '"a":',
    '"b":',
    "true",
    "null",
    "\\u0061",
    "é",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      let parsed: unknown;
      let parses = true;
      try {
        parsed = JSON.parse(text);
      } catch {
        parses = false;
      }
      expect(inspectJson(text, 256).problem === undefined || !parses || hasHugeNumber(text)).toBe(
        true,
      );
      try {
        expect(decodeJson(text).value).toEqual(parsed);
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
        expect(parses && !hasHugeNumber(text)).toBe(false);
      }
    }),
    { numRuns: 100_000 },
  );
});

/** The only well-formed thing these pieces can build that is refused. */
function hasHugeNumber(text: string): boolean {
  return /[0-9]{16}|e\+?[0-9]{3}/i.test(text);
}

test("valid JSON without repeated keys survives and has no duplicates", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const huge = text.includes("e+") || /[0-9]{16}/.test(text) || text.includes("__proto__");
      fc.pre(!huge);
      expect(decodeJson(text)).toEqual({ value: JSON.parse(text), duplicateFields: [] });
    }),
    { numRuns: 20_000 },
  );
});
