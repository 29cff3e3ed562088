import { describe, expect, test } from "vitest";
import type { Json } from "../json.ts";
import recorded from "./fixtures/jsonpath.json" with { type: "json" };
import {
  compileColumnPath,
  compileJsonPath,
  formatJsonPathResults,
  JsonPathError,
  relaxJsonPath,
} from "./jsonpath.ts";

interface Question {
  readonly text: string;
  readonly document: Json;
  readonly allowMissingKeys: boolean;
}
interface Answer {
  readonly ok?: string;
  readonly parseError?: string;
  readonly error?: string;
}

/** Recorded from the real libraries: tools/api-fixtures. */
const cases = recorded as unknown as readonly {
  readonly question: Question;
  readonly answer: Answer;
}[];

function problemOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof JsonPathError) return error.message;
    throw error;
  }
}

describe("templates print what kubectl prints", () => {
  test.each(cases)("$question.text", ({ question, answer }) => {
    const { text, document, allowMissingKeys } = question;
    const compile = () => compileJsonPath(text, { allowMissingKeys });
    expect(problemOf(compile)).toBe(answer.parseError);
    if (answer.parseError !== undefined) return;
    const path = compile();
    expect(problemOf(() => path.evaluate(document))).toBe(answer.error);
    if (answer.error === undefined)
      expect(formatJsonPathResults(path.evaluate(document))).toBe(answer.ok);
  });
});

test("recursive descent and wildcards go through objects in their own order", () => {
  const data = { b: { name: "1" }, a: [{ name: "2" }, { x: { name: "3" } }] };
  const print = (text: string): string =>
    formatJsonPathResults(compileJsonPath(text, { allowMissingKeys: true }).evaluate(data));
  expect(print("{..name}")).toBe("1 2 3");
  expect(print("{.*.name}")).toBe("1");
  expect(print("{.a[*].name}")).toBe("2");
});

test.each([
  ["metadata.name", "{.metadata.name}"],
  [".metadata.name", "{.metadata.name}"],
  ["{metadata.name}", "{.metadata.name}"],
  ["{.metadata.name}", "{.metadata.name}"],
  ["", ""],
])("the relaxed form %s means %s", (text, template) => {
  expect(relaxJsonPath(text)).toBe(template);
});

test.each(["{.a}{.b}", "{.a", "a}", "{}"])("the relaxed form %s is refused", (text) => {
  expect(problemOf(() => relaxJsonPath(text))).toMatch(/^unexpected path string/);
});

describe("columns", () => {
  const object = {
    spec: { replicas: 3, "x.y": "dotted" },
    status: { conditions: [{ type: "Ready", status: "True" }], phase: null },
  };

  test.each([
    [".spec.replicas", 3],
    [String.raw`.spec.x\.y`, "dotted"],
    [".status.phase", null],
    ['.status.conditions[?(@.type=="Ready")].status', "True"],
    [".status.conditions[0].type", "Ready"],
    [".status.conditions[5].type", undefined],
    [".spec.nope.deeper", undefined],
    [".spec.replicas.deeper", undefined],
    [".constructor", undefined],
    [".__proto__", undefined],
    [".spec[*]", undefined],
  ])("%s finds %j", (path, value) => {
    expect(compileColumnPath(path)(object)).toEqual(value);
  });

  test("a path that is no path is refused when it is compiled", () => {
    expect(problemOf(() => compileColumnPath(".a["))).toBe("unterminated array");
  });
});

describe("bounds", () => {
  test("a template that visits too much is stopped", () => {
    const list = Array.from({ length: 2000 }, () => 1);
    const data = { a: list.map(() => list) };
    const path = compileJsonPath("{.a[*][*]}");
    expect(problemOf(() => path.evaluate(data as unknown as Json))).toBe(
      "too many values to visit",
    );
  });

  test("nested filters and ranges beyond reason are refused", () => {
    const filter = `{${"[?(@.a".repeat(100)}${")]".repeat(100)}}`;
    expect(problemOf(() => compileJsonPath(filter))).toBeDefined();
    const ranges = "{range .a[*]}".repeat(100);
    expect(problemOf(() => compileJsonPath(ranges))).toBe("template is nested too deeply");
  });

  test("a huge template is refused at once", () => {
    expect(problemOf(() => compileJsonPath("{".repeat(70_000)))).toBe("template is too long");
  });
});
