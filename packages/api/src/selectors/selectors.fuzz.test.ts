import fc from "fast-check";
import { expect, test } from "vitest";
import { Refused } from "../status.ts";
import { formatFieldSelector, parseFieldSelector } from "./field-selector.ts";
import { formatLabelSelector, parseLabelSelector } from "./label-selector.ts";

const pieces = fc.array(
  fc.constantFrom("a", "b/c", "in", "notin", "1", ...Array.from("=!(),<> \t\\é\0")),
  { maxLength: 12 },
);

/** Reads and writes twice: either it is refused as a bad request, or the second round changes nothing. */
function expectStable(text: string, rewrite: (text: string) => string): void {
  let once: string;
  try {
    once = rewrite(text);
  } catch (error) {
    expect(error).toBeInstanceOf(Refused);
    return;
  }
  expect(rewrite(once)).toBe(once);
}

test("any text is a label selector or a bad request", () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      expectStable(parts.join(""), (text) => formatLabelSelector(parseLabelSelector(text)));
    }),
    { numRuns: 100_000 },
  );
});

test("any text is a field selector or a bad request", () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      expectStable(parts.join(""), (text) => formatFieldSelector(parseFieldSelector(text)));
    }),
    { numRuns: 100_000 },
  );
});
