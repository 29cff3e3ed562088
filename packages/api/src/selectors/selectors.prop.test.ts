import fc from "fast-check";
import { expect, test } from "vitest";
import { formatFieldSelector, parseFieldSelector } from "./field-selector.ts";
import {
  formatLabelSelector,
  type LabelRequirement,
  matchesLabels,
  parseLabelSelector,
} from "./label-selector.ts";

const words = fc.constantFrom("a", "b", "c", "in", "notin", "x-1");
const values = fc
  .uniqueArray(words, { minLength: 1, maxLength: 3 })
  .map((items) => items.toSorted());
const requirements: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({
    key: words,
    operator: fc.constantFrom("=", "==", "!="),
    values: words.map((w) => [w]),
  }),
  fc.record({ key: words, operator: fc.constantFrom("in", "notin"), values }),
  fc.record({ key: words, operator: fc.constantFrom("exists", "!"), values: fc.constant([]) }),
  fc.record({
    key: words,
    operator: fc.constantFrom("gt", "lt"),
    values: fc.integer({ min: 0 }).map((n) => [String(n)]),
  }),
);

test("a label selector that is written and read again is the same", () => {
  fc.assert(
    fc.property(fc.uniqueArray(requirements, { selector: (item) => item.key }), (list) => {
      const sorted = list.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      expect(parseLabelSelector(formatLabelSelector(sorted))).toEqual(sorted);
    }),
  );
});

test("an operator and its negation never agree", () => {
  const labels = fc.dictionary(words, words);
  fc.assert(
    fc.property(words, values, labels, (key, list, set) => {
      const matches = (operator: LabelRequirement["operator"]): boolean =>
        matchesLabels([{ key, operator, values: list }], set);
      expect(matches("in")).toBe(!matches("notin"));
      expect(matches("exists")).toBe(!matches("!"));
    }),
  );
});

test("a field selector with any value is written and read again unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (value) => {
      const terms = [{ field: "metadata.name", operator: "=" as const, value }];
      expect(parseFieldSelector(formatFieldSelector(terms))).toEqual(terms);
    }),
  );
});
