import { describe, expect, test } from "vitest";
import type { Json } from "../json.ts";
import { encodeYaml } from "./encode-yaml.ts";
import recorded from "./fixtures/yaml.json" with { type: "json" };
import { DecodeError } from "./json.ts";
import { decodeYaml } from "./yaml.ts";

/** Recorded from the real libraries: tools/api-fixtures. */
const cases = recorded as readonly {
  readonly question: { readonly ask: string; readonly text?: string; readonly document?: unknown };
  readonly answer: { readonly ok?: unknown; readonly error?: string };
}[];
const asked = (ask: string) => cases.filter((item) => item.question.ask === ask);

function problemOf(text: string): string {
  try {
    decodeYaml(text);
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
  throw new Error("the text was accepted");
}

describe("YAML means what it means to kubectl", () => {
  test.each(asked("yaml"))("$question.text", ({ question: { text = "" }, answer }) => {
    if (answer.error === undefined) expect(decodeYaml(text).value).toEqual(answer.ok);
    else expect(problemOf(text)).toMatch(/^yaml: /);
  });
});

describe("YAML is written as kubectl writes it", () => {
  test.each(asked("toYaml"))("$question.document", ({ question, answer }) => {
    const document = question.document as Json;
    expect(encodeYaml(document)).toBe(answer.ok);
    expect(decodeYaml(encodeYaml(document)).value).toEqual(document);
  });
});

describe("guards", () => {
  test("duplicate keys are named like those of JSON", () => {
    const text = "spec:\n  containers:\n  - name: a\n    name: b\nspec: {}\n";
    expect(decodeYaml(text)).toEqual({
      value: { spec: {} },
      duplicateFields: ["spec.containers[0].name", "spec"],
    });
  });

  test("JSON is YAML, with its duplicate keys", () => {
    expect(decodeYaml('{"a":{"b":1,"b":2}}')).toEqual({
      value: { a: { b: 2 } },
      duplicateFields: ["a.b"],
    });
  });

  test.each([
    [
      "a: 9007199254740993",
      "yaml: integer 9007199254740993 is beyond the supported range of ±(2^53 - 1) at a",
    ],
    [
      "a: 0xffffffffffffffff",
      "yaml: integer 0xffffffffffffffff is beyond the supported range of ±(2^53 - 1) at a",
    ],
    ["__proto__: {}", 'yaml: key "__proto__" is not allowed'],
    ['{"__proto__": {}}', 'yaml: key "__proto__" is not allowed'],
    ["a: 1\n---\nb: 2", "yaml: more than one document"],
    ["a: &x [*x]", "yaml: exceeded max depth"],
    ["a: !!binary aGk=", "yaml: !!binary is not supported"],
    ["<<: 1", "yaml: map merge requires map or sequence of maps as the value"],
  ])("%j is refused", (text, message) => {
    expect(problemOf(text)).toBe(message);
  });

  test("deep nesting is refused, in flow and in block style", () => {
    expect(problemOf("[".repeat(300) + "]".repeat(300))).toBe("yaml: exceeded max depth");
    expect(problemOf(`${"- ".repeat(300)}x`)).toBe("yaml: exceeded max depth");
    expect(problemOf("[".repeat(10_000))).toBe("yaml: exceeded max depth");
  });

  test("aliases that multiply are stopped", () => {
    const levels = Array.from({ length: 12 }, (_, i) =>
      i === 0
        ? "a0: &a0 [x,x,x,x,x,x,x,x]"
        : `a${i}: &a${i} [${Array(8)
            .fill(`*a${i - 1}`)
            .join(",")}]`,
    );
    expect(problemOf(levels.join("\n"))).toBe("yaml: document contains excessive aliasing");
  });
});

test("keys that only look like a merge are quoted", () => {
  expect(encodeYaml({ "<<": 1 })).toBe('"<<": 1\n');
  expect(decodeYaml('"<<": 1').value).toEqual({ "<<": 1 });
});
