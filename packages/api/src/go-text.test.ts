import { describe, expect, it } from "vitest";
import {
  formatJsonLikeGo,
  formatLikeGo,
  goTypeOf,
  quoteLikeGo,
  quoteSignLikeGo,
} from "./go-text.ts";

describe("values as Go prints them", () => {
  it.each([
    [null, "<nil>"],
    ["a b", "a b"],
    [true, "true"],
    [1e21, "1e+21"],
    [0.000_01, "1e-05"],
    [[1, "x", null], "[1 x <nil>]"],
    [{ b: { c: [] }, a: 1 }, "map[a:1 b:map[c:[]]]"],
  ])("%j by %%v is %s", (value, text) => {
    expect(formatLikeGo(value)).toBe(text);
  });

  it.each([
    ["a<b", "a<b"],
    [{ b: "<", a: 1.5 }, '{"a":1.5,"b":"\\u003c"}'],
    [[1e-7], "[1e-7]"],
    [1e-7, "1e-07"],
  ])("%j as text or JSON is %s", (value, text) => {
    expect(formatJsonLikeGo(value)).toBe(text);
  });

  it.each([
    ['a"b\\', '"a\\"b\\\\"'],
    ["\u0007\b\t\n\v\f\r", '"\\a\\b\\t\\n\\v\\f\\r"'],
    ["\u0001\u007f", '"\\x01\\x7f"'],
    ["\u0085\u00ad\u200b\u2028", '"\\u0085\\u00ad\\u200b\\u2028"'],
    ["\u{e0001}", '"\\U000e0001"'],
    ["é 😀'", `"é 😀'"`],
  ])("%j by %%q is %s", (value, text) => {
    expect(quoteLikeGo(value)).toBe(text);
  });

  it.each([
    ["'", String.raw`'\''`],
    ['"', `'"'`],
    ["\\", String.raw`'\\'`],
    ["\u0000", String.raw`'\x00'`],
    ["Ã", "'Ã'"],
  ])("the character %j by %%q is %s", (value, text) => {
    expect(quoteSignLikeGo(value)).toBe(text);
  });

  it("names the types that Go decodes to", () => {
    const values = [null, [], {}, true, "", 1, 1.5];
    expect(values.map((value) => goTypeOf(value))).toEqual([
      "%!s(<nil>)",
      "[]interface {}",
      "map[string]interface {}",
      "bool",
      "string",
      "int64",
      "float64",
    ]);
  });

  it("cuts what nobody would read", () => {
    expect(formatLikeGo("x".repeat(5000))).toHaveLength(2003);
  });
});
