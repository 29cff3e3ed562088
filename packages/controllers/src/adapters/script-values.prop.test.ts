/** JSON through Lua and back. */
import type { Json } from "@lifeboat/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createInProcessScriptEngine } from "./script-in-process.ts";
import { resultsOf } from "./script-engine.suite.ts";

const engine = createInProcessScriptEngine({ instructions: 10_000_000 });

/** JSON without fields that are null, which Lua cannot hold, and without half characters, which bytes cannot. */
const json = fc.letrec<{ value: Json; list: Json; fields: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.boolean(),
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    tie("list"),
    tie("fields"),
  ),
  list: fc.array(tie("value"), { maxLength: 5 }),
  fields: fc.dictionary(fc.string({ unit: "binary" }), tie("value"), { maxKeys: 5 }),
}));

/** Copies tables, so that nothing is known of the new ones but where they stand. */
const COPY = `
  local function copy(v)
    if type(v) ~= 'table' then return v end
    local c = {}
    for k, x in pairs(v) do c[k] = copy(x) end
    return c
  end
  function F(o) return copy(o) end`;

describe("JSON through Lua", () => {
  it("is what it was when the script leaves it alone", async () => {
    await fc.assert(
      fc.asyncProperty(json.value, async (value) => {
        const [result] = await resultsOf(engine, "function F(o) return o end", [value]);
        expect(JSON.stringify(result)).toBe(JSON.stringify(value));
      }),
      { numRuns: 150 },
    );
  });

  it("is what it was when the script copies it, unless empty lists and objects share a place", async () => {
    const noEmpty = json.value.filter((value) => !/\[\]|\{\}/.test(JSON.stringify(value)));
    await fc.assert(
      fc.asyncProperty(noEmpty, async (value) => {
        const [result] = await resultsOf(engine, COPY, [value]);
        expect(JSON.stringify(result)).toBe(JSON.stringify(value));
      }),
      { numRuns: 100 },
    );
  });

  it("has the same texts as keys and as values, whatever their bytes", async () => {
    const script = "function F(o) local t = {} for k, v in pairs(o) do t[v] = k end return t end";
    const keys = fc.uniqueArray(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(keys, async (names) => {
        const given = Object.fromEntries(names.map((name) => [name, `=${name}`]));
        const [result] = await resultsOf(engine, script, [given]);
        expect(new Map(Object.entries(result as object))).toEqual(
          new Map(Object.entries(given).map(([key, value]) => [value, key])),
        );
      }),
      { numRuns: 100 },
    );
  });
});
