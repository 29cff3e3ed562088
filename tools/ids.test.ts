/** Which ids are defined and cited; on the whole repository they are checked by tidy.test.ts. */
import { expect, it } from "vitest";
import { citedIds, definedIds, PROMISES, RULES } from "./ids.ts";

const cited = (file: string, text: string): readonly string[] =>
  citedIds(file, text).map(({ id }) => id);

it.each([
  ["a comment", "a.ts", "/** Waits (D9). */", ["D9"]],
  ["the end of a line", "a.ts", "wait(); // as D33 says", ["D33"]],
  ["a list", "a.ts", "// (C1, O-graceful-2, L-4)", ["C1", "O-graceful-2", "L-4"]],
  ["both ends of a range", "a.ts", "// D2-D4 and D5–D7", ["D2", "D4", "D5", "D7"]],
  ["the title of a test", "a.ts", 'it("waits (F9)", () => {});', ["F9"]],
  ["a promise", "a.ts", 'promise: "O-state-1: it stays",', ["O-state-1"]],
  ["a template", "a.ts", "`breaks D1 of ${T1} things`", ["D1"]],
  ["a family that does not exist", "a.ts", "// rounded up (Q7)", ["Q7"]],
  ["a document", "a.md", "As D1 and `F3` say.", ["D1", "F3"]],
  ["the end of a sentence", "a.md", "See D1. Then D2: more.", ["D1", "D2"]],
  ["a script", "a.sh", "A1=2 # as D3 says", ["D3"]],
])("cites in %s", (_name, file, text, ids) => {
  expect(cited(file, text)).toEqual(ids);
});

it.each([
  ["a variable", "a.ts", "const T1 = M1 + T2;"],
  ["a variable in a template", "a.ts", "`True ${T1} and ${f(A2)}`"],
  ["a time", "a.ts", '"2026-01-01T00:00:00Z" // Z07:00'],
  ["a set of characters", "a.ts", "// [a-zA-Z0-9] and A1-9"],
  ["a longer word", "a.ts", "// K8s, E2E, SHA1, UTF8, D10x, x-A1, 0xF3"],
  ["an engine", "a.ts", "// V8 compiles"],
  ["a path or an anchor", "a.md", "[x](docs/D1/page.md#F2)"],
  ["a version", "a.md", "A1.2 and B2:30"],
])("does not cite in %s", (_name, file, text) => {
  expect(cited(file, text)).toEqual([]);
});

it("tells the line", () => {
  expect(citedIds("a.ts", "\n\n/*\n * D99\n */")).toEqual([{ id: "D99", line: 4 }]);
});

it("defines rules by headings", () => {
  expect(definedIds(RULES, "## Rules\n\n### D1 One\n\nD2 is cited.\n\n### D32 Two\n")).toEqual([
    "D1",
    "D32",
  ]);
});

it("defines everything else by the first cell of a row", () => {
  const rows = [
    "| Id | Promise |",
    "| A1 | One (B1). |",
    "| A1 | Again. |",
    "| C8, L-4 | Two. |",
    "| O-state-1 | Three. |",
    "| D7 | A rule. |",
    "| — | Four. |",
    "| F3 | Dies. |",
  ];
  expect(definedIds(PROMISES, rows.join("\n"))).toEqual(["A1", "C8", "L-4", "O-state-1", "F3"]);
});

it("defines nothing elsewhere", () => {
  expect(definedIds("docs/glossary.md", "### D1\n| A1 | x |")).toEqual([]);
});
