import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import {
  compileColumnPath,
  compileJsonPath,
  formatJsonPathResults,
  JsonPathError,
} from "./jsonpath.ts";

const pieces = fc.array(
  fc.constantFrom(
    ...Array.from("{}[]().,:*?@$'\"\\- é\n"),
    "..",
    ".a",
    ".b",
    "[0]",
    "[-1:]",
    "[?(@.a",
    "==",
    ")]",
    "range ",
    "end",
    "1",
    "__proto__",
  ),
  { maxLength: 14 },
);

const DATA: Json = {
  a: [
    { a: 1, b: "x" },
    { a: null, b: [true, 2.5] },
  ],
  b: { a: { b: "y" } },
};

test("any text compiles and runs, or is refused as a JSONPath", () => {
  fc.assert(
    fc.property(pieces, fc.boolean(), (parts, allowMissingKeys) => {
      const text = parts.join("");
      try {
        const path = compileJsonPath(text, { allowMissingKeys });
        expect(formatJsonPathResults(path.evaluate(DATA))).toBeTypeOf("string");
      } catch (error) {
        expect(error).toBeInstanceOf(JsonPathError);
      }
    }),
    { numRuns: 100_000 },
  );
});

test("a column is the first value its template finds", () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const text = parts.join("");
      let expected: Json | undefined;
      let found: Json | undefined;
      try {
        const path = compileJsonPath(`{${text}}`, { allowMissingKeys: true });
        found = compileColumnPath(text)(DATA);
        expected = path.evaluate(DATA)[0]?.[0];
      } catch (error) {
        expect(error).toBeInstanceOf(JsonPathError);
      }
      expect(found).toEqual(expected);
    }),
    { numRuns: 50_000 },
  );
});
