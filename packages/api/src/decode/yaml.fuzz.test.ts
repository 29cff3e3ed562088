import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { encodeYaml } from "./encode-yaml.ts";
import { DecodeError } from "./json.ts";
import { decodeYaml } from "./yaml.ts";

test("what is written is read again unchanged", () => {
  const hard = fc.constantFrom(
    "yes",
    "1",
    "a: b",
    "- x",
    " x ",
    "a\nb",
    "\n",
    "# c",
    "'",
    '"',
    "é\u2028",
    "~",
  );
  const texts = fc.oneof(hard, fc.string({ unit: "grapheme" }), fc.string());
  const keys = texts.filter((text) => text !== "__proto__");
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      texts,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(keys, tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(value, (json) => {
      expect(decodeYaml(encodeYaml(json)).value).toEqual(json);
    }),
    { numRuns: 20_000 },
  );
});

test("any text is read or refused", () => {
  const pieces = fc.constantFrom(
    ...Array.from("{}[]:,-?&*!|>'\"%@`#\n\t ~<="),
    "a",
    "b: ",
    "- ",
    "\n  ",
    "*a",
    "&a ",
    "<<: ",
    "!!int ",
    "---\n",
    "1",
    "é",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 25 }), (parts) => {
      try {
        expect(JSON.stringify(decodeYaml(parts.join("")).value)).toBeTypeOf("string");
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }),
    { numRuns: 60_000 },
  );
});
