/** What must hold for every object of a built-in kind that can be read at all, however odd. Used by the property and fuzz tests. */
import { instantOf } from "@lifeboat/base";
import fc from "fast-check";
import { expect } from "vitest";
import core from "../../../fixtures/core.json" with { type: "json" };
import others from "../../../fixtures/others.json" with { type: "json" };
import pods from "../../../fixtures/pods.json" with { type: "json" };
import workloads from "../../../fixtures/workloads.json" with { type: "json" };
import type { Json, JsonObject } from "../../json.ts";
import type { AnyObject } from "../../object.ts";
import { builtinSchema } from "../schema.ts";
import { kindRules } from "./index.ts";

const NOW = instantOf(Date.parse("2026-06-01T00:00:00Z"));

const seeds: readonly JsonObject[] = [...pods, ...core, ...workloads, ...others].flatMap(
  (recorded) => {
    const { input, object } = recorded as { input?: JsonObject; object?: JsonObject };
    return [input, object].filter((seed) => seed !== undefined);
  },
);

const oddValues: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, "", 0, -1, [], {}, true, false, "a", "1", "-1", "1.5", "..", "/"),
  fc.constantFrom<Json>("x".repeat(300), "__proto__", "constructor", 2_147_483_648, [null], [{}]),
  fc.string({ maxLength: 20 }),
  fc.integer(),
);

/** A recorded object with a few values replaced by odd ones. */
const mutated: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.nat(seeds.length - 1),
    fc.array(fc.tuple(fc.nat(1000), oddValues), { minLength: 0, maxLength: 4 }),
  )
  .map(([index, changes]) => {
    let object: JsonObject = seeds[index] ?? {};
    for (const [place, value] of changes) object = replaceAt(object, place, value);
    return object;
  });

/** Replaces the n-th value below the top level, counting round and round. */
function replaceAt(object: JsonObject, place: number, value: Json): JsonObject {
  const total = countValues(object) - Object.keys(object).length;
  if (total <= 0) return object;
  let left = place % total;
  const visit = (node: Json, depth: number): Json => {
    if (Array.isArray(node)) return node.map((item) => step(item, depth));
    if (typeof node !== "object" || node === null) return node;
    return Object.fromEntries(
      Object.entries(node as JsonObject).map(([key, item]) => [key, step(item as Json, depth)]),
    );
  };
  const step = (node: Json, depth: number): Json => {
    if (depth > 0) {
      left -= 1;
      if (left === -1) return value;
    }
    return visit(node, depth + 1);
  };
  return visit(object, 0) as JsonObject;
}

function countValues(node: Json | undefined): number {
  if (typeof node !== "object" || node === null) return 0;
  const children = Array.isArray(node) ? node : Object.values(node as JsonObject);
  return children.reduce<number>((sum, child) => sum + 1 + countValues(child as Json), 0);
}

/** Runs every rule of the kind over many odd objects. */
export function checkRules(runs: number): void {
  fc.assert(
    fc.property(mutated, (body) => {
      const { apiVersion, kind } = body as { apiVersion: string; kind: string };
      const schema = builtinSchema(apiVersion, kind);
      const read = schema?.normalize(body);
      if (schema === undefined || read?.ok !== true) return;
      const before = JSON.stringify(read.object);
      const once = schema.applyDefaults(read.object);
      expect(JSON.stringify(read.object)).toBe(before);
      expect(schema.applyDefaults(once)).toBe(once);
      const object = once as unknown as AnyObject;
      const again = schema.normalize(once);
      expect(again.ok).toBe(true);
      for (const error of schema.validateUpdate(object, object)) {
        expect(error.message).toMatch(/^[A-Z][a-z]+( [a-z]+)*/);
      }
      const rules = kindRules[`${apiVersion}/${kind}`] ?? {};
      const cells = rules.printer?.cells(object, NOW);
      expect(cells?.length).toBe(rules.printer?.columns.length);
      for (const select of Object.values(rules.selectableFields ?? {})) {
        expect(typeof select(object)).toBe("string");
      }
    }),
    { numRuns: runs },
  );
}
