/**
 * Bodies that follow the description of their kind, with values of wrong types, unknown fields and odd text strewn in.
 * Whatever comes, normalizing does not throw, does not change its input, and its result is normal.
 */
import { createRandom, deepFreeze, type Random, unreachable } from "@lifeboat/base";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json, JsonObject } from "../json.ts";
import {
  builtinKinds,
  builtinType,
  type FieldType,
  type ScalarName,
  type TypeDescription,
} from "./description.ts";
import { createNormalizer } from "./normalize.ts";

const types = builtinKinds().map((kind) => {
  const slash = kind.lastIndexOf("/");
  const type = builtinType(kind.slice(0, Math.max(slash, 0)), kind.slice(slash + 1));
  if (type === undefined) throw new Error(kind);
  return { type, normalize: createNormalizer(type) };
});

it("normalizes any body or says what is wrong with it", { timeout: 120_000 }, () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = createRandom(seed);
      const { type, normalize } = pick(random, types);
      const body = deepFreeze(randomObject(random, type, 0, random.below(3) === 0 ? 0 : 0.01));
      const result = normalize(body);
      if (!result.ok) {
        expect(result.message).not.toBe("");
        return;
      }
      accepted += 1;
      const again = normalize(result.object);
      expect(again.ok && again.object).toBe(result.object);
      expect(again.ok && again.unknownFields).toEqual([]);
    }),
    { numRuns: 100_000 },
  );
  expect(accepted).toBeGreaterThan(50_000);
});

it("normalizes arbitrary JSON or says what is wrong with it", { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (body, index) => {
      const result = types.at(index % types.length)?.normalize(deepFreeze(body));
      expect(result?.ok).toBeTypeOf("boolean");
    }),
    { numRuns: 10_000 },
  );
});

function pick<T>(random: Random, list: readonly T[]): T {
  const item = list.at(random.below(list.length));
  if (item === undefined) throw new Error("there is nothing to pick from");
  return item;
}

function randomObject(
  random: Random,
  type: TypeDescription,
  depth: number,
  disorder: number,
): JsonObject {
  const object: Record<string, Json> = {};
  const many = Math.min(type.fields.length, depth > 6 ? 1 : 1 + random.below(6));
  for (let i = 0; i < many; i++) {
    const field = pick(random, type.fields);
    object[field.name] = randomValue(random, field.type, depth + 1, disorder);
  }
  if (random.next() < disorder) object[pick(random, ODD_KEYS)] = oddValue(random);
  return object;
}

function randomValue(random: Random, type: FieldType, depth: number, disorder: number): Json {
  if (random.next() < disorder) return oddValue(random);
  if (random.below(20) === 0) return null;
  switch (type.kind) {
    case "object":
      return randomObject(random, type.type, depth, disorder);
    case "list":
      return Array.from({ length: random.below(3) }, () =>
        randomValue(random, type.element, depth + 1, disorder),
      );
    case "map":
      return Object.fromEntries(
        Array.from({ length: random.below(3) }, () => [
          pick(random, ODD_KEYS),
          randomValue(random, type.element, depth + 1, disorder),
        ]),
      );
    case "scalar":
      return pick(random, GOOD_VALUES[type.scalar]);
    default:
      return unreachable(type);
  }
}

function oddValue(random: Random): Json {
  return pick(random, ODD_VALUES);
}

const ODD_KEYS = ["a", "b.c/d", "", "constructor", "toString", "1", "é", "kind"];

const ODD_VALUES: readonly Json[] = [
  null,
  true,
  "",
  "x",
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 60,
  1e300,
  [],
  [null],
  ["x"],
  [256],
  {},
  { a: null },
  "2026-02-30T00:00:00Z",
  "9999-12-31T23:59:59-23:00",
  "\ud800",
];

const GOOD_VALUES: Readonly<Record<ScalarName, readonly Json[]>> = {
  string: ["", "x", "é🙂"],
  bool: [true, false],
  int32: [0, 1, -1, 2 ** 31 - 1],
  int64: [0, 1, -1, Number.MAX_SAFE_INTEGER],
  float64: [0, 1.5, -1e300],
  bytes: ["", "YQ==", "Y\nQ==", "YR==", [], [1, null]],
  quantity: ["1", "1000m", "0.5Gi", " 5 ", 1, 0.5, "1e3", "0"],
  time: ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+02:00", "0001-01-01T00:00:00Z"],
  microTime: ["2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00,123456-05:30"],
  intOrString: [0, 80, "http", ""],
  rawExtension: [{}, { a: null }, [], "x", 5],
  fieldsV1: [{}, { "f:a": {} }],
  json: [null, 1, "x", { a: null }],
  schemaOrBool: [true, false, {}, { type: "x", nothing: 1 }],
  schemaOrArray: [{}, [], [{ type: "x" }], "x"],
  schemaOrStrings: [{}, [], ["x"], [null], 5],
};
