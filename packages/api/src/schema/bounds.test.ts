/** Hostile and huge input: what is refused, what is cut, and that the work stays in proportion. */
import { describe, expect, it } from "vitest";
import type { Json } from "../json.ts";
import { compileSchema } from "./compile-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { compilePattern } from "./pattern.ts";
import { validateSchema } from "./schema-rules.ts";
import { MAX_ERRORS } from "../field-error.ts";

function nested(depth: number): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let i = 0; i < depth; i++) schema = { type: "object", properties: { a: schema } };
  return schema;
}

describe("schemas", () => {
  it("may be nested deep, but not without end", () => {
    expect(validateSchema(nested(100), "schema", false)).toEqual([]);
    expect(validateSchema(nested(500), "schema", false)).toEqual([
      {
        reason: "FieldValueForbidden",
        field: "schema",
        message: "Forbidden: must not be nested deeper than 128 levels",
      },
    ]);
  });

  it("that are nested too deep keep what lies below, unchecked", () => {
    let value: Json = { x: 1 };
    for (let i = 0; i < 5000; i++) value = { a: value };
    const compiled = compileSchema(nested(5000));
    expect(compiled.validate(value)).toEqual([]);
    expect(compiled.prune(value, false).unknownFields).toEqual([]);
  });

  it("cannot hold a pattern that takes for ever", () => {
    const compiled = compileSchema({ type: "string", pattern: "^(a+)+$" });
    expect(compiled.validate(`${"a".repeat(50_000)}!`)).toHaveLength(1);
    expect(compilePattern("a".repeat(20_000)).ok).toBe(false);
  });
});

describe("objects", () => {
  it("with very many errors are answered with the first hundred", () => {
    const compiled = compileSchema({ type: "array", items: { type: "string" } });
    const errors = compiled.validate(Array.from({ length: 100_000 }, (_, i) => i));
    expect(errors).toHaveLength(MAX_ERRORS);
    expect(errors[0]?.field).toBe("[0]");
  });

  it("are judged by alternatives also when there are too many errors to report", () => {
    const compiled = compileSchema({
      type: "array",
      items: {
        "x-kubernetes-preserve-unknown-fields": true,
        anyOf: [{ maxLength: 1 }, { minLength: 9 }],
      },
    });
    const good = Array.from({ length: 500 }, () => "a");
    const bad = Array.from({ length: 500 }, () => "abc");
    expect(compiled.validate([...bad, ...good])).toHaveLength(MAX_ERRORS);
    expect(compiled.validate(good)).toEqual([]);
  });

  it("with long lists that are sets are checked in one pass", () => {
    const compiled = compileSchema({
      type: "array",
      items: { type: "object", properties: { a: { type: "integer" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
    });
    const list = Array.from({ length: 50_000 }, (_, a) => ({ a }));
    expect(compiled.validateListTypes(list)).toEqual([]);
    expect(compiled.validateListTypes([...list, { a: 3 }])).toHaveLength(1);
  });

  it("with very many unknown fields, below keys of any length, are told of a hundred", () => {
    const compiled = compileSchema({
      type: "object",
      additionalProperties: { type: "object", properties: {} },
    });
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 1]));
    const { unknownFields, value } = compiled.prune({ ["x".repeat(100_000)]: fields }, false);
    expect(value).toEqual({ ["x".repeat(100_000)]: {} });
    expect(unknownFields).toHaveLength(100);
    expect(unknownFields[0]).toBe(`${"x".repeat(512)}....k0`);
  });

  it("that are none of very many choices are told of a hundred", () => {
    const compiled = compileSchema({
      type: "string",
      enum: Array.from({ length: 5000 }, (_, i) => `choice-${i}`),
    });
    const [error] = compiled.validate("none");
    expect(error?.message).toMatch(/^Unsupported value: "none": supported values: "choice-0", /);
    expect(error?.message).toMatch(/"choice-99", \.\.\.$/);
    expect(compiled.validate("choice-4999")).toEqual([]);
  });

  it("may have fields named like those of every JavaScript object", () => {
    const compiled = compileSchema({
      type: "object",
      properties: { known: { type: "string" } },
      required: ["constructor", "toString"],
    });
    const value = JSON.parse('{"constructor":1,"__proto__":{"known":1},"known":"x"}') as Json;
    const pruned = compiled.prune(value, false);
    expect(pruned.unknownFields).toEqual(["__proto__", "constructor"]);
    expect(Object.keys(pruned.value as object)).toEqual(["known"]);
    expect(compiled.validate(pruned.value).map(({ field }) => field)).toEqual([
      "constructor",
      "toString",
    ]);
  });

  it("keep a field named __proto__ as a field where anything may stand", () => {
    const compiled = compileSchema({
      type: "object",
      additionalProperties: { type: "object", properties: { a: { type: "string", default: "d" } } },
    });
    const filled = compiled.fillDefaults(JSON.parse('{"__proto__":{}}') as Json);
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"a":"d"}}');
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
  });
});
