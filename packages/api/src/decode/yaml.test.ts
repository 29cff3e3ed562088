import { describe, expect, test } from "vitest";
import type { Json } from "../json.ts";
import { encodeYaml } from "./encode-yaml.ts";
import recorded from "./fixtures/yaml.json" with { type: "json" };
import { DecodeError, TooLargeError } from "./json.ts";
import { MAX_YAML_LENGTH } from "./limits.ts";
import { decodeYaml, decodeYamlInSteps } from "./yaml.ts";

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

  test("a text that is too long, or has too many words, is refused before anything is made of it", () => {
    const long = `a: ${"x".repeat(MAX_YAML_LENGTH)}`;
    expect(() => decodeYaml(long)).toThrow(TooLargeError);
    expect(problemOf(long)).toBe(
      "the YAML document is longer than 256 KiB; as JSON it may be larger",
    );
    const words = (lines: number): string => `a:\n${"- a\n".repeat(lines)}`;
    expect(decodeYaml(words(3000)).value).toEqual({ a: Array(3000).fill("a") });
    expect(() => decodeYaml(words(5000))).toThrow(TooLargeError);
    expect(problemOf(words(5000))).toBe(
      "the YAML document has more than 16000 words and signs; as JSON it may be larger",
    );
  });

  test("JSON is not bound by what YAML costs", () => {
    const text = JSON.stringify({ a: "x".repeat(MAX_YAML_LENGTH), b: Array(20_000).fill(1) });
    expect(decodeYaml(text).value).toEqual(JSON.parse(text));
  });

  test.each([
    [
      "brackets",
      "]".repeat(200_000),
      "yaml: line 1: Unexpected flow-seq-end token in YAML document",
    ],
    ["one bracket", "a: b\n]", "yaml: line 2: Unexpected flow-seq-end token in YAML stream"],
    ["commas", `[${",".repeat(10_000)}]`, "yaml: line 1: Unexpected , in flow sequence"],
    ["a quote", 'a: 1\nb: "c', 'yaml: line 2: Missing closing "quote'],
  ])("only the first problem of a text is looked for: %s", (_, text, message) => {
    expect(problemOf(text)).toContain(message);
  });

  test("it is read in pieces", () => {
    const steps = decodeYamlInSteps(`a:\n${"- a\n".repeat(3000)}`);
    let pieces = 1;
    while (steps.next().done !== true) pieces += 1;
    expect(pieces).toBeGreaterThan(8);
  });

  test("many repeated keys: a hundred, with the beginning of each", () => {
    const key = "x".repeat(900);
    const lines = Array.from({ length: 300 }, (_, i) => `  k${i}: 1\n  k${i}: 2\n`).join("");
    const { duplicateFields } = decodeYaml(`${key}:\n${lines}`);
    expect(duplicateFields).toHaveLength(100);
    expect(duplicateFields[0]).toBe(`${"x".repeat(512)}....k0`);
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
