import { describe, expect, test } from "vitest";
import recorded from "./fixtures/quantity.json" with { type: "json" };
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityMilliValue,
  quantityValue,
  subtractQuantities,
} from "./quantity.ts";

interface Question {
  readonly ask: "quantity" | "quantities";
  readonly text: string;
  readonly other?: string;
}
interface Answer {
  readonly ok?: string;
  readonly error?: string;
  readonly computed?: string;
  readonly format?: string;
  readonly value?: string;
  readonly milli?: string;
  readonly compare?: number;
  readonly sum?: string;
  readonly difference?: string;
}

/** Recorded from the real libraries: tools/api-fixtures. */
const cases = recorded as readonly { readonly question: Question; readonly answer: Answer }[];

function quantity(text: string): Quantity {
  const parsed = parseQuantity(text);
  if (parsed === undefined) throw new Error(`${text} is no quantity`);
  return parsed;
}

/** Go wraps around beyond int64; our answer stays exact. */
function withinInt64(value: bigint): boolean {
  return value === BigInt.asIntN(64, value);
}

describe("quantities agree with Go", () => {
  const single = cases.filter((item) => item.question.ask === "quantity");
  test.each(single)("$question.text", ({ question: { text }, answer }) => {
    expect(canonicalQuantity(text)).toBe(answer.ok);
    const parsed = parseQuantity(text);
    if (answer.error !== undefined) {
      expect(parsed).toBeUndefined();
      return;
    }
    expect(formatQuantity(quantity(text))).toBe(answer.computed);
    const value = quantityValue(quantity(text));
    const milli = quantityMilliValue(quantity(text));
    if (withinInt64(value)) expect(value.toString()).toBe(answer.value);
    if (withinInt64(milli)) expect(milli.toString()).toBe(answer.milli);
  });

  const pairs = cases.filter((item) => item.question.ask === "quantities");
  test.each(pairs)("$question.text and $question.other", ({ question, answer }) => {
    const a = quantity(question.text);
    const b = quantity(question.other ?? "");
    expect(compareQuantities(a, b)).toBe(answer.compare);
    expect(formatQuantity(addQuantities(a, b))).toBe(answer.sum);
    expect(formatQuantity(subtractQuantities(a, b))).toBe(answer.difference);
  });
});

test("amounts beyond the largest decimal suffix keep it instead of losing it", () => {
  expect(canonicalQuantity("1000000E")).toBe("1000000E");
});

test.each(["1".repeat(129), "1e1001", "1e-1001", `1e${"9".repeat(50)}`])(
  "a text that would cost too much is refused: %s",
  (text) => {
    expect(canonicalQuantity(text)).toBeUndefined();
  },
);

test("the largest accepted exponent still computes at once", () => {
  expect(compareQuantities(quantity("1e1000"), quantity("9e999"))).toBe(1);
  expect(canonicalQuantity("12345678901234567890e1000")).toBe("123456789012345678900e999");
});
