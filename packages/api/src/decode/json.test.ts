import { describe, expect, test } from "vitest";
import { DecodeError, decodeJson, TooLargeError, unreadableBody } from "./json.ts";
import { MAX_VALUES } from "./limits.ts";

function problemOf(body: string | Uint8Array): string {
  try {
    decodeJson(body);
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
  throw new Error("the body was accepted");
}

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

test("a body in bytes and the same body as text give the same value", () => {
  const text = '{"kind":"ConfigMap","data":{"é":"ü😀"},"list":[1,-2.5,true,null]}';
  const decoded = decodeJson(new TextEncoder().encode(text));
  expect(decoded).toEqual(decodeJson(text));
  expect(decoded.value).toEqual(JSON.parse(text));
});

test.each([
  ['{"a":1,"a":2}', ["a"]],
  ['{"spec":{"replicas":1,"replicas":2}}', ["spec.replicas"]],
  ['{"spec":{"containers":[{"name":"a","name":"b"}]}}', ["spec.containers[0].name"]],
  [String.raw`{"a":1,"\u0061":2}`, ["a"]],
  ['{"a":1,"a":2,"a":3}', ["a"]],
  ['{"a":{"b":1,"b":2},"a":{}}', ["a.b", "a"]],
  ['{"":{"a":1,"a":2}}', [".a"]],
  ['{"a" : ":" , "b" : "\\"x\\":1"}', []],
  ['{"a":"\\\\","b":"\\\\\\""}', []],
])("duplicate keys of %s are named", (text, expected) => {
  expect(decodeJson(text).duplicateFields).toEqual(expected);
});

test("the last of several equal keys wins", () => {
  expect(decodeJson('{"a":1,"a":2}').value).toEqual({ a: 2 });
});

test("no more than a hundred duplicates are named", () => {
  const text = `{${Array.from({ length: 300 }, (_, i) => `"k${i}":1,"k${i}":2`).join(",")}}`;
  expect(decodeJson(text).duplicateFields).toHaveLength(100);
});

describe("what is refused, and with which words", () => {
  test.each([
    ["{bad", "invalid character 'b' looking for beginning of object key string"],
    ["", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ['{"a"}', "invalid character '}' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ["{} x", "invalid character 'x' after top-level value"],
    ["01", "invalid character '1' after top-level value"],
    ["-", "invalid character ' ' in numeric literal"],
    ["1.", "invalid character ' ' after decimal point in numeric literal"],
    ["1e+", "invalid character ' ' in exponent of numeric literal"],
    ["trie", "invalid character 'i' in literal true (expecting 'u')"],
    ['"\n"', String.raw`invalid character '\n' in string literal`],
    [String.raw`"\x"`, "invalid character 'x' in string escape code"],
    [String.raw`"\u00g0"`, String.raw`invalid character 'g' in \u hexadecimal character escape`],
    ["\ufeff{}", "invalid character 'ï' looking for beginning of value"],
    ["'a'", String.raw`invalid character '\'' looking for beginning of value`],
    ["\u0000", String.raw`invalid character '\x00' looking for beginning of value`],
  ])("syntax: %j", (text, message) => {
    expect(problemOf(text)).toBe(message);
  });

  test.each([
    ['{"a":9007199254740992}', "integer 9007199254740992 at a is beyond the supported range"],
    ['{"a":[-9007199254740993]}', "integer -9007199254740993 at a[0] is beyond"],
    ['{"a":1e999}', "number 1e999 at a is out of range"],
    [`{"a":${"9".repeat(400)}}`, "is out of range"],
  ])("numbers that would come out changed: %s", (text, message) => {
    expect(problemOf(text)).toContain(message);
  });

  test.each(["9007199254740991", "-9007199254740991", "1e20", "9007199254740993.0", "1.5e300"])(
    "the number %s is accepted",
    (text) => {
      expect(decodeJson(text).value).toBe(Number(text));
    },
  );

  test("a list nested 256 deep is accepted, one level more is not", () => {
    expect(decodeJson(nested(256)).duplicateFields).toEqual([]);
    expect(problemOf(nested(257))).toBe("exceeded max depth");
    expect(problemOf(nested(1_000_000))).toBe("exceeded max depth");
    expect(problemOf("[".repeat(1_000_000))).toBe("exceeded max depth");
  });

  test.each([
    ["numbers", (count: number) => `[${"1,".repeat(count - 1)}1]`],
    ["objects", (count: number) => `[${"{},".repeat(count / 2 - 1)}{}]`],
    ["keys", (count: number) => `{${'"a":1,'.repeat(count - 1)}"a":1}`],
  ])("more %s than are read", (_, text) => {
    expect(decodeJson(text(MAX_VALUES)).value).toBeTypeOf("object");
    expect(problemOf(text(MAX_VALUES + 2))).toBe("the document holds more than 50000 values");
    expect(() => decodeJson(text(MAX_VALUES + 2))).toThrow(TooLargeError);
  });

  test("signs inside of texts count for nothing", () => {
    const text = JSON.stringify({ a: '[{,"\\'.repeat(MAX_VALUES) });
    expect(decodeJson(text).value).toEqual(JSON.parse(text));
  });

  test("a text that ends inside of a string, whatever it holds", () => {
    expect(problemOf(`{"a":"${"[".repeat(300)}`)).toBe("unexpected end of JSON input");
  });

  test("many wrong fields below long keys: a hundred, with the beginning of each key", () => {
    const key = "x".repeat(10_000);
    const fields = Array.from({ length: 200 }, (_, i) => `"k${i}":1,"k${i}":2`).join(",");
    const { duplicateFields } = decodeJson(`{"${key}":{${fields}}}`);
    expect(duplicateFields).toHaveLength(100);
    expect(duplicateFields[0]).toBe(`${"x".repeat(512)}....k0`);
  });

  test.each(['{"__proto__":{}}', String.raw`{"a":[{"\u005f_proto__":1}]}`])(
    "a prototype key: %s",
    (text) => {
      expect(problemOf(text)).toBe('key "__proto__" is not allowed');
    },
  );

  test("bytes that are no UTF-8", () => {
    expect(problemOf(Uint8Array.of(0x22, 0xff, 0x22))).toBe("invalid UTF-8 in the body");
  });
});

test("harmless keys with inherited names are ordinary keys", () => {
  const { value } = decodeJson('{"constructor":1,"toString":2,"hasOwnProperty":3}');
  expect(Object.keys(value as object)).toEqual(["constructor", "toString", "hasOwnProperty"]);
});

test.each([
  ["{bad", "{bad"],
  [`{"a":"${"x".repeat(60)}"`, `{"a":"${"x".repeat(24)} ...`],
  ["", "<empty>"],
  ["nope", "6e6f7065"],
])("the refusal quotes the beginning of %j", (body, quoted) => {
  expect(unreadableBody("ConfigMap", "why", body).status).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: why (${quoted})`,
    reason: "BadRequest",
    code: 400,
  });
});
