import { describe, expect, it } from "vitest";
import recorded from "../fixtures/protobuf.json" with { type: "json" };
import type { JsonObject } from "../../json.ts";
import { builtinSchema } from "../schema.ts";
import { decodeProtobuf } from "./decode.ts";
import { TooLargeError } from "../../decode/json.ts";
import { ProtobufError } from "./reader.ts";

/** Objects in both forms, written by Kubernetes' own Go code; see tools/generate-builtins. */
interface Sample {
  readonly name: string;
  readonly protobuf: string;
  readonly object: JsonObject;
}

const samples = recorded as unknown as readonly Sample[];

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** `k8s\0`, an envelope with kind and version, and the given bytes as its object. */
function body(apiVersion: string, kind: string, ...raw: readonly number[]): Uint8Array {
  const text = (tag: number, value: string) => [
    tag * 8 + 2,
    value.length,
    ...new TextEncoder().encode(value),
  ];
  const typeMeta = [...text(1, apiVersion), ...text(2, kind)];
  return Uint8Array.from([
    0x6b,
    0x38,
    0x73,
    0,
    0x0a,
    typeMeta.length,
    ...typeMeta,
    0x12,
    raw.length,
    ...raw,
  ]);
}

describe("decodeProtobuf", () => {
  it.each(samples)("reads $name as Go wrote it", ({ protobuf, object }) => {
    const decoded = decodeProtobuf(bytesOf(protobuf));
    const schema = builtinSchema(decoded.apiVersion, decoded.kind);
    expect(schema?.normalize(decoded.object)).toEqual({ ok: true, object, unknownFields: [] });
  });

  it("takes version and kind from what is expected when the envelope has none", () => {
    const bytes = Uint8Array.from([0x6b, 0x38, 0x73, 0, 0x12, 0]);
    expect(decodeProtobuf(bytes, { apiVersion: "v1", kind: "ConfigMap" })).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      object: { kind: "ConfigMap", apiVersion: "v1" },
    });
  });

  it("reads DeleteOptions under any version", () => {
    const decoded = decodeProtobuf(body("coordination.k8s.io/v1", "DeleteOptions", 0x08, 0x00));
    expect(decoded.object).toMatchObject({ gracePeriodSeconds: 0 });
  });

  it("joins a message that comes in pieces, and keeps the last of a value that comes twice", () => {
    const name = (char: number) => [0x0a, 3, 0x0a, 1, char];
    const namespace = [0x0a, 3, 0x1a, 1, 0x6e];
    const decoded = decodeProtobuf(
      body("v1", "ConfigMap", ...name(0x61), ...namespace, ...name(0x62)),
    );
    expect(decoded.object["metadata"]).toEqual({ name: "b", namespace: "n" });
  });

  it("passes over fields it does not know", () => {
    const unknown = [0xf8, 0x7f, 1, 0xf9, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0xfa, 0x7f, 1, 9];
    const fixed32 = [0xfd, 0x7f, 0, 0, 0, 0];
    expect(decodeProtobuf(body("v1", "ConfigMap", ...unknown, ...fixed32)).object).toEqual({
      kind: "ConfigMap",
      apiVersion: "v1",
    });
  });

  const generation = (...varint: readonly number[]) =>
    body("v1", "ConfigMap", 0x0a, varint.length + 1, 0x38, ...varint);

  it.each([
    { name: "zero", bytes: [0], want: 0 },
    { name: "150", bytes: [0x96, 1], want: 150 },
    {
      name: "-1",
      bytes: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
      want: -1,
    },
    {
      name: "2^53 - 1",
      bytes: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f],
      want: Number.MAX_SAFE_INTEGER,
    },
  ])("reads the number $name", ({ bytes, want }) => {
    const { metadata } = decodeProtobuf(generation(...bytes)).object as { metadata: JsonObject };
    expect(metadata["generation"]).toBe(want);
  });

  it.each([
    { name: "an empty body", bytes: new Uint8Array() },
    { name: "JSON", bytes: new TextEncoder().encode("{}") },
    { name: "a kind that does not exist", bytes: body("v1", "Nothing") },
    { name: "a body that ends in a number", bytes: generation(0x80) },
    {
      name: "a number beyond 2^53",
      bytes: generation(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10),
    },
    {
      name: "a number of eleven bytes",
      bytes: generation(...Array.from({ length: 10 }, () => 0x80), 1),
    },
    { name: "a length beyond the end", bytes: body("v1", "ConfigMap", 0x0a, 0x7f) },
    {
      name: "a length beyond the enclosing message",
      bytes: body("v1", "ConfigMap", 0x0a, 2, 0x0a, 5, 1, 2, 3, 4, 5),
    },
    { name: "a number where a message belongs", bytes: body("v1", "ConfigMap", 0x08, 1) },
    { name: "field number zero", bytes: body("v1", "ConfigMap", 0x02, 0) },
    { name: "a group", bytes: body("v1", "ConfigMap", 0xfb, 0x7f) },
    { name: "text that is not UTF-8", bytes: body("v1", "ConfigMap", 0x0a, 3, 0x0a, 1, 0xff) },
    {
      name: "the map key __proto__",
      bytes: body("v1", "ConfigMap", 0x12, 11, 0x0a, 9, ...new TextEncoder().encode("__proto__")),
    },
    { name: "a content encoding", bytes: Uint8Array.from([0x6b, 0x38, 0x73, 0, 0x1a, 1, 0x67]) },
  ])("refuses $name", ({ bytes }) => {
    expect(() => decodeProtobuf(bytes)).toThrow(ProtobufError);
  });

  it("refuses a schema that nests without end", () => {
    let schema: number[] = [];
    // JSONSchemaProps.not is field 28.
    for (let i = 0; i < 1000; i++) schema = [0xe2, 0x01, ...varint(schema.length), ...schema];
    const wrap = (key: number, inner: readonly number[]) => [
      key,
      ...varint(inner.length),
      ...inner,
    ];
    // CRD.spec (2) . versions (7) . schema (4) . openAPIV3Schema (1)
    const raw = wrap(0x12, wrap(0x3a, wrap(0x22, wrap(0x0a, schema))));
    const head = body("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    const bytes = Uint8Array.from([...head.subarray(0, -2), 0x12, ...varint(raw.length), ...raw]);
    expect(() => decodeProtobuf(bytes)).toThrow("exceeded max depth");
  });
});

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

