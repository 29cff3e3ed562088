import { describe, expect, test } from "vitest";
import type { FieldError } from "../field-error.ts";
import recorded from "./fixtures/metadata.json" with { type: "json" };
import type { NameRule } from "./names.ts";
import { type CheckedMeta, validateMetadata, validateMetadataUpdate } from "./validate-metadata.ts";

interface Question {
  readonly ask: string;
  readonly document: CheckedMeta;
  readonly patch: CheckedMeta;
  readonly namespaced: boolean;
  readonly rule: NameRule;
}

/** Recorded from the real libraries: tools/api-fixtures. */
const cases = recorded as unknown as readonly {
  readonly question: Question;
  readonly answer: { readonly errors: readonly string[] };
}[];
const asked = (ask: string) => cases.filter((item) => item.question.ask === ask);

function describeErrors(errors: readonly FieldError[]): string[] {
  return errors.map((error) => `${error.reason}: ${error.field}: ${error.message}`).toSorted();
}

describe("metadata is checked as Go checks it", () => {
  test.each(asked("metadata"))("$question.document", ({ question, answer }) => {
    const { document, namespaced, rule } = question;
    const errors = validateMetadata(document, { namespaced, nameRule: rule });
    expect(describeErrors(errors)).toEqual(answer.errors);
  });

  test.each(asked("metadataUpdate"))("an update to $question.document", ({ question, answer }) => {
    const errors = validateMetadataUpdate(question.document, question.patch);
    expect(describeErrors(errors)).toEqual(answer.errors);
  });
});

const RULES = { namespaced: true, nameRule: "dnsSubdomain" } as const;

test("a name that is generated later need not be there yet", () => {
  const meta = { generateName: "web-", namespace: "default" };
  expect(validateMetadata(meta, { ...RULES, requireName: false })).toEqual([]);
});

test.each([
  ["x", 262_144 - 1, 0],
  ["x", 262_144, 1],
  ["é", 131_071, 0],
  ["é", 131_072, 1],
  ["😀", 65_535, 0],
  ["😀", 65_536, 1],
])("annotations of %s times %i have %i problem", (sign, count, problems) => {
  const meta = { name: "a", namespace: "b", annotations: { k: sign.repeat(count) } };
  const errors = validateMetadata(meta, RULES);
  expect(errors).toHaveLength(problems);
  if (problems > 0) expect(errors[0]?.message).toBe("Too long: may not be more than 262144 bytes");
});

test("built-in kinds refuse finalizers without a domain", () => {
  const meta = { name: "a", namespace: "b", finalizers: ["mine", "a.b/c", "orphan", "kubernetes"] };
  expect(validateMetadata(meta, RULES)).toEqual([]);
  expect(validateMetadata(meta, { ...RULES, qualifiedFinalizers: true })).toEqual([
    {
      reason: "FieldValueInvalid",
      field: "metadata.finalizers[0]",
      message:
        'Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    },
  ]);
});
