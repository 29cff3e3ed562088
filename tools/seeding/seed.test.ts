/** Faults are put where their names say, whatever the lines look like. */
import { describe, expect, it } from "vitest";
import { undeclaredNames } from "./names.ts";
import { markersOf, type Place, putIn } from "./seed.ts";

const source = `
export const LIMIT = 10;
const plugin = { name: "p", passes: (one) => one > LIMIT };
export function half(one, by = 2) {
  const { name: _name } = plugin;
  const result = one / by;
  // seed: small
  if (result < 1) return 0;
  return result;
}
export async function answer() {
  return 42;
}
class Counter {
  #count = 0;
  get count() {
    return this.#count;
  }
  #add(by) {
    // seed: adds
    // why it adds
    this.#count += by;
    return { by: by + 0, count: this.#count };
  }
  add(by) {
    return this.#add(by).by;
  }
}
export const run = async () => {
  const counter = new Counter();
  const added = [1, 2].map((one) => counter.add(one));
  const shape = { half: half(8), quarter: half(2, 4), answer: await answer() };
  return { added, count: counter.count, shape, isOver: plugin.passes(11) };
};
`;
const file = "x.ts";

const seeded = (place: Place, replace: string): string =>
  putIn({ file, replace, ...place }, source);

async function run(text: string): Promise<unknown> {
  const url = `data:text/javascript,${encodeURIComponent(text)}`;
  const program = (await import(/* @vite-ignore */ url)) as {
    readonly run: () => Promise<unknown>;
  };
  return program.run();
}

const before = {
  added: [1, 2],
  count: 3,
  shape: { half: 4, quarter: 0, answer: 42 },
  isOver: true,
};

describe("a fault", () => {
  it.each<[string, Place, string, object]>([
    ["the value of a constant", { symbol: "LIMIT" }, "original + 1", { isOver: false }],
    ["a property", { symbol: "plugin.passes" }, "() => false", { isOver: false }],
    [
      "a function",
      { symbol: "half" },
      "() => 7",
      { shape: { ...before.shape, half: 7, quarter: 7 } },
    ],
    [
      "a function that calls what it was",
      { symbol: "half" },
      "(one, ...all) => original(one, ...all) + original(one) * 10",
      { shape: { ...before.shape, half: 44, quarter: 10 } },
    ],
    [
      "an async function",
      { symbol: "answer" },
      "async () => (await original()) + 1",
      { shape: { ...before.shape, answer: 43 } },
    ],
    [
      "a variable in a function",
      { symbol: "half.result" },
      "one",
      { shape: { ...before.shape, half: 8, quarter: 2 } },
    ],
    ["a field", { symbol: "Counter.#count" }, "5", { count: 8 }],
    ["a getter", { symbol: "Counter.count" }, "() => original() * 2", { count: 6 }],
    [
      "a method",
      { symbol: "Counter.#add" },
      "(by) => original(by + 1)",
      { added: [2, 3], count: 5 },
    ],
    ["a property in a method", { symbol: "Counter.#add.by" }, "9", { added: [9, 9] }],
    ["a statement", { marked: "adds" }, "this.#count -= by;", { count: -3 }],
    ["no statement", { marked: "adds" }, "", { count: 0 }],
    [
      "a statement under a condition",
      { marked: "adds" },
      "if (by > 1) { original; }",
      { count: 2 },
    ],
    ["a condition", { condition: "small" }, "false", { shape: { ...before.shape, quarter: 0.5 } }],
    [
      "more of a condition",
      { condition: "small" },
      "original || one > 7",
      { shape: { ...before.shape, half: 0 } },
    ],
  ])("replaces %s", async (_, place, replace, after) => {
    expect(await run(source)).toEqual(before);
    expect(await run(seeded(place, replace))).toEqual({ ...before, ...after });
  });

  it("keeps the types of a function that it calls", () => {
    const typed = "export async function f<T>(a: T, b?: () => T): Promise<T> { return a; }";
    const changed = putIn({ file, symbol: "f", replace: "(a) => original(a)" }, typed);
    const was = "(async <T>(a: T, b?: () => T): Promise<T> => { return a; })";
    expect(changed).toBe(`export async function f(...all) { return ((a) => ${was}(a))(...all); }`);
    expect(undeclaredNames(file, changed)).toEqual([]);
  });

  it("does not depend on how lines are written", () => {
    const loose = source.replace(
      "if (result < 1) return 0;",
      "if (\n  result\n  < 1\n) {\n return 0; }",
    );
    const changed = putIn({ file, condition: "small", replace: "false" }, loose);
    expect(changed).toContain("if (\n  (false)\n)");
  });

  it.each<[string, Place, string]>([
    ["a name that is not there", { symbol: "third" }, "1"],
    ["a name that is only deeper inside", { symbol: "result" }, "1"],
    ["a name that a pattern reads", { symbol: "half.name" }, "1"],
    ["a marker that is not there", { marked: "large" }, ""],
    ["a statement without a condition", { condition: "adds" }, "true"],
    ["what does not parse", { symbol: "LIMIT" }, "1 +"],
    ["a class", { symbol: "Counter" }, "1"],
  ])("that names %s is an error", (_, place, replace) => {
    expect(() => seeded(place, replace)).toThrow(/x\.ts/);
  });

  it("whose marker or name is there twice is an error", () => {
    const twice = source.replace("  return result;", "  // seed: small\n  return result;");
    expect(() => putIn({ file, marked: "small", replace: "" }, twice)).toThrow("2 times");
    expect(() =>
      putIn({ file, symbol: "A", replace: "" }, "{ const A = 1; } { const A = 2; }"),
    ).toThrow("2 times");
  });

  it("whose marker has nothing after it is an error", () => {
    const moved = "function f() { g();\n // seed: last\n}\ng();";
    expect(() => putIn({ file, marked: "last", replace: "" }, moved)).toThrow("nothing to replace");
  });
});

it("markers are comments, not texts", () => {
  expect(markersOf(file, source)).toEqual(["small", "adds"]);
  expect(markersOf(file, 'const x = "// seed: none";')).toEqual([]);
});

describe("names that are not declared", () => {
  it.each([
    ["none in a sound source", source, []],
    ["a name that was renamed", source.replace("const result", "const outcome"), ["result"]],
    [
      "a type is no value",
      'import { type A, B } from "x"; interface C {} const b: C = B; A(b); C;',
      ["A", "C"],
    ],
    ["a name of another function", `${source} result;`, ["result"]],
    [
      "names of patterns",
      "const { a: [b], ...c } = {}; try {} catch ({ d }) { a; b; c; d; }",
      ["a"],
    ],
    ["names of loops", "for (const i of [1]) i; for (let j = 0; ; ) j; i; j;", ["i", "j"]],
    [
      "keys and members",
      "const a = { b: 1, c() {} }; a.b; a?.c; a[d]; class E { f = g; }",
      ["d", "g"],
    ],
    ["what Node knows", "console.log(Math.PI, globalThis, undefined)", []],
  ])("%s", (_, text, names) => {
    expect(undeclaredNames(file, text)).toEqual(names);
  });

  it("a private name that the class does not have is an error", () => {
    expect(() => undeclaredNames(file, "class A { b() { return this.#c; } }")).toThrow("#c");
  });
});
