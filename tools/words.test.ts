/** Which words are found in comments and in messages; tidy.test.ts checks the packages. */
import { expect, it } from "vitest";
import { unclearMessages, unclearWords } from "./words.ts";

const found = (text: string, allowed?: ReadonlySet<string>): readonly string[] =>
  unclearWords("a.ts", text, allowed).map(({ word }) => word);

it.each([
  ["a doc comment", "/** Places the binding anew. */", ["anew"]],
  ["a comment of several lines", "/**\n * 1. Whoever asks\n * is told.\n */", ["Whoever", "told"]],
  ["the end of a line", "place(); // the policy says so", ["says"]],
  ["a phrase over two lines of a doc comment", "/**\n * It looks\n * at a key.\n */", ["looks at"]],
  ["a phrase over two line comments", "// A key is looked\n// at once.", ["looked at"]],
  ["a second sentence", "// It waits. Nobody comes.", ["Nobody"]],
  ["a sentence that also names a person", "// A person asks, and the binding says no.", ["says"]],
  ["a comment after a regular expression", 'const a = /["/*]/; // somebody', ["somebody"]],
  ["a comment in a template", "`${/* who */ a}`", ["who"]],
])("are found in %s", (_name, text, words) => {
  expect(found(text)).toEqual(words);
});

it.each([
  ["code", "const who = { ...anew, says: 1 };"],
  ["a string", 'throw new Error("somebody // says no");'],
  ["a template", "`nobody /* looks at */ ${a}`"],
  ["backticks", "/** Divided again (`anew`). */"],
  ["a longer word", "// The whole essay, retold, whose words."],
  ["a person", "// For people who ask, a user, who edits it, and what an operator has said."],
])("are not found in %s", (_name, text) => {
  expect(found(text)).toEqual([]);
});

it("are allowed in a sentence that is listed, and in no other", () => {
  const text = "// The owner says so. The binding says so.";
  expect(found(text)).toEqual(["says", "says"]);
  expect(unclearWords("a.ts", text, new Set(["The owner says so."]))).toMatchObject([
    { line: 1, word: "says", sentence: "The binding says so." },
  ]);
});

it("come with the line of their comment", () => {
  expect(unclearWords("a.ts", "\n\nf();\n  // nobody")).toMatchObject([{ line: 4 }]);
});

it.each([
  ["a message", 'throw new Error("the binding says no");', ["says"]],
  ["a template, around what is put in", "`somebody took ${what} and left ${name}`", ["somebody"]],
  ["a template of several lines", "`it looks\n  at ${name}`", ["looks at"]],
  ["what is put into a template", '`${isIt ? "nobody does it" : ""}`', ["nobody"]],
  ["a property", 'const texts = { Held: "It was told to wait." };', ["told"]],
])("are found in %s", (_name, text, words) => {
  expect(unclearMessages("a.ts", text).map(({ word }) => word)).toEqual(words);
});

it.each([
  ["a comment", "// somebody says no"],
  ["a word alone, which is a name", 'const key = "says"; get("nobody");'],
  ["backticks in a message", 'print("run `lifeboat explain --who NAME`");'],
  ["what is put in", "`run ${who} again`"],
  ["a person", 'print("a person has said that it goes");'],
])("are not found in messages of %s", (_name, text) => {
  expect(unclearMessages("a.ts", text)).toEqual([]);
});
