import { describe, expect, test } from "vitest";
import { Refused } from "../status.ts";
import { formatFieldSelector, matchesFields, parseFieldSelector } from "./field-selector.ts";
import recorded from "./fixtures/selectors.json" with { type: "json" };
import {
  formatLabelSelector,
  labelSelectorFrom,
  type LabelSelector,
  matchesLabels,
  parseLabelSelector,
  validateLabelSelector,
} from "./label-selector.ts";

interface Question {
  readonly ask: string;
  readonly text?: string;
  readonly document?: LabelSelector;
  readonly labels: Readonly<Record<string, string>>;
}
interface Answer {
  readonly ok?: string;
  readonly matches?: boolean;
  readonly error?: string;
  readonly errors?: readonly string[];
}

/** Recorded from the real libraries: tools/api-fixtures. */
const cases = recorded as unknown as readonly {
  readonly question: Question;
  readonly answer: Answer;
}[];
const asked = (ask: string) => cases.filter((item) => item.question.ask === ask);

/** Go orders requirements on the same key as it likes. */
function sortedTerms(selector: string | undefined): readonly string[] | undefined {
  return selector?.split(/,(?![^(]*\))/).toSorted();
}

function refusalOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof Refused && error.status.code === 400) return error.message;
    throw error;
  }
}

describe("label selectors agree with Go", () => {
  test.each(asked("labels"))("$question.text", ({ question: { text = "", labels }, answer }) => {
    expect(refusalOf(() => parseLabelSelector(text))).toBe(answer.error);
    if (answer.error !== undefined) return;
    const requirements = parseLabelSelector(text);
    expect(sortedTerms(formatLabelSelector(requirements))).toEqual(sortedTerms(answer.ok));
    expect(matchesLabels(requirements, labels)).toBe(answer.matches);
  });

  test.each(asked("labelSelector"))(
    "$question.document",
    ({ question: { document = {}, labels }, answer }) => {
      const errors = validateLabelSelector(document, "spec.selector").map(
        (error) => `${error.reason}: ${error.field}: ${error.message}`,
      );
      expect(errors.toSorted()).toEqual(answer.errors);
      if (errors.length > 0) return;
      const requirements = labelSelectorFrom(document);
      expect(matchesLabels(requirements, labels)).toBe(answer.matches);
      expect(sortedTerms(formatLabelSelector(requirements))).toEqual(sortedTerms(answer.ok));
    },
  );
});

describe("field selectors agree with Go", () => {
  test.each(asked("fields"))("$question.text", ({ question: { text = "", labels }, answer }) => {
    expect(refusalOf(() => parseFieldSelector(text))).toBe(answer.error);
    if (answer.error !== undefined) return;
    const terms = parseFieldSelector(text);
    expect(formatFieldSelector(terms)).toBe(answer.ok);
    expect(matchesFields(terms, (field) => labels[field] ?? "")).toBe(answer.matches);
  });
});

test("labels are looked up among own properties only", () => {
  expect(matchesLabels(parseLabelSelector("constructor"), {})).toBe(false);
  expect(matchesLabels(parseLabelSelector("!toString"), undefined)).toBe(true);
});

test("an expression with an unknown operator matches nothing", () => {
  const selector = { matchExpressions: [{ key: "a", operator: "toString", values: ["b"] }] };
  expect(matchesLabels(labelSelectorFrom(selector), { a: "b" })).toBe(false);
});

test("a selector with a hundred thousand mistakes is answered with all of them", () => {
  const values = Array.from({ length: 200_000 }, () => "-");
  const selector = { matchExpressions: [{ key: "a", operator: "In", values }] };
  expect(validateLabelSelector(selector, "spec.selector")).toHaveLength(200_000);
});
