import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalQuantity, parseQuantity } from "./quantity.ts";

test("any text is either refused or has a stable canonical form", () => {
  const alphabet = fc.constantFrom(...Array.from("0123456789.+-eEinumkKMGTP x"));
  fc.assert(
    fc.property(fc.string({ unit: alphabet, maxLength: 24 }), (text) => {
      const canonical = canonicalQuantity(text);
      expect(canonical === undefined).toBe(parseQuantity(text) === undefined);
      if (canonical !== undefined) expect(canonicalQuantity(canonical)).toBe(canonical);
    }),
    { numRuns: 100_000 },
  );
});
