import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from "./quantity.ts";

const quantities: fc.Arbitrary<Quantity> = fc.record({
  nanos: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
  format: fc.constantFrom("DecimalSI", "BinarySI", "DecimalExponent"),
});

const texts = fc
  .tuple(
    fc.constantFrom("", "-", "+"),
    fc.stringMatching(/^[0-9]{0,22}(\.[0-9]{0,12})?$/),
    fc.constantFrom("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Gi", "Ei", "e3", "E-2"),
  )
  .map((parts) => parts.join(""));

test("formatting loses nothing", () => {
  fc.assert(
    fc.property(quantities, (quantity) => {
      const binaryTooLarge = quantity.format === "BinarySI" && quantity.nanos > 10n ** 27n;
      fc.pre(!binaryTooLarge);
      expect(parseQuantity(formatQuantity(quantity))?.nanos).toBe(quantity.nanos);
    }),
  );
});

test("the canonical form of a canonical form is itself, and the same amount", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const canonical = canonicalQuantity(text);
      fc.pre(canonical !== undefined);
      expect(canonicalQuantity(canonical)).toBe(canonical);
      expect(parseQuantity(canonical)?.nanos).toBe(parseQuantity(text)?.nanos);
    }),
  );
});

test("adding and taking away again changes no amount", () => {
  fc.assert(
    fc.property(quantities, quantities, (a, b) => {
      expect(compareQuantities(subtractQuantities(addQuantities(a, b), b), a)).toBe(0);
    }),
  );
});