describe("bodies that hold too much", () => {
  /** A field of the given number that holds bytes. */
  const field = (tag: number, content: Uint8Array): Uint8Array => {
    const length: number[] = [];
    for (let rest = content.length; ; rest = Math.floor(rest / 128)) {
      length.push(rest < 128 ? rest : (rest % 128) + 128);
      if (rest < 128) break;
    }
    return Uint8Array.from([tag * 8 + 2, ...length, ...content]);
  };
  const repeated = (count: number, ...bytes: readonly number[]): Uint8Array => {
    const all = new Uint8Array(count * bytes.length);
    for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
    return all;
  };
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const envelope = (kind: string, apiVersion: string, raw: Uint8Array): Uint8Array => {
    const type = Uint8Array.from([...field(1, text(apiVersion)), ...field(2, text(kind))]);
    return Uint8Array.from([0x6b, 0x38, 0x73, 0, ...field(1, type), ...field(2, raw)]);
  };
  const json = field(8, field(1, text(`[${"1,".repeat(60_000)}1]`)));

  it.each([
    ["unknown fields", envelope("ConfigMap", "v1", repeated(150_000, 0x78, 1))],
    ["empty messages", envelope("ConfigMap", "v1", repeated(150_000, 0x0a, 0))],
    [
      "numbers that are packed",
      envelope("Pod", "v1", field(2, field(14, field(4, repeated(150_000, 1))))),
    ],
    [
      "JSON inside",
      envelope(
        "CustomResourceDefinition",
        "apiextensions.k8s.io/v1",
        field(2, field(7, field(4, field(1, json)))),
      ),
    ],
  ])("%s", (_, bytes) => {
    expect(() => decodeProtobuf(bytes)).toThrow(TooLargeError);
  });
});
