import { describe, expect, it } from "vitest";
import recorded from "./fixtures/normalize.json" with { type: "json" };
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { builtinType } from "./description.ts";
import { createNormalizer } from "./normalize.ts";

/** Answers of Kubernetes' own Go code; see tools/generate-builtins. */
interface Sample {
  readonly name: string;
  readonly body: JsonObject;
  readonly object?: JsonObject;
  readonly unknownFields?: readonly string[];
  readonly message?: string;
}

const samples = recorded as unknown as readonly Sample[];

function normalize(body: JsonObject) {
  const { apiVersion, kind } = body as { readonly apiVersion: string; readonly kind: string };
  const type = builtinType(apiVersion, kind);
  if (type === undefined) throw new Error(`no type for ${JSON.stringify(body)}`);
  return createNormalizer(type)(body);
}

describe("normalize", () => {
  it.each(samples)("does what Go does to $name", ({ body, object, unknownFields, message }) => {
    const result = normalize(body);
    expect(result).toEqual(
      message === undefined
        ? { ok: true, object, unknownFields: unknownFields ?? [] }
        : { ok: false, message },
    );
  });

  it.each(samples.filter((sample) => sample.object !== undefined))(
    "writes the fields in the order Go writes them for $name",
    ({ body, object }) => {
      const result = normalize(body);
      expect(JSON.stringify(result.ok && withSortedMaps(result.object))).toBe(
        JSON.stringify(withSortedMaps(object ?? {})),
      );
    },
  );

  it("gives a body that is normal back as it is", () => {
    for (const { object } of samples) {
      if (object === undefined) continue;
      const result = normalize(object);
      expect(result.ok && result.object).toBe(object);
    }
  });

  it("shares the parts that need no change", () => {
    const spec = { template: { metadata: {}, spec: { containers: null } } };
    const metadata = { name: "x" };
    const result = normalize({ apiVersion: "v1", kind: "PodTemplate", metadata, extra: spec });
    expect(result.ok && result.object["metadata"]).toBe(metadata);
  });

  it("keeps keys of maps that objects inherit, and `__proto__`", () => {
    const body = JSON.parse(
      '{"apiVersion":"v1","kind":"ConfigMap","data":{"__proto__":"p","constructor":null,"z":"z"}}',
    ) as JsonObject;
    const result = normalize(body);
    const data = (result.ok ? result.object["data"] : undefined) as JsonObject;
    expect(Object.entries(data)).toEqual([
      ["__proto__", "p"],
      ["constructor", ""],
      ["z", "z"],
    ]);
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
  });

  it("reports a field that objects inherit as unknown", () => {
    const body = JSON.parse(
      '{"apiVersion":"v1","kind":"ConfigMap","constructor":1,"__proto__":{"data":{}}}',
    ) as JsonObject;
    expect(normalize(body)).toEqual({
      ok: true,
      object: { apiVersion: "v1", kind: "ConfigMap", metadata: {} },
      unknownFields: ["constructor", "__proto__"],
    });
  });

  it("reports no more than a hundred unknown fields", () => {
    const body: Record<string, Json> = { apiVersion: "v1", kind: "ConfigMap" };
    for (let i = 0; i < 200; i++) body[`x${i}`] = i;
    const result = normalize(body);
    expect(result.ok && result.unknownFields.length).toBe(100);
  });

  it("refuses a schema that nests without end", () => {
    let schema: JsonObject = { type: "object" };
    for (let i = 0; i < 20_000; i++) schema = { items: schema };
    const result = normalize({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      spec: { versions: [{ schema: { openAPIV3Schema: schema } }] },
    });
    expect(result).toEqual({ ok: false, message: "exceeded max depth" });
  });
});

/** Go writes maps sorted; the order of map keys means nothing. Integer-like keys come first in JavaScript anyway. */
function withSortedMaps(value: Json | undefined, key = ""): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withSortedMaps(item));
  if (!isJsonObject(value)) return value ?? null;
  const isMap = MAPS.has(key);
  const keys = isMap ? Object.keys(value).toSorted() : Object.keys(value);
  return Object.fromEntries(keys.map((name) => [name, withSortedMaps(value[name], name)]));
}

const MAPS = new Set([
  "data",
  "binaryData",
  "labels",
  "limits",
  "requests",
  "extra",
  "properties",
  "dependencies",
]);
